"""The ledger: where each character of a raw output ended up in a message.

Without a message, or where output and message cannot be compared with each
other, it says where each character should go. With one, the order of claims is:

1. matched calls claim their name, id and arguments;
2. content and reasoning claim the text that belongs there by our reading;
3. any of their text that is still unexplained claims what is left of the raw
   text: a call leaked into content, an answer swallowed as reasoning;
4. what nothing has claimed is markup, end, framing whitespace, or lost.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import groupby

from prompt_debugger.core.base.types import (
    JSON,
    CallMatch,
    Certainty,
    Comparability,
    Fate,
    JSONObject,
    Ledger,
    LedgerEntry,
    ParsedMessage,
    Place,
    Segment,
    SegmentKind,
    Span,
    ToolCallAttempt,
)
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.parse.align import Match, align, gaps_between
from prompt_debugger.core.parse.call_segments import segments_of_call
from prompt_debugger.core.parse.matching import MessageCall, match_calls, message_calls, same_arguments, unmatched_calls

_Owner = tuple[Fate, str | None]


class Claims:
    """The owner of every character; the first claim counts."""

    def __init__(self, length: int) -> None:
        self._codes = array("I", bytes(array("I").itemsize * length))
        self._owners: list[_Owner] = [(Fate.LOST, None)]
        self._code_by_owner: dict[_Owner, int] = {}

    def claim(self, span: Span, fate: Fate, target: str | None = None) -> None:
        """Give what is still free of `span` an owner."""
        owner = (fate, target)
        code = self._code_by_owner.setdefault(owner, len(self._owners))
        if code == len(self._owners):
            self._owners.append(owner)
        for free in self.free_spans(span):
            self._codes[free.start : free.stop] = array("I", [code]) * (free.stop - free.start)

    def free_spans(self, span: Span) -> list[Span]:
        """Return the stretches of `span` that nothing has claimed."""
        codes = self._codes[span.start : span.stop]
        if not any(codes):  # as most are when they are asked for
            return [Span(span.start, span.start + len(codes))] if codes else []
        free: list[Span] = []
        position = span.start
        for code, run in groupby(codes):
            length = len([*run])
            if code == 0:
                free.append(Span(position, position + length))
            position += length
        return free

    def entries(self) -> Iterator[LedgerEntry]:
        """Yield the account, one entry per owner and stretch; unclaimed text is lost."""
        position = 0
        for code, run in groupby(self._codes):
            length = len([*run])
            fate, target = self._owners[code]
            yield LedgerEntry(Span(position, position + length), fate, target)
            position += length


class Pieces:
    """Stretches of a text joined to one text, with the way back."""

    def __init__(self, text: str, spans: Iterable[Span]) -> None:
        self._spans = [span for span in spans if span.start < span.stop]
        self._cursor = 0
        self._cursor_start = 0
        self.text = "".join(text[span.start : span.stop] for span in self._spans)

    def origins(self, start: int, stop: int) -> list[Span]:
        """Return the stretches that `self.text[start:stop]` was made from; asked from left to right."""
        if start < self._cursor_start:
            self._cursor = self._cursor_start = 0
        origins: list[Span] = []
        index, position = self._cursor, self._cursor_start
        while index < len(self._spans) and position < stop:
            span = self._spans[index]
            length = span.stop - span.start
            low, high = max(start, position), min(stop, position + length)
            if low < high:
                origins.append(Span(span.start + low - position, span.start + high - position))
            if position + length > stop:
                break
            index, position = index + 1, position + length
        self._cursor, self._cursor_start = index, position
        return origins


_REASONING_FIELDS = ("reasoning", "reasoning_content")
_INTENDED = {kind: Fate(kind.value) for kind in SegmentKind}
_FIELDS = {SegmentKind.CONTENT: "content", SegmentKind.REASONING: "reasoning"}
_CALL_FIELDS = {
    SegmentKind.CALL_NAME: "function.name",
    SegmentKind.CALL_ARGUMENTS: "function.arguments",
    SegmentKind.CALL_ID: "id",
}
_SEPARATOR = "\x00"  # between texts that are looked for together
_MAX_WHOLE = 64  # gaps that are looked for one by one, each in the whole text
_SHORTEST_MOVED = 4  # shorter agreements with text from elsewhere are accidents, unless they are all there is


TOGETHER = Comparability(Certainty.OBSERVED)
"""Of an output and a message that belong together by what they are, such as an output and a parser's result for it."""


def build_ledger(
    raw: str, parsed: ParsedMessage, message: JSONObject | None, comparability: Comparability = TOGETHER
) -> Ledger:
    """Account for every character of a raw output, and decide what became of every call.

    Args:
        raw: The raw output.
        parsed: Our reading of it.
        message: An assistant message that someone made of it; `None` for where everything should go.
        comparability: Whether the two may be compared; if not, nothing is said of loss.

    Returns:
        Entries that tile `raw`, the pairing of calls, and what the message holds beyond the raw text.
    """
    if message is None or comparability.certainty is None:
        matches = unmatched_calls(parsed.calls, () if message is None else message_calls(message))
        return Ledger(_intended_entries(parsed), matches, (), None if message is None else comparability)
    return replace(_Accountant(raw, parsed, message).account(), comparability=comparability)


def _intended_entries(parsed: ParsedMessage) -> tuple[LedgerEntry, ...]:
    """Return where each segment should go; one entry for neighbours that go the same way."""
    numbers = _body_numbers(parsed) if parsed.calls else {}
    entries: list[LedgerEntry] = []
    kind, target = None, None
    begin, end = 0, 0  # of the entry that is not yet written
    for segment in parsed.segments:
        start, stop = segment.char_span
        if start == stop:
            continue
        its_target = _FIELDS.get(segment.kind) or _target(segment, numbers)
        if segment.kind is not kind or its_target != target:
            if kind is not None:
                entries.append(LedgerEntry(Span(begin, end), _INTENDED[kind], target))
            begin, kind, target = start, segment.kind, its_target
        end = stop
    if kind is not None:
        entries.append(LedgerEntry(Span(begin, end), _INTENDED[kind], target))
    return tuple(entries)


def _body_numbers(parsed: ParsedMessage) -> dict[int, int]:
    """Return the place in `tool_calls` that each call of the body should have, by its index."""
    body = [index for index, call in enumerate(parsed.calls) if call.place is Place.BODY]
    return {index: number for number, index in enumerate(body)}


def _target(segment: Segment, numbers: dict[int, int]) -> str | None:
    """Return the field of a call that a segment of one should fill."""
    number = None if segment.call_index is None else numbers.get(segment.call_index)
    return None if number is None else _call_target(segment.kind, number)


def _call_target(kind: SegmentKind, number: int) -> str | None:
    part = _CALL_FIELDS.get(kind)
    return None if part is None else f"tool_calls[{number}].{part}"


class _Field:
    """A text field of the message, and which stretches of it are unexplained."""

    def __init__(self, name: str, text: str, kind: SegmentKind, fate: Fate) -> None:
        self.name = name
        self.text = text
        self.kind = kind
        self.fate = fate
        self.gaps: list[Span] = []
        self.changes: list[tuple[list[Span], Span]] = []

    def unexplained(self) -> list[Span]:
        """Return the gaps that contain more than whitespace."""
        return [gap for gap in self.gaps if self.text[gap.start : gap.stop].strip()]


class _Accountant:
    def __init__(self, raw: str, parsed: ParsedMessage, message: JSONObject) -> None:
        self._raw = raw
        self._parsed = parsed
        self._claims = Claims(len(raw))
        self._returned = message_calls(message)
        self._matches = match_calls(parsed.calls, self._returned)
        name = next((key for key in _REASONING_FIELDS if message.get(key)), _REASONING_FIELDS[0])
        self._fields = (
            _Field("content", _text_of(message.get("content")), SegmentKind.CONTENT, Fate.CONTENT),
            _Field(name, _text_of(message.get(name)), SegmentKind.REASONING, Fate.REASONING),
        )

    def account(self) -> Ledger:
        """Return the ledger."""
        self._claim_calls(Place.BODY)
        for field in self._fields:
            self._claim_own(field)
        self._claim_calls(Place.REASONING)
        for field in self._fields:
            self._claim_moved(field)
        for field in self._fields:
            self._settle_changes(field)
        self._settle_rest()
        return Ledger(_merge(self._claims.entries()), self._matches, self._invented())

    def _claim_calls(self, place: Place) -> None:
        for match in self._matches:
            if match.raw_index is None or match.message_index is None:
                continue
            call = self._parsed.calls[match.raw_index]
            if call.place is place:
                self._claim_call(call, match, match.message_index)

    def _claim_call(self, call: ToolCallAttempt, match: CallMatch, number: int) -> None:
        returned = self._returned[number]
        for segment in segments_of_call(call, match.raw_index or 0):
            target = _call_target(segment.kind, number)
            if segment.kind is SegmentKind.CALL_NAME:
                self._claims.claim(segment.char_span, _fate(Fate.CALL_NAME, is_altered="name" in match.altered), target)
            elif segment.kind is SegmentKind.CALL_ID and returned.id is not None:
                self._claims.claim(segment.char_span, _fate(Fate.CALL_ID, is_altered="id" in match.altered), target)
            elif segment.kind is SegmentKind.CALL_ARGUMENTS:
                self._claim_arguments(call, returned, segment.char_span, target)
            elif segment.kind is SegmentKind.MARKUP and call.place is Place.BODY:
                self._claims.claim(segment.char_span, Fate.MARKUP)

    def _claim_arguments(self, call: ToolCallAttempt, returned: MessageCall, span: Span, target: str | None) -> None:
        if same_arguments(call, returned):
            self._claims.claim(span, Fate.CALL_ARGUMENTS, target)
        elif returned.arguments.strip() in ("", "{}", "null"):
            self._claims.claim(span, Fate.LOST)
        elif not call.arguments.startswith(("{", '"', "[")):
            self._claims.claim(span, Fate.ALTERED, target)
        else:
            self._claim_changed_arguments(call, returned, span, target)

    def _claim_changed_arguments(
        self, call: ToolCallAttempt, returned: MessageCall, span: Span, target: str | None
    ) -> None:
        matches = align(call.arguments, returned.arguments)
        for match in matches:
            start = span.start + match.source_start
            self._claims.claim(Span(start, start + match.length), Fate.CALL_ARGUMENTS, target)
        for source, counterpart in gaps_between(matches, len(call.arguments), len(returned.arguments)):
            gap = Span(span.start + source.start, span.start + source.stop)
            is_replaced = counterpart.start < counterpart.stop
            self._claims.claim(gap, Fate.ALTERED if is_replaced else Fate.LOST, target if is_replaced else None)

    def _claim_own(self, field: _Field) -> None:
        """Let a field claim the text that belongs there by our reading."""
        own = Pieces(self._raw, (s.char_span for s in self._parsed.segments if s.kind is field.kind))
        matches = align(own.text, field.text)
        for match in matches:
            for span in own.origins(match.source_start, match.source_start + match.length):
                self._claims.claim(span, field.fate, field.name)
        for source, target in gaps_between(matches, len(own.text), len(field.text)):
            if target.start < target.stop:
                field.gaps.append(target)
                if source.start < source.stop:
                    field.changes.append((own.origins(source.start, source.stop), target))

    def _claim_moved(self, field: _Field) -> None:
        """Let what a field cannot explain claim free text from elsewhere.

        Text that occurs there letter by letter may contain markup; else text without its
        markup is tried first, as servers strip special tokens before they parse.
        """
        if not field.unexplained():
            return
        whole = Span(0, len(self._raw))
        meant = [s.char_span for s in self._parsed.segments if s.kind not in (SegmentKind.MARKUP, SegmentKind.END)]
        everything = Pieces(self._raw, self._claims.free_spans(whole))
        is_verbatim = any(field.text[gap.start : gap.stop].strip() in everything.text for gap in field.unexplained())
        for spans in ([whole],) if is_verbatim else (meant, [whole]):
            if not field.unexplained():
                return
            free = Pieces(self._raw, (free for span in spans for free in self._claims.free_spans(span)))
            for start, stop in self._explain(field, free.text):
                for span in free.origins(start, stop):
                    self._claims.claim(span, field.fate, field.name)

    def _explain(self, field: _Field, source: str) -> list[Span]:
        """Take from the field's gaps what occurs in `source`, and return where it occurs there."""
        whole = self._explain_whole(field, source)
        return [*whole, *self._explain_parts(field, source)]

    def _explain_whole(self, field: _Field, source: str) -> list[Span]:
        """Explain the gaps that occur in `source` letter by letter, so that no look-alike elsewhere gets a part."""
        used: list[Span] = []
        left: list[Span] = []
        if len(field.gaps) > _MAX_WHOLE:
            return used
        for gap in field.gaps:
            text = field.text[gap.start : gap.stop]
            written = text.strip()
            at_end = gap.stop == len(field.text)
            found = (source.rfind(written) if at_end else source.find(written)) if written else -1
            if found == -1:
                left.append(gap)
                continue
            used.append(Span(found, found + len(written)))
            start = gap.start + text.find(written)
            edges = (Span(gap.start, start), Span(start + len(written), gap.stop))
            left += [edge for edge in edges if edge.start < edge.stop]
        field.gaps = left
        return used

    def _explain_parts(self, field: _Field, source: str) -> list[Span]:
        """Explain what of the gaps agrees with `source` in pieces."""
        gaps = field.unexplained()
        joined = _SEPARATOR.join(field.text[gap.start : gap.stop] for gap in gaps)
        matches = align(source, joined)
        used: list[Span] = []
        left = [gap for gap in field.gaps if not field.text[gap.start : gap.stop].strip()]
        position = index = 0
        for gap in gaps:
            stop = position + gap.stop - gap.start
            inside: list[Match] = []
            while index < len(matches) and matches[index].target_start < stop:
                part = _part_of_match(matches[index], position, stop)
                inside += [part] if part.length else []
                if matches[index].target_start + matches[index].length > stop:
                    break  # the raw text contains a separator as well; the rest is for the next gap
                index += 1
            kept = _distinctive_matches(inside, joined, position, stop)
            used += [Span(match.source_start, match.source_start + match.length) for match in kept]
            shift = gap.start - position
            starts = [gap.start, *(match.target_start + match.length + shift for match in kept)]
            stops = [*(match.target_start + shift for match in kept), gap.stop]
            left += [Span(low, high) for low, high in zip(starts, stops, strict=True) if low < high]
            position = stop + len(_SEPARATOR)
        field.gaps = left
        return used

    def _settle_changes(self, field: _Field) -> None:
        """Call raw text altered whose place in a field other text has taken."""
        unexplained = set(field.gaps)
        changes = [(spans, target) for spans, target in field.changes if target in unexplained]
        for spans, _ in changes:
            for span in spans:
                self._claims.claim(span, Fate.ALTERED, field.name)
        replaced = {target for _, target in changes}
        field.gaps = [gap for gap in field.gaps if gap not in replaced]

    def _settle_rest(self) -> None:
        """Say what became of text that nothing has claimed."""
        for mark in self._parsed.strippable:
            for span in self._claims.free_spans(mark):
                self._claims.claim(span, Fate.MARKUP)
        for segment in self._parsed.segments:
            for span in self._claims.free_spans(segment.char_span):
                if segment.kind is SegmentKind.END:
                    self._claims.claim(span, Fate.END)
                elif segment.kind is SegmentKind.MARKUP or self._is_framing(span, segment):
                    self._claims.claim(span, Fate.MARKUP)

    def _is_framing(self, span: Span, segment: Segment) -> bool:
        """Return whether `span` is whitespace at the edge of text, which servers trim."""
        is_text = segment.kind in (SegmentKind.CONTENT, SegmentKind.REASONING)
        at_edge = span.start == segment.char_span.start or span.stop == segment.char_span.stop
        return is_text and at_edge and self._raw[span.start : span.stop].isspace()

    def _invented(self) -> tuple[str, ...]:
        invented: list[str] = []
        for field in self._fields:
            if field.unexplained():
                self._explain(field, self._raw)  # shown twice is not invented
            for gap in field.unexplained():
                is_all = field.text[gap.start : gap.stop].strip() == field.text.strip()
                invented.append(field.name if is_all else f"{field.name}[{gap.start}:{gap.stop}]")
        calls = (match.message_index for match in self._matches if match.raw_index is None)
        return (*invented, *(f"tool_calls[{number}]" for number in calls))


def _part_of_match(match: Match, start: int, stop: int) -> Match:
    """Return the part of a match that is inside a stretch of the target."""
    begin = max(match.target_start, start)
    end = max(min(match.target_start + match.length, stop), begin)
    return Match(match.source_start + begin - match.target_start, begin, end - begin)


def _distinctive_matches(matches: list[Match], text: str, start: int, stop: int) -> list[Match]:
    """Leave out matches too short to be more than an accident.

    A short one counts if it joins a counting one, or is all there is of `text[start:stop]`.
    """
    kept: list[Match] = []
    for match, following in zip(matches, [*matches[1:], None], strict=False):
        end = match.target_start + match.length
        follows = bool(kept) and kept[-1].target_start + kept[-1].length == match.target_start
        leads = following is not None and following.target_start == end and following.length >= _SHORTEST_MOVED
        is_all = text[match.target_start : end].strip() == text[start:stop].strip()
        if match.length >= _SHORTEST_MOVED or follows or leads or is_all:
            kept.append(match)
    return kept


def _fate(fate: Fate, *, is_altered: bool) -> Fate:
    return Fate.ALTERED if is_altered else fate


def _text_of(value: JSON) -> str:
    """Return the text of a content field: a string, or the texts of its parts."""
    if isinstance(value, str):
        return value
    parts = value if isinstance(value, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _merge(entries: Iterable[LedgerEntry]) -> tuple[LedgerEntry, ...]:
    """Join neighbours of the same fate and target; drop empty ones."""
    merged: list[LedgerEntry] = []
    for entry in entries:
        if entry.char_span.start == entry.char_span.stop:
            continue
        last = merged[-1] if merged else None
        if last is not None and last.fate is entry.fate and last.target == entry.target:
            merged[-1] = LedgerEntry(Span(last.char_span.start, entry.char_span.stop), entry.fate, entry.target)
        else:
            merged.append(entry)
    return tuple(merged)
