"""Who owns each character of a raw text, while the ledger is being made."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import groupby

from prompt_debugger.core.base.types import Fate, LedgerEntry, Span

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
        """Return the stretches of `span` that nobody claimed."""
        free: list[Span] = []
        position = span.start
        for code, run in groupby(self._codes[span.start : span.stop]):
            length = sum(1 for _ in run)
            if code == 0:
                free.append(Span(position, position + length))
            position += length
        return free

    def entries(self) -> Iterator[LedgerEntry]:
        """Yield the account, one entry per owner and stretch; unclaimed text is lost."""
        position = 0
        for code, run in groupby(self._codes):
            length = sum(1 for _ in run)
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
        """Return the stretches behind `self.text[start:stop]`; asked from left to right."""
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
