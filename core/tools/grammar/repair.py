"""The change to an output after which a grammar lets most of the rest pass, so that what follows can be judged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from prompt_debugger.core.base.structural_tag import GrammarPlan
from prompt_debugger.core.tools.grammar.matcher import GrammarMatcher, Walk

_SKIPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_LOOK_AHEAD = 3


class Repair(NamedTuple):
    """A change at one place: bytes left out, bytes put in."""

    at: int
    removed: bytes
    inserted: bytes

    def apply(self, data: bytes) -> bytes:
        """Return `data` with the change made."""
        return data[: self.at] + self.inserted + data[self.at + len(self.removed) :]

    def describe(self) -> str:
        """Return the change in words."""
        parts = [("leaving out", self.removed), ("putting in", self.inserted)]
        return " and ".join(f"{verb} {data.decode('utf-8', 'replace')!r}" for verb, data in parts if data)


def find_repair(matcher: GrammarMatcher, plan: GrammarPlan, data: bytes, at: int, walk: Walk) -> Repair | None:
    """Return the change after which most of `data` passes, `None` if none gets beyond the next few bytes."""
    best: tuple[int, Repair] | None = None
    for repair in _candidates(data, at, walk):
        if matcher.limits_reached:
            break
        changed = repair.apply(data)
        gained = matcher.walk(plan, changed).accepted - at - len(repair.inserted)
        left = len(data) - at - len(repair.removed)
        worth = gained - 2 * len(repair.removed) - len(repair.inserted)
        if gained > min(_LOOK_AHEAD, left - 1) and (best is None or worth > best[0]):
            best = worth, repair
    return None if best is None else best[1]


def original_place(place: int, repairs: list[Repair]) -> int:
    """Return where a byte of repaired data was before the repairs, all of which come before it."""
    for repair in reversed(repairs):
        after = repair.at + len(repair.inserted)
        place = place - len(repair.inserted) + len(repair.removed) if place >= after else repair.at
    return place


def _candidates(data: bytes, at: int, walk: Walk) -> Iterator[Repair]:
    for size in _SKIPS:
        if at + size < len(data) and _is_edge(data, at + size):
            yield Repair(at, data[at : at + size], b"")
    ahead = data[at : at + _LOOK_AHEAD]
    seen = set()
    for sample in walk.samples:
        wanted = sample.encode()
        found = wanted.find(ahead) if ahead else -1
        for inserted in (wanted[: max(found, 0)], wanted):
            if inserted and inserted not in seen:
                seen.add(inserted)
                yield Repair(at, b"", inserted)


def _is_edge(data: bytes, at: int) -> bool:
    """Return whether a character begins at a byte."""
    return data[at] & 0xC0 != 0x80
