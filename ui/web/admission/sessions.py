"""Which open pages are remembered: gradio keeps what a page's last run left, and drops whose turn it is by age alone.

Here a visitor who opens many pages loses pages of their own; someone else's run stays. What goes first: pages that
hold nothing, then pages that were closed, then the ones that were quiet for longest; last, those whose event was let
in a moment ago.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from prompt_debugger.ui.web.admission.kinds import AdmissionLimits

EMPTY_KEEP_S = 20.0  # for a page that is closed and has nothing kept
UNHEARD_S = 20.0  # how long an event continues although its page does not listen for the answer


class Memory(Protocol):
    """What the server keeps of pages."""

    def holds(self, page: str) -> bool:
        """Return whether anything of worth is kept of a page: a run, a bundle, an event that is running."""
        ...

    def is_busy(self, page: str) -> bool:
        """Return whether an event of the page is running or waiting."""
        ...

    def forget(self, page: str) -> None:
        """Drop all that is kept of a page, and end what it has going on."""
        ...

    def end_old(self, page: str, age_s: float) -> None:
        """End what a page has waiting and going on if that began so long ago."""
        ...


@dataclass(slots=True)
class _Seen:
    visitor: str
    used_s: float
    streams: int = 0
    was_answered: bool = False


class Sessions:
    """The pages that are remembered, of one event loop."""

    def __init__(
        self,
        limits: AdmissionLimits,
        memory: Memory,
        is_coming: Callable[[str], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits = limits
        self._memory = memory
        self._is_coming = is_coming
        self._clock = clock
        self._pages: dict[str, _Seen] = {}

    def __len__(self) -> int:
        return len(self._pages)

    def is_known(self, page: str) -> bool:
        """Return whether a page is remembered."""
        return page in self._pages

    def visitor_of(self, page: str) -> str | None:
        """Return who opened a page."""
        seen = self._pages.get(page)
        return None if seen is None else seen.visitor

    def is_on_trial(self, page: str) -> bool:
        """Return whether a page has not had an answer yet."""
        seen = self._pages.get(page)
        return seen is None or not seen.was_answered

    def note_answered(self, page: str) -> None:
        """Note that all that a page asked for has been answered."""
        seen = self._pages.get(page)
        if seen is not None:
            seen.was_answered = True

    def use(self, page: str, visitor: str) -> None:
        """Note that a page was used; a new one may take the place of another."""
        seen = self._pages.get(page)
        if seen is not None:
            seen.used_s = self._clock()
            return
        self.forget_closed()
        own = [name for name, one in self._pages.items() if one.visitor == visitor]
        if len(own) >= self._limits.pages_per_visitor:
            self._forget_one(own)
        elif len(self._pages) >= self._limits.pages:
            counts = Counter(one.visitor for one in self._pages.values())
            [(greediest, _)] = counts.most_common(1)
            self._forget_one([name for name, one in self._pages.items() if one.visitor == greediest])
        self._pages[page] = _Seen(visitor, self._clock())

    def streams_of_visitor(self, visitor: str) -> int:
        """Return over how many connections a visitor listens."""
        return sum(one.streams for one in self._pages.values() if one.visitor == visitor)

    def streams_of(self, page: str) -> int:
        """Return over how many connections a page listens."""
        seen = self._pages.get(page)
        return 0 if seen is None else seen.streams

    def listen(self, page: str, change: int) -> None:
        """Note that a page listens over one connection more or less."""
        seen = self._pages.get(page)
        if seen is not None:
            seen.streams = max(0, seen.streams + change)
            seen.used_s = self._clock()

    def forget_closed(self) -> None:
        """Forget the pages that were closed a while ago."""
        now = self._clock()
        for page, seen in list(self._pages.items()):
            if seen.streams or self._is_coming(page) or seen.used_s > now - EMPTY_KEEP_S:
                continue
            keep_s = self._limits.keep_s if self._memory.holds(page) else EMPTY_KEEP_S
            if seen.used_s < now - keep_s and not self._memory.is_busy(page):
                self._forget(page)

    def end_unheard(self) -> None:
        """End what runs for pages that do not listen for the answer."""
        for page, seen in self._pages.items():
            if not seen.streams:
                self._memory.end_old(page, UNHEARD_S)

    def _forget_one(self, pages: list[str]) -> None:
        def worth(page: str) -> tuple[Any, ...]:
            seen = self._pages[page]
            return self._is_coming(page), self._memory.holds(page), seen.streams > 0, seen.used_s

        self._forget(min(pages, key=worth))

    def _forget(self, page: str) -> None:
        del self._pages[page]
        self._memory.forget(page)
