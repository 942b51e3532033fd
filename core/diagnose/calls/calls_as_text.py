"""Returned calls that the raw output does hold, but that our reading leaves as text of content or reasoning."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from prompt_debugger.core.base.types import JSON, CallOutcome, Segment, SegmentKind, Span, Trace
from prompt_debugger.core.diagnose.fields import CallField, returned_calls

_TEXT = (SegmentKind.CONTENT, SegmentKind.REASONING)
_AFTER_NAME = re.compile(r"[\"']\s*+[,}]|\s*+[({\[<]|:\d++\s*+<")  # no prose continues like this
_MARGIN = 160  # markup around name and arguments
_WORD = re.compile(r"[\w\-]+")
_MAX_PLACES = 32  # at which the arguments of a call are looked for
_MAX_MENTIONS = 256  # of a word of its name
_MAX_LEAVES = 64  # a text that has this many keys and values has them by no accident


class CallAsText(NamedTuple):
    """A returned call without an origin among the calls of our reading.

    Attributes:
        call: The call as returned.
        name_span: Its name where the raw output contains the call as text; `None` if no text explains it.
        kind: The kind of that text.
        text: That text.
    """

    call: CallField
    name_span: Span | None = None
    kind: SegmentKind | None = None
    text: Span | None = None


def invented_calls(trace: Trace) -> Iterator[CallAsText]:
    """Yield the returned calls that answer to no call of our reading, each with the text that explains it."""
    if trace.parse is None:
        return
    invented = {m.message_index for m in trace.parse.ledger.matches if m.outcome is CallOutcome.INVENTED}
    fields = {f"tool_calls[{index}]" for index in invented}
    calls = [call for call in returned_calls(trace) if call.field in fields]
    texts = _Texts(trace.parse.raw, trace.parse.parsed.segments, {call.name for call in calls if call.name})
    yield from (texts.locate(call) for call in calls)


class _Texts:
    """The texts of a raw output, by the words of the names that are looked for in them: read once for all calls."""

    def __init__(self, raw: str, segments: Iterable[Segment], names: Iterable[str]) -> None:
        self._raw = raw
        self._words = {name: max(words, key=len) for name in names if (words := _WORD.findall(name))}
        self._places: dict[str, list[tuple[int, Segment]]] = {word: [] for word in self._words.values()}
        self._known: dict[str, list[tuple[Span, Segment]]] = {}
        for segment in segments if self._places else ():
            if segment.kind in _TEXT:
                for word in _WORD.finditer(raw, *segment.char_span):
                    places = self._places.get(word[0])
                    if places is not None and len(places) < _MAX_MENTIONS:
                        places.append((word.start(), segment))

    def locate(self, call: CallField) -> CallAsText:
        """Return the text that has a call's name as a name, with all of its arguments around it, if there is one."""
        raw, name = self._raw, call.name or ""
        if name not in self._known:
            self._known[name] = list(islice(self._named(name), _MAX_PLACES))
        leaves = _leaves(call.arguments) if self._known[name] else ()
        width = 2 * sum(map(len, leaves)) + 16 * len(leaves) + _MARGIN
        looked_for = list(dict.fromkeys(leaves))[:_MAX_LEAVES]
        for span, segment in self._known[name]:
            start, stop = segment.char_span
            around = raw[max(start, span.start - width) : min(stop, span.stop + width)]
            if all(leaf in around for leaf in looked_for):
                return CallAsText(call, span, segment.kind, segment.char_span)
        return CallAsText(call)

    def _named(self, name: str) -> Iterator[tuple[Span, Segment]]:
        """Yield where a name occurs as it never does in prose: alone, before something that opens or closes."""
        word = self._words.get(name)
        for at, segment in self._places[word] if word is not None else ():
            start = at - name.index(word or "")
            stop = start + len(name)
            is_inside = segment.char_span.start <= start and stop <= segment.char_span.stop
            if not is_inside or not self._raw.startswith(name, start) or _WORD.match(self._raw[start - 1 : start]):
                continue
            if _AFTER_NAME.match(self._raw, stop, segment.char_span.stop) and not _WORD.match(self._raw, stop):
                yield Span(start, stop), segment


def _leaves(arguments: JSON) -> tuple[str, ...]:
    """Return what must be in a text that holds these arguments, whatever the notation: keys and plain values."""
    try:
        value = json.loads(arguments) if isinstance(arguments, str) and arguments.strip() else arguments
        return tuple(_walk(value))
    except (ValueError, RecursionError):
        return (str(arguments).strip(),)


def _walk(value: JSON) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(inner)
    elif isinstance(value, str):
        yield from re.split(r"[\\\"\n\t\r/]|[^\x00-\x7f]", value)  # escapes are written in many ways
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(value)
