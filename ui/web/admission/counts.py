"""How much of each kind is in use, by page and by visitor: counts and times, never a text."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from prompt_debugger.ui.web.admission.kinds import AdmissionLimits, Kind
from prompt_debugger.ui.web.admission.payloads import PayloadError

_MINUTE_S = 60.0
_MAX_NAMES = 4_000
_FEW = 8  # an address with fewer has room for all its pages
_SMALL_BYTES = 64_000
_LATER = "Try again in a minute, or run the program on your own machine."


class Use(NamedTuple):
    """One event that is running or waiting."""

    kind: Kind
    page: str
    visitor: str
    size_bytes: int = 0


def leaves_enough(own: float, of_all: float, total: float, more: float = 1) -> bool:
    """Return whether a visitor may have more of something: at most as much as then stays free for others.

    One visitor gets half of it, and of two, five or ten who take all they can there is always room for one more;
    who has nothing yet gets some as long as there is any.
    """
    free = total - of_all - more
    return free >= 0 and (own == 0 or own + more <= free)


def leaves_neighbours(of_page: float, own: float, of_all: float, total: float) -> bool:
    """Return whether a page that has some already may have one more without taking what its neighbours need.

    Many visitors may come from one address: a class, an office, a network of containers. Pages with more than one
    take at most a quarter of what their address may have; the rest is for those that have none yet.
    """
    return of_page == 0 or own < _FEW or leaves_enough(4 * own, of_all + 3 * own, total)


class Counts:
    """Who may start one more event of a kind."""

    def __init__(self, limits: AdmissionLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self._starts = _Starts(clock)

    def check(self, use: Use, in_use: Sequence[Use]) -> None:
        """Let one more event in and count it.

        Raises:
            PayloadError: The page, the visitor or all together have what they may have.
        """
        share = self.limits.shares[use.kind]
        same = [one for one in in_use if one.kind is use.kind]
        of_page = sum(one.page == use.page for one in same)
        if of_page >= share.per_page:
            raise PayloadError(
                f"This page has {share.per_page} {use.kind} in progress: wait for one to end, or stop one.", 429
            )
        own = sum(one.visitor == use.visitor for one in same)
        n_all, total = len(same), share.total
        if not (leaves_enough(own, n_all, total) and leaves_neighbours(of_page, own, n_all, total)):
            raise PayloadError(f"{_whose(own)} {use.kind} in the queue, {len(same)} of all visitors. {_LATER}", 429)
        self._check_bytes(use, in_use)
        self._starts.count((use.kind, "page", use.page), share.page_minute, f"{use.kind} of this page")
        name = (use.kind, "visitor", use.visitor)
        self._starts.count(name, share.visitor_minute, f"{use.kind} of your address", page=use.page)

    def _check_bytes(self, use: Use, in_use: Sequence[Use]) -> None:
        own = sum(one.size_bytes for one in in_use if one.visitor == use.visitor)
        of_all = sum(one.size_bytes for one in in_use)
        total = self.limits.waiting_bytes
        is_small = use.size_bytes <= _SMALL_BYTES and of_all + use.size_bytes <= total  # their number is limited
        if not is_small and not leaves_enough(own, of_all, total, use.size_bytes):
            raise PayloadError(
                f"The queue contains {of_all / 1000000.0:,.0f} MB, {own / 1000000.0:,.0f} MB of it yours. {_LATER}", 429
            )

    def check_new_page(self, visitor: str) -> None:
        """Count one more page of a visitor.

        Raises:
            PayloadError: Too many were opened within a minute.
        """
        self._starts.count(("pages", "visitor", visitor), self.limits.new_pages_minute, "pages of your address")

    def pages_opened(self, visitor: str) -> int:
        """Return how many pages a visitor opened within the last minute, where that is limited."""
        return self._starts.of(("pages", "visitor", visitor))


def _whose(own: int) -> str:
    return f"Your address has {own}" if own else "There are too many"


@dataclass(slots=True)
class _Began:
    """What began within the last minute: when, and how often for each page."""

    times: deque[tuple[float, str]] = field(default_factory=deque)
    by_page: Counter[str] = field(default_factory=Counter)

    def forget(self, until_s: float) -> None:
        while self.times and self.times[0][0] <= until_s:
            _, page = self.times.popleft()
            self.by_page[page] -= 1
            if not self.by_page[page]:
                del self.by_page[page]

    def had_less_than_others(self, page: str, most: int) -> bool:
        """Return whether a page began less often than if all pages of its address had begun equally often."""
        own = self.by_page.get(page, 0)
        return bool(page) and own < most // (len(self.by_page) + (own == 0))


class _Starts:
    """Times at which something began, by name; as many names as stay bounded."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began: OrderedDict[tuple[str, str, str], _Began] = OrderedDict()

    def count(self, name: tuple[str, str, str], most: int | None, words: str, page: str = "") -> None:
        """Count one beginning; refuse it if there were `most` within the last minute.

        Of an address that had as many, a page that had less than its even share of them still begins.
        """
        if most is None:
            return
        now = self._clock()
        began = self._began.setdefault(name, _Began())
        self._began.move_to_end(name)
        began.forget(now - _MINUTE_S)
        if len(began.times) >= most and not began.had_less_than_others(page, most):
            wait_s = max(1, round(began.times[0][0] + _MINUTE_S - now))
            raise PayloadError(f"{most} {words} were started within a minute: continue in {wait_s} s.", 429)
        began.times.append((now, page))
        began.by_page[page] += 1
        while len(self._began) > _MAX_NAMES:
            self._began.popitem(last=False)

    def of(self, name: tuple[str, str, str]) -> int:
        """Return how much of a name began within the last minute."""
        began = self._began.get(name)
        if began is None:
            return 0
        began.forget(self._clock() - _MINUTE_S)
        return len(began.times)
