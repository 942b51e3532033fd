"""Compact case descriptions → traces.

A case is a mapping; everything in it is optional. Messages may spell their tool
calls as `calls: [[name, arguments, id], …]`.

    request             fields laid over a one-message request
    sent                the body that went out, where it differs from `request`
    plain               body of plain completions, without messages, in place of `request`
    tools               names of standard tools, put into the request
    notices             [{field, message}] of the request
    special             texts of the special tokens; default: Kimi K2's
    bos, eos, adds_bos  texts and flag of the vocabulary; `vocabulary: none` leaves it out
    prompt              the server's prompt as text
    local_prompt        our render as text
    template, unread, generation_prompt, difference
    traced              [[text, kind, field], …]: spans of the prompts in order; the template wrote the rest
    raw                 raw output, special tokens spelled out; `ids: false` leaves its ids out
    raw_finish_reason, stop_reason, raw_usage, raw_again
    message             the assistant message; finish_reason, chat_stop_reason, usage,
                        chat_error, chat_unread, chat_body
    stream              {message, finish_reason, same_tokens, deltas, reasons, error, unread, body}
    server              fields of `Server`
    evidence            default: same-run
    completeness        of raw; default: whole
    format              reads raw with this format; default: auto
    parsers             outcomes of offline parsers, by name
    refusal             {status, message, field, code, output}
    notes               what could not be had
    api                 by which API the server was asked; lost: [{field, message}] of the conversion to it
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from prompt_debugger.core.base.comparable import compare_outputs
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import (
    JSON,
    Api,
    Basis,
    ChatResult,
    Completeness,
    Completion,
    JSONObject,
    Notice,
    Parse,
    ParserOutcome,
    Prompt,
    PromptDifference,
    PromptSpan,
    Refusal,
    Request,
    Server,
    Span,
    SpanKind,
    StreamDelta,
    Token,
    TokenKind,
    Trace,
    Usage,
    Vocabulary,
)
from prompt_debugger.core.formats import pick_format, score_formats
from prompt_debugger.core.parse import TOGETHER, build_ledger
from prompt_debugger.core.pipeline import add_accounts
from tests.yaml_files import read_yaml

FIRST_SPECIAL_ID = 500
VOCABULARY_SIZE = 600
KIMI_SPECIAL = (
    "[BOS]",
    "[EOS]",
    "<|im_end|>",
    "<|im_user|>",
    "<|im_assistant|>",
    "<|im_system|>",
    "<|im_middle|>",
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
)
TOOLS: Mapping[str, JSONObject] = {
    "get_weather": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
    "search": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    "ping": {"type": "object", "properties": {}},
}
_KINDS = ("fires", "silent")
_BOTH = "both: what it is for, under `fires:`, and what looks alike and is healthy, under `silent:`"
RULES_FOLDER = Path(__file__).resolve().parents[2] / "rules"

Case = Mapping[str, Any]


@dataclass(frozen=True)
class RuleCase:
    """A case of a rule's file: which rule, whether it must fire, and what is expected."""

    code: str
    fires: bool
    name: str
    case: Case

    def __str__(self) -> str:
        return f"{self.code} {'fires' if self.fires else 'silent'}: {self.name}"


@cache
def load_rule_cases(folder: Path = RULES_FOLDER) -> tuple[RuleCase, ...]:
    """Return every case of `tests/rules`."""
    found = []
    for path in sorted(folder.glob("*.yml")):
        document = read_yaml(path)
        for kind in _KINDS:
            cases = document.get(kind) if isinstance(document, dict) else None
            assert isinstance(cases, list), f"tests/rules/{path.name} has no list `{kind}:` of cases; write {_BOTH}"
            for case in cases:
                is_named = isinstance(case, dict) and "name" in case
                assert is_named, f"tests/rules/{path.name}: a case under `{kind}:` has no `name:`: {case}"
                found.append(RuleCase(path.stem, kind == "fires", case["name"], case))
    return tuple(found)


def load_cases(path: Path) -> list[Case]:
    """Return the cases of a file that holds a plain list."""
    cases: list[Case] = read_yaml(path)
    return cases


def build_trace(case: Case) -> Trace:
    """Build the trace that a case describes."""
    request = _request(case)
    special = tuple(case.get("special", KIMI_SPECIAL))
    vocabulary = _vocabulary(case, special)
    raw = _raw(case, special)
    chat = _chat(case, raw)
    prompt = _prompt(case, "prompt", "server", request, special)
    parse = None if raw is None else _parse(case, raw, request, prompt, special)
    difference = case.get("difference")
    refusal = case.get("refusal")
    stream = _stream(case, raw)
    evidence = Basis(str(case.get("evidence", "same-run"))) if chat is not None else None
    if parse is not None and chat is not None:
        comparability = compare_outputs(Trace(request=request, raw=raw, chat=chat, evidence=evidence)) or TOGETHER
        parse = replace(parse, ledger=build_ledger(parse.raw, parse.parsed, chat.message, comparability))
    if parse is not None and stream is not None and chat is not None and stream.token_ids == chat.token_ids:
        ledger = build_ledger(parse.raw, parse.parsed, stream.message, parse.ledger.comparability or TOGETHER)
        parse = replace(parse, stream_ledger=ledger)
    return Trace(
        request=request,
        sent=case.get("sent", {}),
        server=None if "server" not in case else Server(**{"base_url": "http://127.0.0.1:1/v1", **case["server"]}),
        evidence=evidence,
        prompt=prompt,
        local_prompt=_prompt(case, "local_prompt", "local", request, special),
        prompt_difference=None if difference is None else PromptDifference(**difference),
        generation_prompt=case.get("generation_prompt"),
        vocabulary=vocabulary,
        refusal=None if refusal is None else Refusal(**{"status": None, **refusal}),
        notes=tuple(case.get("notes", ())),
        raw=raw,
        raw_again=None
        if "raw_again" not in case
        else _completion(str(case["raw_again"]), None, special, Basis.OWN_RENDER),
        chat=chat,
        chat_stream=stream,
        parse=parse,
        api=Api(case.get("api", "chat")),
        lost=tuple(Notice(**notice) for notice in case.get("lost", ())),
    )


def tokenize(text: str, special: Sequence[str]) -> tuple[Token, ...]:
    """Cut a text into special tokens and words with the space before them."""
    marks = "|".join(re.escape(mark) for mark in sorted(special, key=len, reverse=True)) or r"(?!)"
    tokens = []
    for match in re.finditer(rf"({marks})|\s*(?:(?!{marks})\S)+|\s+", text):
        piece = match.group()
        is_special = match.group(1) is not None
        token_id = (
            FIRST_SPECIAL_ID + special.index(piece) if is_special else zlib.crc32(piece.encode()) % FIRST_SPECIAL_ID
        )
        kind = TokenKind.SPECIAL if is_special else TokenKind.TEXT
        tokens.append(Token(token_id, piece, Span(*match.span()), kind, piece.encode()))
    return tuple(tokens)


def tool(name: str) -> JSONObject:
    """Return a standard tool spec."""
    return {
        "type": "function",
        "function": {"name": name, "description": f"The {name} tool.", "parameters": TOOLS[name]},
    }


def _request(case: Case) -> Request:
    if "plain" in case:
        return Request(body=dict(case["plain"]), text="")
    body: JSONObject = {"messages": [{"role": "user", "content": "Weather in Paris?"}], "temperature": 0}
    if "tools" in case:
        body["tools"] = [tool(name) for name in case["tools"]]
    body.update(case.get("request", {}))
    body["messages"] = [_message(message) if isinstance(message, dict) else message for message in _list(body)]
    notices = tuple(Notice(**notice) for notice in case.get("notices", ()))
    return Request(body=body, text="", notices=notices)


def _list(body: JSONObject) -> list[JSON]:
    messages = body["messages"]
    return messages if isinstance(messages, list) else []


def _message(message: JSONObject) -> JSONObject:
    """Spell out the short form of tool calls."""
    calls = message.get("calls")
    if not isinstance(calls, list):
        return message
    spelled: list[JSON] = []
    for index, call in enumerate(calls):
        assert isinstance(call, list)
        name, arguments, call_id = [*call, f"call_{index}"][:3]
        spelled.append({"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}})
    return {**{key: value for key, value in message.items() if key != "calls"}, "tool_calls": spelled}


def _vocabulary(case: Case, special: tuple[str, ...]) -> Vocabulary | None:
    if case.get("vocabulary") == "none":
        return None
    bos = case.get("bos", "[BOS]")
    eos: Sequence[str] = case.get("eos", ["<|im_end|>", "[EOS]"])
    return Vocabulary(
        size=VOCABULARY_SIZE,
        special={FIRST_SPECIAL_ID + index: text for index, text in enumerate(special)},
        bos_id=FIRST_SPECIAL_ID + special.index(str(bos)) if bos in special else None,
        eos_ids=tuple(FIRST_SPECIAL_ID + special.index(text) for text in eos if text in special),
        adds_bos=bool(case.get("adds_bos", False)),
    )


def _prompt(
    case: Case, key: str, source: Literal["local", "server"], request: Request, special: tuple[str, ...]
) -> Prompt | None:
    text = case.get(key)
    if not isinstance(text, str):
        return None
    owned = _owned_spans(text, request)
    tokens = tuple(_attributed(token, owned) for token in tokenize(text, special))
    unknown = () if not text else (PromptSpan(Span(0, len(text)), SpanKind.UNKNOWN),)
    return Prompt(
        source=source,
        text=text,
        spans=_traced(text, case["traced"]) if "traced" in case else unknown,
        tokens=None if case.get("ids") is False else tokens,
        unread=tuple(case.get("unread", ())),
        template=case.get("template"),
    )


def _traced(text: str, traced: Sequence[Sequence[str | None]]) -> tuple[PromptSpan, ...]:
    spans: list[PromptSpan] = []
    position = 0
    for shown, kind, *field in traced:
        start = text.index(str(shown), position)
        if start > position:
            spans.append(PromptSpan(Span(position, start), SpanKind.TEMPLATE))
        position = start + len(str(shown))
        spans.append(PromptSpan(Span(start, position), SpanKind(str(kind)), field[0] if field else None))
    if position < len(text):
        spans.append(PromptSpan(Span(position, len(text)), SpanKind.TEMPLATE))
    return tuple(spans)


def _owned_spans(text: str, request: Request) -> list[tuple[Span, str]]:
    spans = []
    for index, message in enumerate(request.messages):
        content = message.get("content")
        start = text.find(content) if isinstance(content, str) and content else -1
        if start >= 0:
            spans.append((Span(start, start + len(str(content))), f"messages[{index}].content"))
    return spans


def _attributed(token: Token, owned: list[tuple[Span, str]]) -> Token:
    for span, field in owned:
        if span.start <= token.char_span.start and token.char_span.stop <= span.stop:
            injected = token.kind is TokenKind.SPECIAL
            return Token(token.id, token.text, token.char_span, token.kind, token.piece, field, None, injected)
    return token


def _completion(text: str, finish_reason: object, special: tuple[str, ...], evidence: Basis) -> Completion:
    tokens = tokenize(text, special)
    return Completion(
        text=text,
        token_ids=tuple(token.id for token in tokens),
        finish_reason=None if finish_reason is None else str(finish_reason),
        evidence=evidence,
        tokens=tokens,
    )


def _raw(case: Case, special: tuple[str, ...]) -> Completion | None:
    if "raw" not in case:
        return None
    whole = _completion(str(case["raw"]), case.get("raw_finish_reason"), special, Basis.SAME_RUN)
    stop_reason: str | int | None = case.get("stop_reason")
    keep = case.get("ids") is not False
    return Completion(
        whole.text,
        whole.token_ids if keep else None,
        whole.finish_reason,
        stop_reason,
        whole.evidence,
        usage=None if "raw_usage" not in case else Usage(**case["raw_usage"]),
        tokens=whole.tokens if keep else None,
        completeness=Completeness(str(case.get("completeness", "whole"))),
        completeness_reason=str(case.get("completeness_reason", "")),
    )


def _chat(case: Case, raw: Completion | None) -> ChatResult | None:
    if "message" not in case:
        return None
    usage = case.get("usage")
    return ChatResult(
        message=_message({"role": "assistant", **case["message"]}),
        finish_reason=case.get("finish_reason", "stop"),
        stop_reason=case.get("chat_stop_reason"),
        token_ids=None if raw is None else raw.token_ids,
        usage=None if usage is None else Usage(**usage),
        body=case.get("chat_body", "{}"),
        error=case.get("chat_error"),
        unread=case.get("chat_unread"),
    )


def _stream(case: Case, raw: Completion | None) -> ChatResult | None:
    stream = case.get("stream")
    if not isinstance(stream, dict):
        return None
    ids = None if raw is None or raw.token_ids is None else raw.token_ids
    if stream.get("same_tokens", True) is False:
        ids = (1, 2, 3)
    reasons = iter(stream.get("reasons", ()))
    deltas = tuple(StreamDelta(delta, None, next(reasons, None), 0.0) for delta in stream.get("deltas", ()))
    return ChatResult(
        message=_message({"role": "assistant", **stream.get("message", {})}),
        finish_reason=stream.get("finish_reason", "stop"),
        token_ids=ids,
        deltas=deltas,
        error=stream.get("error"),
        unread=stream.get("unread"),
        body=stream.get("body", ""),
    )


def _parse(
    case: Case,
    raw: Completion,
    request: Request,
    prompt: Prompt | None,
    special: tuple[str, ...],
) -> Parse:
    context = ReadContext(
        tools=request.tools,
        prompt_tail="" if prompt is None else prompt.text[-200:],
        finish_reason=raw.finish_reason,
        special_texts=frozenset(special),
    )
    parsed = pick_format(raw.text, context, wanted=str(case.get("format", "auto"))).read(raw.text, context)
    ledger = build_ledger(raw.text, parsed, None)
    outcomes: Mapping[str, dict[str, Any]] = case.get("parsers", {})
    parsers = {name: _outcome(outcome) for name, outcome in outcomes.items()}
    parse = Parse(raw.text, score_formats(raw.text, context), parsed, ledger)
    return replace(parse, parsers=add_accounts(parse, parsers))


def _outcome(outcome: dict[str, Any]) -> ParserOutcome:
    calls = outcome.get("tool_calls", [])
    assert isinstance(calls, list)
    return ParserOutcome(
        reasoning=None,
        content=None,
        tool_calls=tuple(call for call in calls if isinstance(call, dict)),
        error=outcome.get("error"),
        stream_equal=outcome.get("stream_equal"),
        splits_tried=outcome.get("splits_tried", 0),
        first_unequal=outcome.get("first_unequal"),
    )
