"""Which events of new pages begin, and which are held back: by a clock and a queue that the test sets."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.ui.web.admission.held import Owner
from prompt_debugger.ui.web.admission.trials import PLACES, TRIAL_S, Trials
from tests.patience import PATIENCE_S


class Queue:
    """Pages that were answered once, and what is under way."""

    def __init__(self, clock, places=PLACES):
        self.clock, self.answered, self.under_way = clock, set(), []
        self.trials = Trials(lambda: self.under_way, lambda page: page not in self.answered, places, clock)
        self.tasks = {}

    async def send(self, *owners):
        """Send an event of each; return how many began."""
        self.tasks |= {asyncio.create_task(self.trials.wait(owner)): owner for owner in owners}
        await asyncio.sleep(0)
        self.trials.let_in()
        await asyncio.sleep(0)
        return len(self.begun()) if owners else 0

    def begun(self):
        """Return whose events are under way by now, in the order in which they were sent."""
        begun = [owner for task, owner in self.tasks.items() if task.done()]
        self.under_way = [*begun]
        return begun

    def held(self):
        """Return whose events are held back."""
        return [owner for task, owner in self.tasks.items() if not task.done()]


def pages(visitor, count):
    return [Owner(visitor, f"page {number} of {visitor}") for number in range(count)]


@pytest.fixture
async def queue(clock):
    queue = Queue(clock)
    yield queue
    for task in queue.tasks:
        task.cancel()
    await asyncio.gather(*queue.tasks, return_exceptions=True)


async def test_one_address_has_no_more_than_stays_free(queue):
    assert await queue.send(*pages("flood", 20)) == PLACES / 2


async def test_another_address_has_a_place_beside_floods(queue):
    await queue.send(*pages("flood", 20), *pages("another flood", 20))
    newcomer = Owner("honest", "its page")
    await queue.send(newcomer)

    assert newcomer in queue.begun()


async def test_a_page_that_was_answered_waits_for_no_one(queue):
    await queue.send(*pages("class", 20))
    neighbour = Owner("class", "a neighbour")
    queue.answered.add(neighbour.page)
    await queue.send(neighbour, neighbour, neighbour)

    assert queue.begun().count(neighbour) == 3


async def test_first_is_the_page_that_has_least_under_way(queue, clock):
    first, second = pages("class", 2)
    await queue.send(*[first] * 6, second)

    assert queue.begun() == [first] * 4
    queue.under_way = []
    clock.now += 1.0
    queue.tasks = {task: owner for task, owner in queue.tasks.items() if not task.done()}
    await queue.send()
    assert sorted(queue.begun()) == [first, first, second]


async def test_the_place_of_what_ended_goes_to_the_next(queue, clock):
    await queue.send(*pages("flood", 20))
    began = queue.begun()
    clock.now += 1.0
    queue.under_way = began[1:]
    await queue.send()

    assert len(queue.begun()) == len(began) + 1


async def test_what_goes_on_for_long_holds_no_place(queue, clock):
    await queue.send(*pages("flood", 20))
    began = queue.begun()
    clock.now += TRIAL_S
    await queue.send()

    assert len(queue.begun()) == 2 * len(began)


async def test_what_is_held_back_begins_as_soon_as_its_page_was_answered(queue, clock):
    await queue.send(*pages("class", 20))
    queue.begun()
    waiting = queue.held()[-1]
    queue.answered.add(waiting.page)
    await queue.send()

    assert waiting in queue.begun()


async def test_without_a_clock_that_is_set_the_next_begins_by_itself():
    queue = Queue(asyncio.get_running_loop().time)
    await queue.send(*pages("flood", PLACES))

    await asyncio.wait_for(asyncio.gather(*queue.tasks), PATIENCE_S)


async def test_whoever_leaves_is_not_waited_for(queue):
    await queue.send(*pages("flood", 20))
    for task in queue.tasks:
        task.cancel()
    await asyncio.gather(*queue.tasks, return_exceptions=True)

    assert queue.trials._held.all == []


async def test_on_ones_own_machine_nothing_is_on_trial(clock):
    queue = Queue(clock, places=None)

    assert await queue.send(*pages("own", 40)) == 40
