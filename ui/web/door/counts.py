"""How much of each kind is in use, by page and by visitor: counts and times, never a text."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from prompt_debugger.ui.web.door.kinds import DoorLimits, Kind
from prompt_debugger.ui.web.door.payloads import PayloadError

_MINUTE_S = 60.0
_MAX_NAMES = 4_000
_LATER = "Try again in a minute, or run the program on your own machine."


class Use(NamedTuple):
    """One event that goes on or waits.

    Attributes:
        kind: What it is.
        page: Session of the page it came from.
        visitor: Who opened that page.
    """

    kind: Kind
    page: str
    visitor: str


class Counts:
    """Who may start one more event of a kind.

    Attributes:
        limits: What there is to share.
    """

    def __init__(self, limits: DoorLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self._starts = _Starts(clock)

    def check(self, use: Use, in_use: Iterable[Use]) -> None:
        """Let one more event in and count it.

        Args:
            use: The event.
            in_use: The ones that go on or wait.

        Raises:
            PayloadError: The page, the visitor or all together have what they may have.
        """
        share = self.limits.shares[use.kind]
        same = [one for one in in_use if one.kind is use.kind]
        if sum(one.page == use.page for one in same) >= share.per_page:
            raise PayloadError(
                f"This page has {share.per_page} {use.kind} going on: wait for an end, or stop one.", 429
            )
        if Counter(one.visitor for one in same)[use.visitor] >= share.per_visitor:
            raise PayloadError(f"Your address has {share.per_visitor} {use.kind} in line. {_LATER}", 429)
        if len(same) >= share.total:
            raise PayloadError(f"{len(same)} {use.kind} of other visitors are in line. {_LATER}", 429)
        self._starts.count((use.kind, "page", use.page), share.page_minute, f"{use.kind} of this page")
        self._starts.count((use.kind, "visitor", use.visitor), share.visitor_minute, f"{use.kind} of your address")

    def check_new_page(self, visitor: str) -> None:
        """Count one more page of a visitor.

        Raises:
            PayloadError: Too many were opened within a minute.
        """
        self._starts.count(("pages", "visitor", visitor), self.limits.new_pages_minute, "pages of your address")


class _Starts:
    """Times at which something began, by name; as many names as stay bounded."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._times: OrderedDict[tuple[str, str, str], deque[float]] = OrderedDict()

    def count(self, name: tuple[str, str, str], most: int | None, words: str) -> None:
        """Count one beginning; refuse it if there were `most` within the last minute."""
        if most is None:
            return
        now = self._clock()
        times = self._times.setdefault(name, deque())
        self._times.move_to_end(name)
        while times and times[0] <= now - _MINUTE_S:
            times.popleft()
        if len(times) >= most:
            wait_s = max(1, round(times[0] + _MINUTE_S - now))
            raise PayloadError(f"{most} {words} were started within a minute: go on in {wait_s} s.", 429)
        times.append(now)
        while len(self._times) > _MAX_NAMES:
            self._times.popitem(last=False)
