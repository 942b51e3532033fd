"""Runs -> spans: positions in the template, exact pieces of escapes, and a check of each.

A row is one span as a plain tuple, so that it can cross a process boundary cheaply.
Whatever a row claims is checked against the text: request and template rows must
repeat their origin, escaped rows must be what the escape makes of it. A row that
fails is marked unknown.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from prompt_debugger.core.base.types import SpanKind
from prompt_debugger.core.render.trace.dumps import Dump
from prompt_debugger.core.render.trace.runs import (
    EscapedField,
    Field,
    Run,
    RunKind,
    Runs,
    expand,
    spend,
    total_length,
    unknown_runs,
)
from prompt_debugger.core.render.trace.shelf import Shelf
from prompt_debugger.core.render.trace.strings import TracedStr, plain

_LONG = 200  # characters of a serialised value that is worth remembering
_ROW_WEIGHT = 100  # of a row, in characters
_KNOWN: Shelf[tuple[str, _Found]] = Shelf(10_000_000)  # rows of such values, with the text that they are of
_FINE_PIECES = 20_000  # pieces of one escaped field that are distinguished; beyond, the range is enough

# ASCII that no escape touches, anything beyond ASCII, or one character that may be escaped.
_PIECES = re.compile(r"[ !#-%(-;=?-\[\]-~]+|[^\x00-\x7f]+|[\x00-\x7f]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")

_PLAIN_KINDS = {
    RunKind.SCALAR: SpanKind.SCALAR,
    RunKind.STRUCTURE: SpanKind.STRUCTURE,
    RunKind.ENVIRONMENT: SpanKind.ENVIRONMENT,
    RunKind.COMPUTED: SpanKind.COMPUTED,
    RunKind.UNKNOWN: SpanKind.UNKNOWN,
}
_MERGED_KINDS = frozenset(
    {SpanKind.REQUEST, SpanKind.STRUCTURE, SpanKind.ENVIRONMENT, SpanKind.COMPUTED, SpanKind.UNKNOWN}
)


class Row(NamedTuple):
    """One span.

    Attributes:
        length: Characters it covers.
        kind: What produced it.
        field: Field path, if any.
        start: First character of the field, -1 without a range.
        stop: After the last one, -1 without a range.
        offset: Template offset of the literal, or of the expression that printed it; -1 if not known.
    """

    length: int
    kind: SpanKind
    field: str | None = None
    start: int = -1
    stop: int = -1
    offset: int = -1


def build_rows(text: TracedStr, source: str) -> list[Row]:
    """Return the spans of a traced text; they tile it. Newlines of the template's `source` are normalised."""
    whole = plain(text)
    runs = text._runs
    if total_length(runs) != len(whole):
        runs = unknown_runs(len(whole))
    rows: list[Row] = []
    position = count = 0
    for is_long, group in groupby(runs, _is_long_dump):
        for part in [(run,) for run in group] if is_long else [tuple(group)]:
            length = total_length(part)
            shown = whole[position : position + length]
            found = _known_rows(part[0], shown, source) if is_long else _made_rows(expand(part), shown, source)
            count += found.runs
            _extend(rows, found.rows)
            position += length
    spend(count)
    return rows


class _Found(NamedTuple):
    """Rows of a stretch of text, and how many runs they were made of."""

    rows: Sequence[Row]
    runs: int


def _made_rows(runs: Runs, shown: str, source: str) -> _Found:
    """Return the rows of runs without dumps."""
    rows: list[Row] = []
    position = 0
    for run in runs:
        for row in _rows_of(run, shown[position : position + run.length], source):
            _append(rows, row)
        position += run.length
    return _Found(rows, len(runs))


def _is_long_dump(run: Run) -> bool:
    """Return whether a run is a whole value of the request, serialised, and worth remembering."""
    source = run.source
    is_whole = run.kind is RunKind.DUMP and run.length > _LONG and (run.start, run.stop) == (0, run.length)
    return is_whole and isinstance(source, Dump) and source.is_of_request


def _known_rows(run: Run, shown: str, source: str) -> _Found:
    """Return the rows of a whole serialised value; many requests have the same tools, which are taken apart once."""
    dump = run.source
    assert isinstance(dump, Dump)
    key = dump.key if dump.text == shown else None
    if key is None:
        return _made_rows(expand((run,)), shown, source)
    known = _KNOWN.get((key, run.site))
    if known is None or known[0] != shown:
        found = _made_rows(expand((run,)), shown, source)
        _KNOWN.keep((key, run.site), (shown, found), len(shown) + _ROW_WEIGHT * len(found.rows))
        return found
    spend(2 * known[1].runs)  # as taking it apart does
    return known[1]


def _extend(rows: list[Row], more: Sequence[Row]) -> None:
    """Add rows that do not continue each other; the first may continue the last that is there."""
    if more:
        _append(rows, more[0])
        rows.extend(more[1:])


def _append(rows: list[Row], row: Row) -> None:
    """Add a row, or lengthen the last one if the two say the same of adjoining stretches."""
    last = rows[-1] if rows else None
    if (
        last is not None
        and row.kind in _MERGED_KINDS
        and last.kind is row.kind
        and last.field == row.field
        and last.offset == row.offset
        and last.stop == row.start
    ):
        rows[-1] = last._replace(length=last.length + row.length, stop=row.stop)
    else:
        rows.append(row)


def _rows_of(run: Run, shown: str, source: str) -> Iterator[Row]:
    kind = run.kind
    if kind is RunKind.LITERAL:
        return _literal_rows(run, shown, source)
    if kind is RunKind.LITERAL_CHANGED:
        return iter((Row(run.length, SpanKind.TEMPLATE, offset=run.start),))
    if kind is RunKind.COPY or kind is RunKind.CASED:
        return iter((_copied_row(run, shown),))
    if kind is RunKind.ESCAPED:
        return _escaped_rows(run, shown)
    field = run.source.path if isinstance(run.source, Field) else None
    if kind is RunKind.STRUCTURE and field is None and run.site >= 0:  # of a list or object that the template made
        return iter((Row(run.length, SpanKind.TEMPLATE, offset=run.site),))
    return iter((Row(run.length, _PLAIN_KINDS[kind], field, offset=run.site),))


def _literal_rows(run: Run, shown: str, source: str) -> Iterator[Row]:
    """Yield one row per template line, so that every row names its own line."""
    if source[run.start : run.stop] != shown:
        yield Row(run.length, SpanKind.UNKNOWN)
        return
    offset = run.start
    for line in _LINES.findall(shown):
        yield Row(len(line), SpanKind.TEMPLATE, offset=offset)
        offset += len(line)


def _copied_row(run: Run, shown: str) -> Row:
    assert isinstance(run.source, Field)
    original = (run.source.text or "")[run.start : run.stop]
    if original == shown:
        kind = SpanKind.REQUEST
    elif run.kind is RunKind.CASED and original.casefold() == shown.casefold():
        kind = SpanKind.ESCAPED
    else:
        return Row(run.length, SpanKind.UNKNOWN)
    return Row(run.length, kind, run.source.path, run.start, run.stop, run.site)


def _escaped_rows(run: Run, shown: str) -> Iterator[Row]:
    """Tell the escapes apart from the characters between them, where that can be proved."""
    assert isinstance(run.source, EscapedField)
    field, encode = run.source.field, run.source.encode
    original = (field.text or "")[run.start : run.stop]
    whole = Row(run.length, SpanKind.ESCAPED, field.path, run.start, run.stop, run.site)
    if encode is None:
        yield whole
        return
    if encode(original) != shown:
        yield Row(run.length, SpanKind.UNKNOWN)
        return
    pieces = _PIECES.findall(original)
    if len(pieces) > _FINE_PIECES:
        yield whole
        return
    made = [encode(piece) for piece in pieces]
    if "".join(made) != shown:  # what became of a character depends on its neighbours
        yield whole
        return
    position = run.start
    for piece, text in zip(pieces, made, strict=True):
        kind = SpanKind.REQUEST if piece == text else SpanKind.ESCAPED
        yield Row(len(text), kind, field.path, position, position + len(piece), run.site)
        position += len(piece)


class SourceMap:
    """Lines and columns of a template, looked up by offset."""

    def __init__(self, source: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", source))]
        self._known: dict[int, tuple[int, int]] = {}  # no more than the source has characters

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return line and column, both from 1."""
        found = self._known.get(offset)
        if found is None:
            index = bisect_right(self._starts, offset) - 1
            found = self._known[offset] = index + 1, offset - self._starts[index] + 1
        return found


@lru_cache(maxsize=32)
def source_map(source: str) -> SourceMap:
    """Return the lines and columns of a template, which every render of it asks for."""
    return SourceMap(source)
