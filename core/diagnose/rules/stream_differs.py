"""The streamed answer differs from the whole one, for the same tokens.

What it finds:
    Content, reasoning, calls or finish_reason that differ between the assembled stream and
    the whole answer, where both runs wrote the same token ids. Two runs that wrote
    different tokens are never compared. A difference in whitespace alone is a note:
    several parsers strip it in one mode only. A warning if a stream was requested that says
    `length`, and only the whole answer hides it. Of a stream and a whole answer that
    were pasted, which are two runs: that the stream lacks a call or arguments (an inference).

Why it matters:
    Streaming and whole answers go through different code in the server; a
    client that works in one mode loses calls or their arguments in the other.

Bad:
    Whole `{"city": "Paris"}`, stream `{"city": "Paris"`

Good:
    Equal messages.

Source:
    tracker: vllm-project/vllm#32152, vllm-project/vllm#10395, sgl-project/sglang#35625.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from prompt_debugger.core.base.json_values import decode_json, same_json_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, Certainty, ChatResult, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fields import CallField, calls_of_message, content_of, reasoning_of
from prompt_debugger.core.diagnose.hosted import answering_model
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, asked_server, in_message, quote
from prompt_debugger.core.diagnose.words import counted, listed

_SIGN = re.compile(  # of some notation of a call, or that one was announced
    r"(?i)[{<\[|]|\b(?:let|i|we|will|need|going|look\w{0,3}|check\w{0,3}|call\w{0,3}|us(?:e|ing)|search\w{0,3})\b"
)
_MAX_SIGN = 2_000  # characters of content
_FIX = (
    Step("Ask without streaming (`stream: false`) until the server's parser handles both alike."),
    Step("Run a current release: the two modes are different code in a parser, and this is one of their usual faults."),
)


class _Difference(NamedTuple):
    """A field that differs, as text: whole answer, stream."""

    field: str
    whole: str
    stream: str

    @property
    def is_white_space(self) -> bool:
        """Whether whitespace is all that differs."""
        return "".join(self.whole.split()) == "".join(self.stream.split())


def find(trace: Trace) -> Iterator[Report]:
    """Compare the two answers field by field."""
    chat, stream = trace.chat_whole or trace.chat, trace.chat_stream
    if chat is None or stream is None or chat.error or stream.error:
        return
    if not chat.token_ids and not stream.token_ids and not asked_server(trace):
        yield from find_lacking(chat, stream)
    if not chat.token_ids or chat.token_ids != stream.token_ids:
        return
    differences = tuple(_differences(chat, stream))
    if not differences:
        return
    fields = [difference.field for difference in differences]
    minor = all(difference.is_white_space for difference in differences)
    yield Report(
        title=f"Stream and whole answer differ in {listed(fields)}, for the same tokens.",
        detail="; ".join(
            f"{field}: whole {quote(whole)!r}, stream {quote(streamed)!r}" for field, whole, streamed in differences[:4]
        )
        + (" (whitespace only)." if minor else "."),
        evidence=tuple(in_message(difference.field, difference.stream) for difference in differences),
        fix="Rely on the mode that agrees with the raw output; report the parser's other mode.",
        severity=Severity.NOTE if minor else Severity.WARNING if _differs_in_its_end(trace, fields) else None,
    )


def find_lacking(whole: ChatResult, stream: ChatResult) -> Iterator[Report]:
    """Report calls, or arguments of calls, that the whole answer has and the stream has not."""
    calls, streamed = calls_of_message(whole.message), calls_of_message(stream.message)
    if _are_of_two_requests(whole, stream):
        return
    if calls and not streamed and stream.finish_reason is not None:
        yield _report_no_call(calls, stream)
        return
    if [call.name for call in calls] != [call.name for call in streamed]:
        return
    for call, other in zip(calls, streamed, strict=True):
        lost = _lost(call.arguments, other.arguments)
        if lost:
            yield Report(
                title=f"The streamed call to `{call.name}` lacks {lost}, which the whole answer has.",
                detail=f"Streamed: {quote(str(other.arguments))!r}; whole: {quote(str(call.arguments))!r}. Both "
                "answers are in one text, probably to one request.",
                evidence=(in_message(f"{other.field}.function.arguments", str(other.arguments)),),
                fix=_FIX,
                certainty=Certainty.INFERRED,
            )


def _are_of_two_requests(whole: ChatResult, stream: ChatResult) -> bool:
    """Return whether two answers are to different requests: other prompts, other models, or words in place of a call.

    Where a parser lost a call, content holds its notation, the words that announce it, or nothing.
    """
    counts = [None if one.usage is None else one.usage.prompt_tokens for one in (whole, stream)]
    models = {model for one in (whole, stream) if (model := answering_model(one.body)) is not None}
    if (None not in counts and counts[0] != counts[1]) or len(models) > 1:
        return True
    said, before = (" ".join((content_of(one.message) or "").split()) for one in (stream, whole))
    has_calls = bool(calls_of_message(stream.message))
    may_be_same = _SIGN.search(said[:_MAX_SIGN]) is not None or (bool(before) and said.startswith(before[:40]))
    return not has_calls and bool(said) and not may_be_same


def _report_no_call(calls: tuple[CallField, ...], stream: ChatResult) -> Report:
    names = listed([call.name or "" for call in calls], 3)
    content = (content_of(stream.message) or "").strip()
    shown = f"; its content is {quote(content)!r}" if content else " and no content"
    return Report(
        title=f"The whole answer has {counted(len(calls), 'call')} ({names}), the streamed one has none.",
        detail=f"The stream ends with `{stream.finish_reason}`{shown}. Both answers are in one text, probably to "
        "one request.",
        evidence=(in_message("tool_calls"),),
        fix=_FIX,
        certainty=Certainty.INFERRED,
    )


def _lost(whole: JSON, streamed: JSON) -> str:
    """Return which arguments only the whole call has, for a person; "" unless the rest is the same."""
    one, other = _object(whole), _object(streamed)
    if one is None:
        return ""
    if not streamed or not str(streamed).strip():
        return "its arguments" if one else ""
    if other is None or not all(name in one and one[name] == value for name, value in other.items()):
        return ""
    return listed([name for name in one if name not in other], 4) if len(other) < len(one) else ""


def _object(arguments: JSON) -> dict[str, JSON] | None:
    value = decode_json(arguments) if isinstance(arguments, str) else arguments
    return value if isinstance(value, dict) else None


def _differs_in_its_end(trace: Trace, fields: list[str]) -> bool:
    """Return whether the stream was asked for, and is at odds with our whole answer only in saying that it was cut."""
    stream = trace.chat_stream
    is_asked = trace.request.body.get("stream") is True
    return is_asked and fields == ["finish_reason"] and stream is not None and stream.finish_reason == "length"


def _differences(chat: ChatResult, stream: ChatResult) -> Iterator[_Difference]:
    whole_calls, stream_calls = calls_of_message(chat.message), calls_of_message(stream.message)
    pairs = [
        ("content", content_of(chat.message) or "", content_of(stream.message) or ""),
        ("reasoning", _reasoning(chat), _reasoning(stream)),
        ("finish_reason", str(chat.finish_reason), str(stream.finish_reason)),
    ]
    for field, whole, streamed in pairs:
        if whole != streamed:
            yield _Difference(field, whole, streamed)
    if len(whole_calls) != len(stream_calls):
        yield _Difference("tool_calls", f"{len(whole_calls)} calls", f"{len(stream_calls)} calls")
        return
    for whole_call, stream_call in zip(whole_calls, stream_calls, strict=True):
        if whole_call.name != stream_call.name:
            yield _Difference(f"{whole_call.field}.function.name", str(whole_call.name), str(stream_call.name))
        if not same_json_text(whole_call.arguments, stream_call.arguments):
            field = f"{whole_call.field}.function.arguments"
            yield _Difference(field, str(whole_call.arguments), str(stream_call.arguments))


def _reasoning(result: ChatResult) -> str:
    reasoning = reasoning_of(result.message)
    return "" if reasoning is None else reasoning.text


RULE: Rule = TraceRule(
    code="PD411",
    name="stream-differs",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.ANSWER,
    threads=("vllm-project/vllm#32152", "vllm-project/vllm#10395", "sgl-project/sglang#35625"),
)
