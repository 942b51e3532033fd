"""The parsers of the server under test, run on a given output: vLLM's derenderer, SGLang's parser endpoints.

derender                 the parsers that a vLLM server was started with, on token ids
sglang:TOOL              a tool parser of an SGLang server, on text
sglang:TOOL+REASONING    its reasoning parser first, then the tool parser on the rest, as its chat does
sglang:-+REASONING       the reasoning parser alone
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from prompt_debugger.core.complete import ServerClient
from prompt_debugger.core.errors import BackendError, EngineError, shorten
from prompt_debugger.core.parse.engines import RawOutput
from prompt_debugger.core.types import JSON, JSONObject, Parse, ParserOutcome, SegmentKind, Server, ServerOutcome

DERENDER = "derender"
_SGLANG = "sglang:"


class SglangName(NamedTuple):
    """A tool parser and a reasoning parser of SGLang, `None` for none."""

    tool: str | None
    reasoning: str | None


def is_server_parser(name: str) -> bool:
    """Say whether a name means a parser that a server runs."""
    return name == DERENDER or name.startswith(_SGLANG)


def read_sglang_name(name: str) -> SglangName:
    """Return the parsers that a name stands for.

    >>> read_sglang_name("sglang:qwen25+deepseek-r1")
    SglangName(tool='qwen25', reasoning='deepseek-r1')

    Raises:
        EngineError: It is no such name.
    """
    tool, plus, reasoning = name.removeprefix(_SGLANG).partition("+")
    found = SglangName(None if tool == "-" else tool, reasoning if plus else None)
    if not name.startswith(_SGLANG) or not tool or (plus and not reasoning) or found == (None, None):
        raise EngineError(
            f"{shorten(name)} names no parser of a server.",
            "Write `derender`, `sglang:TOOL`, `sglang:TOOL+REASONING` or `sglang:-+REASONING`.",
        )
    return found


def server_parsers_of(server: Server) -> tuple[str, ...]:
    """Return the names of the parsers that a server offers to run, as far as it says."""
    if server.kind == "vllm":
        return (DERENDER,) if "derender" in server.features else ()
    if server.kind != "sglang":
        return ()
    tool = server.tool_parser if "parse_function_call" in server.features else None
    reasoning = server.reasoning_parser if "separate_reasoning" in server.features else None
    if tool is None and reasoning is None:
        return ()
    return (f"{_SGLANG}{tool or '-'}" + (f"+{reasoning}" if reasoning else ""),)


async def ask_server_parsers(
    client: ServerClient, names: Sequence[str], output: RawOutput, *, text: str | None = None
) -> dict[str, ParserOutcome]:
    """Run parsers of a server on an output; one that fails has an `error` in its outcome.

    Args:
        client: The server.
        names: As `is_server_parser` knows them.
        output: The output; `derender` needs its ids.
        text: The output as SGLang hands it to its parsers: without the end token. By default all of it.

    Raises:
        EngineError: A name is none.
    """
    read = {name: None if name == DERENDER else read_sglang_name(name) for name in names}
    outcomes: dict[str, ParserOutcome] = {}
    for name, pair in read.items():
        try:
            found = await (_derender(client, output) if pair is None else _sglang(client, pair, output, text))
        except BackendError as error:
            found = ServerOutcome(None, None, (), error=_told(name, error))
        outcomes[name] = replace(found, base_url=client.base_url)
    return outcomes


def text_without_end(parse: Parse) -> str:
    """Return a raw output up to its end token, as SGLang hands it to its parsers."""
    segments = parse.parsed.segments
    is_ended = bool(segments) and segments[-1].kind is SegmentKind.END
    return parse.raw[: segments[-1].char_span.start] if is_ended else parse.raw


async def _derender(client: ServerClient, output: RawOutput) -> ServerOutcome:
    """Have vLLM's server parse the ids; its call ids are random there, and its finish reason is the one given."""
    if output.token_ids is None:
        return ServerOutcome(None, None, (), error="reads token ids, and the ids of this output are not known")
    choice: JSONObject = {
        "index": 0,
        "token_ids": list(output.token_ids),
        "finish_reason": output.finish_reason or "stop",
    }
    request = dict(output.request or {"messages": []})
    if output.tools is not None:
        request["tools"] = list(output.tools)
    if not request.get("tools"):
        request.pop("tools", None)  # an empty list is refused
    request.setdefault("messages", [])
    for key in ("stream", "stream_options"):
        request.pop(key, None)
    model = client.server.model if client.server is not None else request.get("model")
    body: JSONObject = {
        "model": model,
        "generate_response": {"request_id": "prompt-debugger", "choices": [choice]},
        "chat_request": {**request, "model": model},
    }
    if output.prompt_token_ids is not None:
        body["prompt_token_ids"] = list(output.prompt_token_ids)
    answer = await client.derender(body)
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = first.get("message")
    if not isinstance(message, dict):
        return ServerOutcome(None, None, (), error=f"answered without a message: {shorten(answer)}")
    calls = message.get("tool_calls")
    return ServerOutcome(
        reasoning=_text(message.get("reasoning")) or _text(message.get("reasoning_content")),
        content=_text(message.get("content")),
        tool_calls=tuple(call for call in calls if isinstance(call, dict)) if isinstance(calls, list) else (),
    )


async def _sglang(client: ServerClient, pair: SglangName, output: RawOutput, text: str | None) -> ServerOutcome:
    """Separate reasoning first, then parse calls, as SGLang's chat does; without tools it parses none."""
    rest = output.raw if text is None else text
    reasoning: str | None = None
    if pair.reasoning is not None:
        reasoning, rest = await client.separate_reasoning(rest, pair.reasoning)
    tools = _tools(output)
    calls: tuple[JSONObject, ...] = ()
    if pair.tool is not None and tools:
        rest, calls = await client.parse_function_calls(rest, pair.tool, tools)
    return ServerOutcome(reasoning, rest or None, calls)


def _tools(output: RawOutput) -> tuple[JSONObject, ...]:
    if output.tools is not None:
        return output.tools
    declared = (output.request or {}).get("tools")
    return tuple(tool for tool in declared if isinstance(tool, dict)) if isinstance(declared, list) else ()


def _told(name: str, error: BackendError) -> str:
    if error.status in (403, 404, 405, 501):
        where = "--enable-scale-out" if name == DERENDER else "an SGLang server"
        return f"the server does not offer this (HTTP {error.status}); it needs {where}"
    return error.message


def _text(value: JSON) -> str | None:
    return value if isinstance(value, str) else None
