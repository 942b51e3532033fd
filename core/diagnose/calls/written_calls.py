"""The census on a field of the message: complete calls that it has as text, with their markup."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, Segment, SegmentKind, Span, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.fields import body_of, request_tools, texts_inside
from prompt_debugger.core.diagnose.markers import find_unquoted_markers
from prompt_debugger.core.formats import pick_format

_BARE_CALL = re.compile(
    r'\s*+\{\s*+(?:"type"\s*+:\s*+"function"\s*+,\s*+"function"\s*+:\s*+\{\s*+)?"name"\s*+:\s*+"([\w.:/-]{1,100})"'
    r'\s*+,\s*+"(?:arguments|parameters)"\s*+:\s*+\{'
)
_BEGUN_CALL = re.compile(
    r'\[?\s*+\{\s*+"(?:name|tool_name)"[\s,:]{1,20}+"([\w.:/-]{1,100})[^\n]{0,100}?"(?:arguments|parameters)"\s*+:\s*+\{'
)
_FENCE = re.compile(r"```[\w+-]{0,20}[ \t]{0,8}\n(?P<inner>[^`]*+)```")
# Notes of what was pasted.
CALL_EXPECTED = "The surrounding text mentions tool calls."
CAME_AS_CONTENT = "The text around it says that it came as the text of an answer."
READ_AS_CONTENT = "The text was read as the content of a message: it contains no control token."
SAID_OFF = "According to the surrounding text, the request sets `enable_thinking` to false."
TOOLS_SAID = "According to the surrounding text, the request has tools."
COMPLAINED = "The surrounding text says that something is wrong."
_MAX_DIFFERENT = 500  # calls that are looked for in the request, each in all of it
_OF_CALLS = (SegmentKind.MARKUP, SegmentKind.CALL_NAME, SegmentKind.CALL_ID, SegmentKind.CALL_ARGUMENTS)


def is_request_known(trace: Trace) -> bool:
    """Return whether the request is available, so that a tool which it does not offer does not exist.

    Messages without a model's name are a conversation, whose tools were not copied with it.
    """
    body = body_of(trace)
    return {"messages", "model"} <= body.keys() or bool(request_tools(trace.request))


def format_of(trace: Trace, text: str) -> str:
    """Return the name of the format that a text is read with."""
    return pick_format(text, ReadContext(tools=trace.request.tools)).name


def written_calls(
    trace: Trace, text: str, statuses: tuple[CallStatus, ...] = (CallStatus.COMPLETE,)
) -> Iterator[ToolCallAttempt]:
    """Yield the calls that a text holds with unquoted markup of its own.

    Only calls of tools that the request offers; of any tool where the request is not at hand.

    Args:
        trace: The run.
        text: The text.
        statuses: Which calls are wanted; a cut or malformed one counts only with its name and the beginning of its
            arguments.
    """
    markers = list(find_unquoted_markers(text))
    if not markers:
        return
    offered = {tool.name for tool in request_tools(trace.request)} if is_request_known(trace) else None
    asked = "\n".join(texts_inside(body_of(trace)))
    context = ReadContext(tools=trace.request.tools)
    parsed = pick_format(text, context).read(text, context)
    marked = list(_marked_sections(parsed.segments, markers))
    starts = [section.start for section in marked]
    is_asked: dict[str, bool] = {}
    for call in parsed.calls:
        within = bisect_right(starts, call.char_span.start) - 1
        has_markup = within >= 0 and call.char_span.start < marked[within].stop
        is_begun = call.status is not CallStatus.COMPLETE and bool(call.arguments.strip(" {"))
        is_whole = call.arguments_json is not None or is_begun
        is_offered = call.name in offered if offered is not None else bool(call.name)
        if not has_markup or not is_whole or not is_offered or call.status not in statuses:
            continue
        written = text[slice(*call.char_span)]
        if written not in is_asked:
            if len(is_asked) == _MAX_DIFFERENT:
                return
            is_asked[written] = written in asked
        if not is_asked[written]:
            yield call


def name_of_bare_call(text: str) -> str | None:
    """Return the name of the call that a text is from its beginning on, in bare JSON; `None` if it is anything else."""
    begun = _BARE_CALL.match(text)
    return None if begun is None else begun[1]


def begun_bare_call(text: str) -> str | None:
    """Return the name of the call that a text begins with, in bare JSON, whatever comes of it; else `None`."""
    begun = _BEGUN_CALL.match(text.lstrip())
    return None if begun is None else begun[1]


def bare_calls(trace: Trace, text: str) -> tuple[ToolCallAttempt, ...]:
    """Return the calls that a text is made of and nothing else, all of them whole, of offered tools and not asked for.

    Where the request wants JSON, or no call, JSON is an answer.
    """
    body = body_of(trace)
    if body.get("response_format") or body.get("tool_choice") == "none":
        return ()
    offered = {tool.name for tool in request_tools(trace.request)}
    is_known = is_request_known(trace)
    context = ReadContext(tools=trace.request.tools, finish_reason="stop")
    parsed = pick_format(text, context).read(text, context)
    is_all = not (parsed.content or "").strip()
    are_whole = all(
        call.status is CallStatus.COMPLETE
        and call.arguments_json is not None
        and (call.name in offered if is_known else bool(call.name))
        for call in parsed.calls
    )
    is_asked = text.strip() in "\n".join(texts_inside(body))
    return parsed.calls if is_all and are_whole and not is_asked else ()


def fenced_calls(trace: Trace, text: str) -> tuple[ToolCallAttempt, ...]:
    """Return the calls in a text's code fences that contain nothing but calls in bare JSON.

    Calls in their tags count where the fence is all of the text: one with words around it is an example.
    """
    return tuple(
        replace(call, char_span=Span(call.char_span.start + at, call.char_span.stop + at))
        for fence in _FENCE.finditer(text)
        if (at := fence.start("inner")) and _may_be_calls(fence, text)
        for call in bare_calls(trace, fence["inner"])
    )


def _may_be_calls(fence: re.Match[str], text: str) -> bool:
    begins = fence["inner"].lstrip()[:1]
    return begins in ("{", "[") or (begins == "<" and fence[0].strip() == text.strip())


def _marked_sections(segments: Sequence[Segment], markers: Sequence[Span]) -> Iterator[Span]:
    """Yield the stretches of calls without text between them whose markup, around or inside a call, has a marker."""
    starts = [marker.start for marker in markers]
    for is_section, group in groupby(segments, key=lambda segment: segment.kind in _OF_CALLS):
        parts = list(group)
        markup = [part.char_span for part in parts if part.kind is SegmentKind.MARKUP]
        if is_section and any(bisect_left(starts, a) < bisect_left(starts, b) for a, b in markup):
            yield Span(parts[0].char_span.start, parts[-1].char_span.stop)
