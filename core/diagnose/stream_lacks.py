"""What a pasted stream lacks compared with a pasted whole answer that calls the same tools: two runs, not one.

whole:  get_weather {"city": "Oslo", "unit": "c"}      stream:  get_weather {"unit": "c"}
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.types import JSON, Certainty, ChatResult
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fields import CallField, calls_of_message, content_of
from prompt_debugger.core.diagnose.hosted import answering_model
from prompt_debugger.core.diagnose.rules.base import Report
from prompt_debugger.core.diagnose.trace_queries import in_message, quote
from prompt_debugger.core.diagnose.words import counted, listed

_SIGN = re.compile(  # of some notation of a call, or that one was announced
    r"(?i)[{<\[|]|\b(?:let|i|we|will|need|going|look\w{0,3}|check\w{0,3}|call\w{0,3}|us(?:e|ing)|search\w{0,3})\b"
)
_MAX_SIGN = 2_000  # characters of content
_FIX = (
    Step("Ask without streaming (`stream: false`) until the server's parser handles both alike."),
    Step("Run a current release: the two modes are different code in a parser, and this is one of their usual faults."),
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
