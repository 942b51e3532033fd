"""Fair turns at a scarce resource: the address that has used least of it is next, with its page that has used least.

What was used is forgotten by half in half a minute. All pages that used much recently share one worker between them, so
that a short question of another page is asked at once, however many long ones wait. The other pages of an address that
used much share one, too, while other addresses are there. A visitor is named `ADDRESS/PAGE`; "" is no one in
particular, who has no share and is charged nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from enum import Enum

from prompt_debugger.core.base.quota import Quota

MUCH_S = 1.0  # of one page, used recently
MUCH_AT_ONE_ADDRESS_S = 4.0
_HALF_S = 30.0
_ALONE_S = 60.0  # this long after the last of the others, a visitor has all workers to themselves
_MAX_NAMES = 2_000


class Lane(Enum):
    """Which workers someone gets."""

    USUAL = "usual"
    CROWDED = "crowded"  # of low priority: for pages that used little, of an address that used much
    HEAVY = "heavy"  # of low priority: for pages that used much


class _Company:
    """Whether others were there recently."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last: tuple[str, float] = ("", 0.0)  # who was there last, and when
        self._other_s: float | None = None  # when the last of the others was there

    def note(self, name: str) -> None:
        if self._last[0] not in ("", name):
            self._other_s = self._last[1]
        self._last = (name, self._clock())

    def was_there(self) -> bool:
        return self._other_s is not None and self._clock() - self._other_s < _ALONE_S


class Fairness:
    """What visitors used of workers recently, of one sandbox or of several; from any thread.

    Args:
        clock: Seconds.

    Attributes:
        ends_jobs: Whether a long job is ended for others who wait, as strangers do; on one's own machine both are one's
            own.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.ends_jobs = False
        self._clock = clock
        self._lock = threading.RLock()
        self._spent = Quota(_HALF_S, _MAX_NAMES, clock)
        self._pages = _Company(clock)
        self._addresses = _Company(clock)

    def note(self, owner: str) -> None:
        """Remember that a visitor is there."""
        if owner:
            with self._lock:
                self._pages.note(owner)
                self._addresses.note(owner.partition("/")[0])

    def is_shared(self) -> bool:
        """Return whether more than one page was there recently."""
        return self._pages.was_there()

    def has_other_addresses(self) -> bool:
        """Return whether pages of more than one address were there recently."""
        return self._addresses.was_there()

    def lane_of(self, owner: str) -> Lane:
        """Return which workers a visitor gets: anyone who is alone gets all there is."""
        address_s, page_s = self.used(owner)
        if page_s > MUCH_S and self.is_shared():
            return Lane.HEAVY
        if address_s > MUCH_AT_ONE_ADDRESS_S and self.has_other_addresses():
            return Lane.CROWDED
        return Lane.USUAL

    def charge(self, owner: str, seconds: float) -> None:
        """Charge a visitor, and the address they come from."""
        with self._lock:
            for name in _names(owner) if owner else ():
                self._spent.charge(name, seconds)

    def used(self, owner: str) -> tuple[float, float]:
        """Return what an address used recently, then its page: the one with less of the first goes first."""
        return self.used_by_all([owner])[owner]

    def used_by_all(self, owners: Iterable[str]) -> dict[str, tuple[float, float]]:
        """Return what each used, at one moment: a while later all used a little less, which is no difference."""
        names = {owner: _names(owner) for owner in owners}
        with self._lock:
            spent = self._spent.of_all({name for pair in names.values() for name in pair})
        return {owner: (spent[address], spent[page]) for owner, (address, page) in names.items()}


def _names(owner: str) -> tuple[str, str]:
    return (owner.partition("/")[0] + "/", owner) if owner else ("", "")
