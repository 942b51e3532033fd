"""Whose turn it is at something that few can have at once: the visitor who had least of it recently.

What a visitor used is forgotten by half in half a minute. All who used much recently share one worker between them, so
that a short question of someone else is asked at once, however many long ones wait. A visitor is named `ADDRESS/PAGE`;
"" is no one in particular, who has no share and is charged nothing.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from prompt_debugger.core.base.quota import Quota

MUCH_S = 1.0  # of one page, used recently
MUCH_AT_ONE_ADDRESS_S = 4.0
NEW_PAGE_S = 20.0  # as long as a page is new, what its address used counts, too
_HALF_S = 30.0
_ALONE_S = 60.0  # this long after the last of the others, a visitor has all workers to themselves
_MAX_NAMES = 2_000


class Fairness:
    """What visitors used of the workers recently; for the holder of the workers' lock.

    Args:
        clock: Seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._spent = Quota(_HALF_S, _MAX_NAMES, clock)
        self._seen_s: OrderedDict[str, float] = OrderedDict()
        self._last: tuple[str, float] = ("", 0.0)  # the address that was there last
        self._other_s: float | None = None  # when the last of another address was there

    def note(self, owner: str) -> None:
        """Remember that a visitor is there."""
        address, now_s = owner.partition("/")[0], self._clock()
        if address:
            if self._last[0] not in ("", address):
                self._other_s = self._last[1]
            self._last = (address, now_s)
        self._seen_s.setdefault(owner, self._clock())
        while len(self._seen_s) > _MAX_NAMES:
            self._seen_s.popitem(last=False)

    def is_shared(self) -> bool:
        """Return whether visitors of more than one address were there recently."""
        return self._other_s is not None and self._clock() - self._other_s < _ALONE_S

    def charge(self, owner: str, seconds: float) -> None:
        """Charge a visitor, and the address they come from."""
        for name in _names(owner):
            self._spent.charge(name, seconds)

    def used(self, owner: str) -> tuple[float, ...]:
        """Return what a page used recently, then its address: the one with less of both goes first."""
        return tuple(self._spent.of(name) for name in _names(owner))

    def had_much(self, owner: str) -> bool:
        """Return whether a visitor is to share a worker with others who used much."""
        page, address = self.used(owner) or (0.0, 0.0)
        if page > MUCH_S:
            return True
        is_new = self._clock() - self._seen_s.get(owner, 0.0) < NEW_PAGE_S
        return is_new and address > MUCH_AT_ONE_ADDRESS_S


def _names(owner: str) -> tuple[str, ...]:
    return (owner, owner.partition("/")[0] + "/") if owner else ()
