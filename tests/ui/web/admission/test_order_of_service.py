"""Who is served when forty greedy pages of one address are there: by a clock that the test turns, not by times."""

from __future__ import annotations

import asyncio
from collections import deque

from prompt_debugger.ui.web.admission.held import Owner
from prompt_debugger.ui.web.admission.pacing import EVENT_COST_S, FREE_S, LOOK_S, Bill, Charges, Pacing
from tests.clock import Clock

EVENT_S = 0.04  # of the page's one loop
CLASS = "192.0.2.7"
ELSEWHERE = Owner("198.51.100.1", "page")
NEIGHBOUR = Owner(CLASS, "neighbour")


class Loop:
    """A page's loop: it works off what was let in, one event after the other, and charges for each."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.charges = Charges(self.clock)
        self.line: deque[tuple[Owner, Bill]] = deque()
        self.served: list[Owner] = []
        self.pacing = Pacing(self.charges, lambda: [one for one, _ in self.line], lambda: 0.0, self.clock)

    async def come(self, owner: Owner) -> None:
        """Be charged for an event, wait at the door and stand in line."""
        bill = Bill(self.charges, owner.visitor)
        bill.charge(EVENT_COST_S)
        bill.is_of(owner)
        await self.pacing.wait(owner)
        self.line.append((owner, bill))

    async def never_stop(self, page: Owner) -> None:
        """Send six events, and each again when it was let in."""

        async def again() -> None:
            while True:
                await self.come(page)

        await asyncio.gather(*(again() for _ in range(6)))

    async def go_on(self, seconds: float) -> None:
        """Serve for so long."""
        until = self.clock.now + seconds
        while self.clock.now < until:
            for _ in range(4):  # anyone who was let in is in line
                await asyncio.sleep(0)
            if self.line:
                owner, bill = self.line.popleft()
                self.served.append(owner)
                self.clock.now += EVENT_S
                bill.charge(EVENT_S)
            else:
                self.clock.now += LOOK_S / 10
            self.pacing.let_in()

    async def delay_of(self, owner: Owner, group: asyncio.TaskGroup) -> int:
        """Return how many events of others are served before an event that comes now."""
        before, own = len(self.served), self.served.count(owner)
        group.create_task(self.come(owner))
        while self.served.count(owner) == own:
            await self.go_on(EVENT_S)
            assert len(self.served) < before + 500
        return len(self.served) - before - 1


async def test_forty_pages_of_one_address_stand_before_no_one_else_for_long() -> None:
    loop = Loop()
    elsewhere, neighbour = [], []
    async with asyncio.TaskGroup() as group:
        group.create_task(loop.come(ELSEWHERE))
        await loop.go_on(1.0)
        hostile = [Owner(CLASS, f"hostile {number}") for number in range(40)]
        tasks = [group.create_task(loop.never_stop(page)) for page in hostile]
        for _ in range(6):  # first in the middle of the first flood
            await loop.go_on(EVENT_S)
            elsewhere.append(await loop.delay_of(ELSEWHERE, group))
            neighbour.append(await loop.delay_of(NEIGHBOUR, group))
            await loop.go_on(3.0)
        for task in tasks:
            task.cancel()

    burst = round(2 * FREE_S / EVENT_COST_S)  # what an address may have before anything is known of it
    assert elsewhere[0] + neighbour[0] <= burst
    assert max(elsewhere[1:]) <= 1 + round(LOOK_S / EVENT_S), elsewhere
    assert max(elsewhere[3:]) <= 1, elsewhere
    assert max(neighbour[1:]) <= 1 + round(LOOK_S / EVENT_S), neighbour


async def test_a_neighbour_is_the_next_of_an_address_that_is_held_back() -> None:
    loop = Loop()
    loop.charges.charge(ELSEWHERE, 0.1)
    for number in range(40):
        loop.charges.charge(Owner(CLASS, f"hostile {number}"), 1.0)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(loop.come(Owner(CLASS, f"hostile {number}"))) for number in range(40)]
        await asyncio.sleep(0)
        tasks.append(group.create_task(loop.come(NEIGHBOUR)))
        await loop.go_on(2 * LOOK_S)
        for task in tasks:
            task.cancel()

    assert loop.served.index(NEIGHBOUR) <= 1, "one may have begun before the neighbour came"


async def test_of_two_greedy_addresses_the_one_that_cost_less_is_next() -> None:
    loop = Loop()
    for number in range(3):
        loop.charges.charge(Owner(f"198.51.100.{number}", "page"), 0.1)
    loop.charges.charge(Owner("a", "page"), 20.0)
    loop.charges.charge(Owner("b", "page"), 10.0)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(loop.come(Owner(name, "page"))) for name in ("a", "a", "b", "b")]
        await loop.go_on(3 * LOOK_S)
        for task in tasks:
            task.cancel()

    assert [one.visitor for one in loop.served[1:3]] == ["b", "b"], "the first came when no one else was there"


async def test_all_that_is_held_back_begins_in_the_end() -> None:
    loop = Loop()
    loop.charges.charge(ELSEWHERE, 0.1)
    async with asyncio.TaskGroup() as group:
        for number in range(40):
            for _ in range(6):
                group.create_task(loop.come(Owner(CLASS, f"hostile {number}")))
        await loop.go_on(240 * (LOOK_S + EVENT_S))

    assert len(loop.served) == 240


class Ticking(Clock):
    """A clock that goes on between any two looks at it, as real ones do."""

    def __call__(self) -> float:
        self.now += 0.000_1
        return self.now


async def test_costs_are_compared_at_one_moment() -> None:
    """A moment later all have cost a little less: whoever is looked at last would be next."""
    clock = Ticking()
    charges = Charges(clock)
    pacing = Pacing(charges, list, lambda: 1.0, clock)
    charges.charge(ELSEWHERE, 0.1)
    for number in range(40):
        charges.charge(Owner(CLASS, f"hostile {number}"), 1.0)
    for _ in range(2):
        charges.charge(NEIGHBOUR, 0.2)
    begun: list[Owner] = []

    async def come(owner: Owner) -> None:
        await pacing.wait(owner)
        begun.append(owner)

    async with asyncio.TaskGroup() as group:
        pacing._let_in_s = clock.now + 3_600  # no one begins before all stand in line
        tasks = [group.create_task(come(NEIGHBOUR))]
        tasks += [group.create_task(come(Owner(CLASS, f"hostile {number}"))) for number in range(40)]
        await asyncio.sleep(0)
        pacing._let_in_s = clock.now - LOOK_S
        pacing.let_in()
        await asyncio.sleep(0)
        assert begun[:1] == [NEIGHBOUR]
        for task in tasks:
            task.cancel()
