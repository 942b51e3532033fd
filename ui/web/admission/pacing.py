"""Who cost the page much recently, and how long their next event waits while it has others to serve.

All events are taken in by one process, hostile ones as fast as honest ones. So each visitor is charged for the
processor time that their events took of it, and a little for each event that comes, and forgiven by half in 20 s.
An event of a visitor who cost far more than the others do begins later while others wait, or the loop is late; so does
one of a page that cost far more than another page of the same visitor, while a page that cost little never waits for
what the others do. It begins after 10 s in any case: no one is shut out, and whoever is alone never waits.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Generator, Iterable
from statistics import median
from typing import Any, NamedTuple, Protocol, TypeVar

from prompt_debugger.core.base.quota import Quota

HALF_S = 20.0
THERE_S = 30.0  # so long after their last event a visitor counts among those who are there
EVENT_COST_S = 0.01  # of an event that comes, whatever becomes of it
FREE_S = 1.0  # who cost less recently is never held back
PAGE_FREE_S = 0.25  # likewise of one page among others of an address
FAR_ABOVE = 4.0  # times the median of the others
LATE_S = 0.1
MAX_HELD_S = 10.0
LOOK_S = 0.25
_BEAT_S = 0.1
_MAX_NAMES = 1_000
_MAX_PAGES = 256  # of one visitor
_MANY_PAGES = 64  # opened within a minute: more are not pages that somebody looks at

T = TypeVar("T")


class Owner(NamedTuple):
    """Whose event it is.

    Attributes:
        visitor: The address.
        page: One of the pages that are open there; "" where no one knows yet.
    """

    visitor: str
    page: str = ""


class Charges:
    """What visitors and their pages cost recently, in seconds of the page's process.

    Args:
        clock: Seconds.
        opened: Returns how many pages a visitor opened within the last minute.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, opened: Callable[[str], int] = lambda _: 0) -> None:
        self._visitors = Quota(HALF_S, _MAX_NAMES, clock)
        self._pages: OrderedDict[str, Quota] = OrderedDict()  # of each visitor
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

    def is_far_above(self, owner: Owner) -> bool:
        """Return whether an event is of somebody who cost far more than others who are there; never, if there are none.

        Visitors are compared with visitors. A page that cost little itself is never far above,
        whatever its visitor cost; a page that cost far more than the cheapest other page of its visitor always is.
        """
        has_pages = owner.page != "" and self._opened(owner.visitor) <= _MANY_PAGES  # else they are but names
        if has_pages and self.of(owner) <= PAGE_FREE_S:
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
    """What one event costs; what was charged before its page was known goes to that, too.

    Args:
        charges: Where it goes.
        visitor: Whose event it is.
    """

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


class Pacing:
    """Whether an event may begin now.

    Args:
        charges: What visitors cost.
        waiting: Returns those of whom an event waits.
        late_s: Returns how late the loop is.
        clock: Seconds.
    """

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
        self._let_in_s = clock() - LOOK_S

    def may_begin(self, owner: Owner, came_s: float) -> bool:
        """Return whether an event that came at a time may begin; of those held back one at a time.

        Args:
            owner: Whose event it is.
            came_s: When it came.
        """
        now_s = self._clock()
        if not self._charges.is_far_above(owner) or now_s - came_s >= MAX_HELD_S:
            return True
        if now_s - self._let_in_s < LOOK_S or self._has_others_to_serve(owner):
            return False
        self._let_in_s = now_s
        return True

    async def wait(self, owner: Owner) -> None:
        """Wait until an event that comes now may begin."""
        came_s = self._clock()
        while not self.may_begin(owner, came_s):
            await asyncio.sleep(LOOK_S)

    def _has_others_to_serve(self, owner: Owner) -> bool:
        if self._late_s() > LATE_S:
            return True
        return any(one != owner and not self._charges.is_far_above(one) for one in set(self._waiting()))


class Handle(Protocol):
    """What calls later."""

    def call_later(self, delay: float, callback: Callable[[], object], /) -> object:
        """Call `callback` after `delay` seconds."""
        ...


class LoopLag:
    """How late an event loop does what is due: measured by a beat, for as long as somebody asks.

    Args:
        clock: Seconds.
        loop: Returns the loop.
    """

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
    """Awaits work, and charges the processor time that its steps take of this thread.

    Args:
        work: What is awaited; tasks that it starts are their own.
        charge: Takes seconds.
        clock: Seconds of processor time of this thread.
    """

    def __init__(
        self, work: Awaitable[T], charge: Callable[[float], object], clock: Callable[[], float] = time.thread_time
    ) -> None:
        self._work = work
        self._charge = charge
        self._clock = clock

    def __await__(self) -> Generator[Any, Any, T]:
        """Pass on what the work waits for, and what it is told."""
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
            except BaseException as error:  # noqa: BLE001  # the work is told; a cancelled task is one of these
                raised = error
