"""Who cost the page much lately, and how long their next event waits while it has others to serve.

All events are taken in by one process, hostile ones as fast as honest ones. So each visitor is charged for the
processor time that their events took of it, and a little for each event that comes, and forgiven by half in 20 s.
An event of a visitor who cost far more than the others do begins later while others wait, or the loop is late. It
begins after 10 s in any case: nobody is shut out, and whoever has the page for themselves never waits.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Generator, Iterable
from statistics import median
from typing import Any, Protocol, TypeVar

HALF_S = 20.0
THERE_S = 30.0  # so long after their last event a visitor counts among those who are there
EVENT_COST_S = 0.01  # of an event that comes, whatever becomes of it
FREE_S = 1.0  # who cost less lately is never held back
FAR_ABOVE = 4.0  # times the median of the others
LATE_S = 0.1
MOST_HELD_S = 10.0
LOOK_S = 0.25
_BEAT_S = 0.1
_MAX_NAMES = 1_000

T = TypeVar("T")


class Charges:
    """What visitors cost lately, in seconds of the page's process.

    Args:
        clock: Seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._cost: OrderedDict[str, tuple[float, float]] = OrderedDict()  # and when that was

    def charge(self, visitor: str, seconds: float) -> None:
        """Charge a visitor."""
        self._cost[visitor] = (self.of(visitor) + seconds, self._clock())
        self._cost.move_to_end(visitor)
        while len(self._cost) > _MAX_NAMES:
            self._cost.popitem(last=False)

    def of(self, visitor: str) -> float:
        """Return what a visitor cost lately."""
        cost, at_s = self._cost.get(visitor, (0.0, 0.0))
        return float(cost * 0.5 ** ((self._clock() - at_s) / HALF_S)) if cost else 0.0

    def is_far_above(self, visitor: str) -> bool:
        """Say whether a visitor cost far more than the others who are there; never, if there are none."""
        own = self.of(visitor)
        if own <= FREE_S:
            return False
        since_s = self._clock() - THERE_S
        others = [self.of(name) for name, (_, at_s) in self._cost.items() if name != visitor and at_s > since_s]
        return bool(others) and own > FAR_ABOVE * median(others)


class Pacing:
    """Whether an event may begin now.

    Args:
        charges: What visitors cost.
        waiting: Gives the visitors of whom an event waits.
        late_s: Gives how late the loop is.
        clock: Seconds.
    """

    def __init__(
        self,
        charges: Charges,
        waiting: Callable[[], Iterable[str]],
        late_s: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._charges = charges
        self._waiting = waiting
        self._late_s = late_s
        self._clock = clock
        self._let_in_s = clock() - LOOK_S

    def may_begin(self, visitor: str, came_s: float) -> bool:
        """Say whether an event that came at a time may begin; of those held back one at a time.

        Args:
            visitor: Whose event it is.
            came_s: When it came.
        """
        now_s = self._clock()
        if not self._charges.is_far_above(visitor) or now_s - came_s >= MOST_HELD_S:
            return True
        if now_s - self._let_in_s < LOOK_S or self._has_others_to_serve(visitor):
            return False
        self._let_in_s = now_s
        return True

    async def wait(self, visitor: str) -> None:
        """Wait until an event that comes now may begin."""
        came_s = self._clock()
        while not self.may_begin(visitor, came_s):
            await asyncio.sleep(LOOK_S)

    def _has_others_to_serve(self, visitor: str) -> bool:
        if self._late_s() > LATE_S:
            return True
        return any(one != visitor and not self._charges.is_far_above(one) for one in set(self._waiting()))


class Handle(Protocol):
    """What calls later."""

    def call_later(self, delay: float, callback: Callable[[], object], /) -> object:
        """Call it after so many seconds."""
        ...


class LoopLag:
    """How late an event loop does what is due: measured by a beat, for as long as somebody asks.

    Args:
        clock: Seconds.
        loop: Gives the loop.
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
        """Return how late the loop was lately; the beat begins with the first question."""
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
