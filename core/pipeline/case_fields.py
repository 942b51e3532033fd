"""The fields of a line of a case file, each read as the outside contract names it."""

from __future__ import annotations

from prompt_debugger.core.base.assets import place_of
from prompt_debugger.core.base.errors import RequestError, shorten
from prompt_debugger.core.base.protocols import ReadContext, Tokenizer
from prompt_debugger.core.base.types import (
    ChatResult,
    Completion,
    JSONObject,
    Parse,
    Request,
    Server,
    TokenTable,
    Trace,
)
from prompt_debugger.core.complete import ENGINES, families_of_parser
from prompt_debugger.core.parse.engines import RawOutput
from prompt_debugger.core.pipeline.cases import take_field
from prompt_debugger.core.pipeline.census import PROMPT_TAIL_CHARS
from prompt_debugger.core.pipeline.parsers import called_names
from prompt_debugger.core.request.other_bodies import convert_body


def raw_of(case: JSONObject) -> str:
    """Return the raw output of a case.

    Raises:
        RequestError: It has none.
    """
    raw = take_field(case, "raw", str, None)
    if raw is None:
        raise RequestError("The case has no `raw`.", "Put the model's raw output there.", field="raw")
    return raw


def body_of(case: JSONObject) -> JSONObject:
    """Return the request of a case as a chat completion body; an empty one if it has none."""
    body = take_field(case, "request", dict, None) or {}
    converted = convert_body(body)
    return body if converted is None else converted.body


def server_of(case: JSONObject, *, given: bool) -> Server | None:
    """Return what the parsers of a case show of the server; with a message that was given, one parser alone does."""
    names = [name for name in parser_names_of(case) if not name.endswith(":*")]
    if not names or (given and len(names) > 1):
        return None
    kind, _, pair = names[0].partition(":")
    kind, _, version = kind.partition("@")
    tool, _, reasoning = pair.partition("+")
    if kind not in ENGINES or not pair:
        return None
    tool_parser = None if tool in ("", "-") else tool
    return Server(
        "",
        kind,
        version or None,
        tool_parser=tool_parser,
        reasoning_parser=reasoning or None,
        parser_families=families_of_parser(kind, tool_parser),
    )


def output_of(case: JSONObject, parse: Parse, token_ids: tuple[int, ...] | None, source: str | None) -> RawOutput:
    """Return what parsers are asked about: the raw output, and what of its request they look at."""
    return RawOutput(
        parse.raw,
        request=body_of(case) or None,
        tools=tools_of(case) if "tools" in case or "request" in case else None,
        token_ids=token_ids,
        prompt_text=take_field(case, "prompt_tail", str, None),
        tokenizer=None if source is None else place_of(source),
        finish_reason=take_field(case, "finish_reason", str, None),
        called=called_names(parse),
    )


def parser_names_of(case: JSONObject) -> list[str]:
    """Return the parsers that a case names, in its order."""
    return [name for name in take_field(case, "parsers", list, None) or [] if isinstance(name, str)]


def token_ids_of(case: JSONObject) -> tuple[int, ...] | None:
    """Return the ids that the model wrote; `None` where the case has none.

    Raises:
        RequestError: They are not integers.
    """
    value = case.get("token_ids")
    if value is None:
        return None
    if not isinstance(value, list) or not all(type(item) is int for item in value):
        raise RequestError(f"`token_ids` is {shorten(value)}, expected a list of integers.", field="token_ids")
    return tuple(item for item in value if isinstance(item, int))


def tokens_of(raw: str, token_ids: tuple[int, ...] | None, tokenizer: Tokenizer | None) -> TokenTable | None:
    """Return the token table of `raw`; the given ids count only if they spell it."""
    if tokenizer is None:
        return None
    if token_ids is not None:
        text, tokens = tokenizer.tokens_of_ids(token_ids)
        if text == raw:
            return tokens
    return tokenizer.tokens_of_text(raw)


def context_of(case: JSONObject, tokenizer: Tokenizer | None) -> ReadContext:
    """Return what the census knows of a case apart from its raw output."""
    special = frozenset[str]() if tokenizer is None else frozenset(tokenizer.vocabulary.special.values())
    return ReadContext(
        tools=tools_of(case),
        prompt_tail=(take_field(case, "prompt_tail", str, "") or "")[-PROMPT_TAIL_CHARS:],
        finish_reason=take_field(case, "finish_reason", str, None),
        special_texts=special,
    )


def tools_of(case: JSONObject) -> tuple[JSONObject, ...]:
    """Return the tools of a case, else those of its request."""
    tools = take_field(case, "tools", list, None)
    if tools is None and "request" in case:
        tools = take_field(body_of(case), "tools", list, None)
    return tuple(tool for tool in tools or [] if isinstance(tool, dict))


def trace_of(
    case: JSONObject,
    request: Request,
    parse: Parse,
    token_ids: tuple[int, ...] | None,
    message: JSONObject | None,
    tokenizer: Tokenizer | None,
) -> Trace:
    """Return what rules may see of a case: only as much of the prompt as was given."""
    finish_reason = take_field(case, "finish_reason", str, None)
    return Trace(
        request=request,
        vocabulary=None if tokenizer is None else tokenizer.vocabulary,
        raw=Completion(parse.raw, token_ids, finish_reason),
        chat=None if message is None else ChatResult(message, finish_reason),
        parse=parse,
        prompt_tail=take_field(case, "prompt_tail", str, None) or "",
    )
