"""Who cost the page much recently, and how long their next event waits while the page has others to serve.

All events are taken in by one process, hostile ones as fast as honest ones. Each visitor is charged for the processor
time of their events, and a little for each event itself; half of a charge is gone after 20 s.

An event is held back while others wait, or the loop is late, if its visitor cost far more than the other visitors, or
its page far more than another page of the same visitor. A page that cost little does not wait because of its visitor's
other pages, unless such pages together cost much. Events that are held back form one line: every quarter of a second
one of them begins, of the visitor who cost least the page that cost least. So no one is shut out, a page next to forty
greedy ones comes next, and a visitor who is alone never waits.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextvars import ContextVar
from statistics import median
from typing import Any, Protocol, TypeVar

from prompt_debugger.core.base.quota import Quota
from prompt_debugger.ui.web.admission.held import HeldEvents, Owner

HALF_S = 20.0
THERE_S = 30.0  # so long after their last event a visitor counts among those who are there
EVENT_COST_S = 0.04  # of an event that comes, whatever becomes of it: about what one costs until its end
FREE_S = 1.0  # who cost less recently is never held back
PAGE_FREE_S = 0.25  # likewise of one page among others of an address
CHEAP_S = 1.0  # that all such pages of an address cost together; beyond it they are few that cost little
FAR_ABOVE = 4.0  # times the median of the others
LATE_S = 0.1
LOOK_S = 0.25
_FREE_LOOK_S = 0.025  # where there is no one else to serve
_BEAT_S = 0.1
_MAX_NAMES = 1_000
_MAX_PAGES = 256  # of one visitor
_MANY_PAGES = 128  # opened within a minute: more are not pages that someone looks at

T = TypeVar("T")

# Returns what the page whose event is under way cost recently.
PAGE_COST: ContextVar[Callable[[], float]] = ContextVar("what the page of this event cost", default=float)


class Charges:
    """What visitors and their pages cost recently, in seconds of the page's process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, opened: Callable[[str], int] = lambda _: 0) -> None:
        self._visitors = Quota(HALF_S, _MAX_NAMES, clock)
        self._pages: OrderedDict[str, Quota] = OrderedDict()  # of each visitor
        self._cheap = Quota(HALF_S, _MAX_NAMES, clock)  # what pages of a visitor cost while each had cost little
        self._opened = opened
        self._clock = clock

    def charge(self, owner: Owner, seconds: float) -> None:
        """Charge a visitor, and their page if it is known."""
        self._visitors.charge(owner.visitor, seconds)
        if owner.page:
            self.charge_page(owner, seconds)

    def charge_page(self, owner: Owner, seconds: float) -> None:
        """Charge a page with what its visitor was charged with already."""
        pages = self._pages.setdefault(owner.visitor, Quota(HALF_S, _MAX_PAGES, self._clock))
        self._cheap.charge(owner.visitor, max(0.0, min(seconds, PAGE_FREE_S - pages.of(owner.page))))
        pages.charge(owner.page, seconds)
        self._pages.move_to_end(owner.visitor)
        while len(self._pages) > _MAX_NAMES:
            self._pages.popitem(last=False)

    def of(self, owner: Owner) -> float:
        """Return what a visitor, or a page, cost recently."""
        if not owner.page:
            return self._visitors.of(owner.visitor)
        pages = self._pages.get(owner.visitor)
        return 0.0 if pages is None else pages.of(owner.page)

    def of_all(self, owners: Iterable[Owner]) -> dict[Owner, tuple[float, float]]:
        """Return what the visitor and the page of each cost recently, all at one moment.

        A little later all have cost a little less: of two moments, the later would be the cheaper.
        """
        those = set(owners)
        visitors = self._visitors.of_all({owner.visitor for owner in those})
        pages = {
            visitor: self._of_pages(visitor, [one.page for one in those if one.visitor == visitor])
            for visitor in visitors
        }
        return {owner: (visitors[owner.visitor], pages[owner.visitor][owner.page]) for owner in those}

    def _of_pages(self, visitor: str, names: list[str]) -> dict[str, float]:
        pages = self._pages.get(visitor)
        return dict.fromkeys(names, 0.0) if pages is None else pages.of_all(names)

    def is_far_above(self, owner: Owner) -> bool:
        """Return whether an event is of someone who cost far more than others who are there; never, if there are none.

        Visitors are compared with visitors. A page that cost little itself is not far above, whatever its visitor cost,
        as long as such pages cost little together; a page that cost far more than the cheapest other page of its
        visitor always is.
        """
        has_pages = owner.page != "" and self._opened(owner.visitor) <= _MANY_PAGES  # else they are but names
        is_cheap = self._cheap.of(owner.visitor) <= CHEAP_S
        if has_pages and is_cheap and self.of(owner) <= PAGE_FREE_S:
            return False
        return self._is_far_above_visitors(owner.visitor) or (has_pages and self._is_far_above_neighbours(owner))

    def _is_far_above_visitors(self, visitor: str) -> bool:
        own = self._visitors.of(visitor)
        if own <= FREE_S:
            return False
        others = [self._visitors.of(name) for name in self._visitors.since(THERE_S) if name != visitor]
        return bool(others) and own > FAR_ABOVE * median(others)

    def _is_far_above_neighbours(self, owner: Owner) -> bool:
        pages = self._pages[owner.visitor]
        others = [pages.of(page) for page in pages.since(THERE_S) if page != owner.page]
        return bool(others) and pages.of(owner.page) > FAR_ABOVE * min(others)


class Bill:
    """What one event costs; what was charged before its page was known goes to that, too."""

    def __init__(self, charges: Charges, visitor: str) -> None:
        self._charges = charges
        self._owner = Owner(visitor)
        self._before_s = 0.0

    def charge(self, seconds: float) -> None:
        """Charge for some work."""
        self._charges.charge(self._owner, seconds)
        self._before_s += 0.0 if self._owner.page else seconds

    def is_of(self, owner: Owner) -> None:
        """Learn whose event it is."""
        self._owner = owner
        self._charges.charge_page(owner, self._before_s)
        self._before_s = 0.0

    def of_page(self) -> float:
        """Return what the event's page cost recently."""
        return self._charges.of(self._owner)


class Pacing:
    """Whether an event may begin now, and who of those held back is next."""

    def __init__(
        self,
        charges: Charges,
        waiting: Callable[[], Iterable[Owner]],
        late_s: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._charges = charges
        self._waiting = waiting
        self._late_s = late_s
        self._clock = clock
        self._let_in_s = self._freed_s = clock() - LOOK_S
        self._held = HeldEvents(self.let_in, _FREE_LOOK_S, clock)

    async def wait(self, owner: Owner) -> None:
        """Wait until an event that comes now may begin."""
        if self._charges.is_far_above(owner):
            await self._held.wait(owner)

    def let_in(self) -> None:
        """Let those begin who are not far above the others any more, and one of the others if it is time."""
        now_s, held_back = self._clock(), self._held.all
        if now_s - self._freed_s >= LOOK_S:
            self._freed_s = now_s
            far_above = {one for one in {held.owner for held in held_back} if self._charges.is_far_above(one)}
            for held in [held for held in held_back if held.owner not in far_above]:
                self._held.begin(held)
        gap_s = LOOK_S if self._has_others_to_serve() else _FREE_LOOK_S
        if held_back and now_s - self._let_in_s >= gap_s:
            self._let_in_s = now_s
            cost = self._charges.of_all(held.owner for held in held_back)
            self._held.begin(min(held_back, key=lambda held: (cost[held.owner], held.came_s)))

    def _has_others_to_serve(self) -> bool:
        if self._late_s() > LATE_S:
            return True
        return any(not self._charges.is_far_above(one) for one in set(self._waiting()))


class Handle(Protocol):
    """What calls later."""

    def call_later(self, delay: float, callback: Callable[[], object], /) -> object:
        """Call `callback` after `delay` seconds."""
        ...


class LoopLag:
    """How late an event loop does what is due: measured by a beat, for as long as someone asks."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, loop: Callable[[], Handle] = asyncio.get_running_loop
    ) -> None:
        self._clock = clock
        self._loop = loop
        self._late_s = 0.0
        self._due_s: float | None = None
        self._is_asked = False

    def late_s(self) -> float:
        """Return how late the loop was recently; the beat begins with the first question."""
        self._is_asked = True
        if self._due_s is None:
            self._begin()
            return 0.0
        return max(self._late_s, self._clock() - self._due_s)

    def _begin(self) -> None:
        self._is_asked = False
        self._due_s = self._clock() + _BEAT_S
        self._loop().call_later(_BEAT_S, self._beat)

    def _beat(self) -> None:
        assert self._due_s is not None, "it was begun"
        self._late_s = max(self._clock() - self._due_s, self._late_s / 2)
        if self._is_asked or self._late_s > LATE_S:
            self._begin()
        else:
            self._due_s, self._late_s = None, 0.0


class Metered(Awaitable[T]):
    """Awaits work, and charges the processor time that its steps take of this thread."""

    def __init__(
        self, work: Awaitable[T], charge: Callable[[float], object], clock: Callable[[], float] = time.thread_time
    ) -> None:
        self._work = work
        self._charge = charge
        self._clock = clock

    def __await__(self) -> Generator[Any, Any, T]:
        """Pass on what the work waits for, and what it gets back."""
        steps = self._work.__await__()
        raised: BaseException | None = None
        while True:
            began_s = self._clock()
            try:
                waited = next(steps) if raised is None else steps.throw(raised)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            finally:
                self._charge(self._clock() - began_s)
            raised = None
            try:
                yield waited
            except BaseException as error:  # noqa: BLE001  # the work gets it; a cancelled task is one of these
                raised = error
