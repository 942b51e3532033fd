"""Find calls that a message returned in what a reading left as text.

    {"name": "f", "arguments": {"a": 1}}      f(a=1)

A parser that takes such a text for a call has not invented it: name and values stand
there. A call that is quoted, or that a sentence about notations shows, stays text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import (
    CallStatus,
    ParsedMessage,
    Place,
    Segment,
    SegmentKind,
    Span,
    ToolCallAttempt,
)
from prompt_debugger.core.parse.call_object import CallKeys, read_call
from prompt_debugger.core.parse.matching import MessageCall, same_arguments
from prompt_debugger.core.parse.mentions import is_about_notation, is_in_sentence
from prompt_debugger.core.parse.python_calls import read_python_call
from prompt_debugger.core.parse.scan import QuoteGuard

_MAX_PLACES = 16  # of one name
_MAX_CALLS = 32
_MAX_ABSENT = 4  # calls that are nowhere in the text
_NEAR = 200  # characters before its name within which the object of a call opens
_MAX_OBJECTS = 8  # that may open there
_ROOM = 400  # for what a text has beyond the arguments
_WORD = re.compile(r"[\w\-]")
_AFTER = re.compile(r"[\s;,]*")


def returned_in_text(raw: str, parsed: ParsedMessage, returned: Sequence[MessageCall]) -> tuple[ToolCallAttempt, ...]:
    """Return the calls that are written, as they were returned, in text that a reading takes for no call.

    Args:
        raw: The raw output.
        parsed: The reading.
        returned: Calls of a message that answer to none of the reading's.

    Returns:
        One call for each that is found, in order of the text; none overlaps another.
    """
    found: list[ToolCallAttempt] = []
    absent: set[tuple[str, str]] = set()
    for wanted in returned[:_MAX_CALLS]:
        if (wanted.name, wanted.arguments) in absent or len(absent) >= _MAX_ABSENT:
            continue
        taken = [call.char_span for call in found]
        call = next((one for one in _written(raw, parsed, wanted) if not _overlaps(one.char_span, taken)), None)
        if call is None:
            absent.add((wanted.name, wanted.arguments))
        else:
            found.append(call)
    return tuple(sorted(found, key=lambda call: call.char_span))


def forced_in_text(
    raw: str, parsed: ParsedMessage, name: str, returned: Sequence[MessageCall]
) -> ToolCallAttempt | None:
    """Return the call of a tool that the request forces, where the text is its arguments and nothing else.

    Servers that make a grammar of the one tool's parameters add the name themselves (llama-cpp-python 0.3.36).

    Args:
        raw: The raw output.
        parsed: The reading.
        name: The tool that the request names.
        returned: Calls of a message that answer to none of the reading's.
    """
    texts = [segment.char_span for segment in parsed.segments if segment.kind is SegmentKind.CONTENT]
    if parsed.calls or len(texts) != 1 or [call.name for call in returned] != [name]:
        return None
    (start, stop), arguments = texts[0], returned[0].arguments
    text = raw[start:stop]
    if not arguments.lstrip().startswith("{") or text.strip() != arguments.strip():
        return None
    arguments = arguments if arguments in text else text.strip()  # servers may add whitespace around them
    begin = start + text.index(arguments)
    span, value = Span(begin, begin + len(arguments)), returned[0].value
    decoded = value if isinstance(value, dict) else None
    status = CallStatus.TRUNCATED if decoded is None else CallStatus.COMPLETE
    return ToolCallAttempt(name, arguments, decoded, None, status, Place.BODY, span, arguments_span=span)


def _overlaps(span: Span, others: Sequence[Span]) -> bool:
    return any(span.start < other.stop and other.start < span.stop for other in others)


def _written(raw: str, parsed: ParsedMessage, wanted: MessageCall) -> Iterator[ToolCallAttempt]:
    """Yield the places where the call is written that was returned."""
    for span in _texts(parsed.segments) if wanted.name else ():
        guard = QuoteGuard(raw, *span)
        at, places = raw.find(wanted.name, *span), 0
        while at != -1 and places < _MAX_PLACES:
            places += 1
            call = _call_around(raw, span, at, wanted)
            if call is not None and not guard.is_quoted(call.char_span) and _is_meant(raw, span, call):
                guard.skip(call.char_span.stop)
                yield call
            at = raw.find(wanted.name, at + len(wanted.name), span.stop)


def _texts(segments: Sequence[Segment]) -> Iterator[Span]:
    """Yield the content, and reasoning that nothing ends: the call ends it."""
    for index, segment in enumerate(segments):
        is_open = segment.kind is SegmentKind.REASONING and all(
            later.kind is SegmentKind.END for later in segments[index + 1 :]
        )
        if segment.kind is SegmentKind.CONTENT or is_open:
            yield segment.char_span


def _call_around(raw: str, text: Span, at: int, wanted: MessageCall) -> ToolCallAttempt | None:
    """Return the call whose name is at a place, if it is the one that was returned."""
    end = at + len(wanted.name)
    if _WORD.match(raw[max(text.start, at - 1) : at]) or _WORD.match(raw[end : min(end + 1, text.stop)]):
        return None
    stop = min(text.stop, end + 8 * len(wanted.arguments) + _ROOM)
    context = ReadContext()
    python = read_python_call(raw, Span(at, stop), context)
    if python is not None and _is_same(python, wanted):
        return python
    start = at
    for _ in range(_MAX_OBJECTS):
        start = raw.rfind("{", max(text.start, at - _NEAR), start)
        if start == -1:
            return None
        call = read_call(raw, start, min(text.stop, start + 8 * len(wanted.arguments) + 2 * _ROOM), CallKeys()).call
        if _is_same(call, wanted):
            return call
    return None


def _is_same(call: ToolCallAttempt, wanted: MessageCall) -> bool:
    is_whole = call.status is CallStatus.COMPLETE and call.arguments_json is not None
    is_emptied = wanted.value == {} and bool(call.arguments_json)  # by a parser that does not know where they stand
    return is_whole and call.name == wanted.name and (is_emptied or same_arguments(call, wanted))


def _is_meant(raw: str, text: Span, call: ToolCallAttempt) -> bool:
    """Return whether a call is alone, or at least in no sentence that shows how calls are written."""
    start, stop = call.char_span
    before = raw[max(text.start, start - _NEAR) : start].rpartition("\n")[2].strip()
    after = raw[_end_of_marks(raw, stop, text.stop) : min(text.stop, stop + _NEAR)].partition("\n")[0].strip()
    if not before and not after:
        return True
    if is_about_notation(raw, call.char_span):
        return False
    return bool(call.arguments_json) or not (before and is_in_sentence(before + " "))


def _end_of_marks(raw: str, start: int, stop: int) -> int:
    match = _AFTER.match(raw, start, stop)
    return start if match is None else match.end()
