"""Known secrets, and long parts of them, found in any text; the time grows with the text alone.

A text is looked through once, whatever the number and the length of the secrets: every stretch of twelve characters
is looked up in a table of those of all secrets, and what is found is followed as far as text and secret agree.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

COVER = "•"
SHORTEST = 4  # a shorter value of a secret field would cover half of any text
FRAGMENT = 12  # as many characters of a secret are still one: quotes and excerpts cut texts anywhere
_MAX_STRETCHES = 100_000  # of very long secrets every second, third, … stretch is kept, so that the table stays small


class _Place(NamedTuple):
    secret: str
    start: int


class SecretCover:
    """Covers some secrets in texts; made once for a whole run."""

    def __init__(self, secrets: Iterable[str]) -> None:
        spelled = {spelling for secret in secrets for spelling in _spellings(secret)}
        self.is_idle = not spelled
        self._short: dict[int, set[str]] = {}
        self._places: dict[str, _Place] = {}
        long = []
        for secret in sorted(spelled, key=lambda text: (-len(text), text)):
            if len(secret) >= FRAGMENT:
                long.append(secret)
            elif len(secret) >= SHORTEST:
                self._short.setdefault(len(secret), set()).add(secret)
        self._step = 1 + sum(map(len, long)) // _MAX_STRETCHES
        for secret in long:
            for start in range(0, len(secret) - FRAGMENT + 1, self._step):
                self._places.setdefault(secret[start : start + FRAGMENT], _Place(secret, start))

    def cover(self, text: str, masked: str) -> str:
        """Return `masked`, which is as long as `text`, with what is secret in `text` covered, too."""
        spans = [*self._long_spans(text), *self._short_spans(text)]
        if not spans:
            return masked
        covered = list(masked)
        for start, stop in spans:
            covered[start:stop] = COVER * (stop - start)
        return "".join(covered)

    def _long_spans(self, text: str) -> Iterable[tuple[int, int]]:
        if not self._places:
            return
        at, last = 0, len(text) - FRAGMENT
        while at <= last:
            place = self._places.get(text[at : at + FRAGMENT])
            if place is None:
                at += 1
                continue
            start, stop = self._stretch(text, at, place)
            yield start, stop
            at = max(stop - FRAGMENT, at) + 1

    def _stretch(self, text: str, at: int, place: _Place) -> tuple[int, int]:
        """Return how far text and secret agree around a place where they do."""
        secret, known = place
        before = 0
        while before < min(self._step, at, known) and text[at - before - 1] == secret[known - before - 1]:
            before += 1
        length, most = FRAGMENT, min(len(text) - at, len(secret) - known)
        while length < most and text[at + length] == secret[known + length]:
            length += 1
        return at - before, at + length

    def _short_spans(self, text: str) -> Iterable[tuple[int, int]]:
        for length, secrets in self._short.items():
            for start in range(len(text) - length + 1):
                if text[start : start + length] in secrets:
                    yield start, start + length


def _spellings(secret: str) -> Iterable[str]:
    """Return a secret as it is in plain text and inside JSON strings."""
    return secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]
