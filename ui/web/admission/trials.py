"""New pages: what costs much begins for a few of them at a time, until all that each asked for was answered once."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable

from prompt_debugger.ui.web.admission.counts import leaves_enough
from prompt_debugger.ui.web.admission.held import HeldEvents, Owner

PLACES = 8  # events of pages on trial that may be under way together
TRIAL_S = 5.0  # for which an event holds a place
_LOOK_S = 0.05


class Trials:
    """Lets costly events of pages on trial begin, few at once; for one event loop.

    A flood of ever new pages has used nothing under any name yet, so no account of what was used holds it back. But a
    page that someone looks at gets its first small answers within a moment; one of a flood asks for much at once and is
    left. So a page is on trial until all that it asked for has been answered once. What costs much begins for at most a
    few pages on trial together, for one address for no more than then stay free for others, and first for the page that
    has least under way. An event holds a place for some seconds only: what takes longer is held back elsewhere.
    """

    def __init__(
        self,
        under_way: Callable[[], Iterable[Owner]],
        is_on_trial: Callable[[str], bool],
        places: int | None = PLACES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._under_way = under_way
        self._is_on_trial = is_on_trial
        self._places = places
        self._clock = clock
        self._begun: list[tuple[Owner, float]] = []
        self._held = HeldEvents(self.let_in, _LOOK_S, clock)

    async def wait(self, owner: Owner) -> None:
        """Wait until an event of a page may begin: at once if the page is not on trial."""
        if self._places is not None and self._is_on_trial(owner.page):
            await self._held.wait(owner)

    def let_in(self) -> None:
        """Let those begin for whom there is a place, and those whose page is on trial no more."""
        self._forget()
        while self._held.all:
            had = Counter(owner for owner, _ in self._begun)
            of_visitor = Counter(owner.visitor for owner, _ in self._begun)
            may = [held for held in self._held.all if self._has_place(held.owner, of_visitor)]
            if not may:
                return
            held = min(may, key=lambda one: (of_visitor[one.owner.visitor], had[one.owner], one.came_s))
            if self._is_on_trial(held.owner.page):
                self._begun.append((held.owner, self._clock()))
            self._held.begin(held)

    def _has_place(self, owner: Owner, of_visitor: Counter[str]) -> bool:
        assert self._places is not None, "nobody is held back otherwise"
        is_free = leaves_enough(of_visitor[owner.visitor], of_visitor.total(), self._places)
        return is_free or not self._is_on_trial(owner.page)

    def _forget(self) -> None:
        """Free the places of events that have ended or went on for long; one that just began may not be there yet."""
        now_s, there = self._clock(), set(self._under_way())
        self._begun = [
            (owner, at_s)
            for owner, at_s in self._begun
            if self._is_on_trial(owner.page)
            and now_s - at_s < TRIAL_S
            and (owner in there or now_s - at_s < 2 * _LOOK_S)
        ]
