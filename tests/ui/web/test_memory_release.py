"""Memory is given back once nothing goes on, after something did; not while an idle page sits there."""

import gc
import weakref

import pytest

from prompt_debugger.ui.web.memory_release import BUSY_S, MemoryRelease, give_back


@pytest.fixture
def given():
    return []


@pytest.fixture
def clock():
    return [0.0]


@pytest.fixture
def freed(given, clock):
    return MemoryRelease(lambda: given.append(clock[0]), lambda: clock[0])


async def test_once_nothing_goes_on_it_is_given_back_and_not_again(freed, given):
    await freed.look(1, is_busy=False)
    await freed.look(1, is_busy=False)

    assert len(given) == 1


async def test_after_further_events_it_is_given_back_again(freed, given):
    await freed.look(1, is_busy=False)
    await freed.look(2, is_busy=False)

    assert len(given) == 2


async def test_while_something_goes_on_it_waits_but_not_forever(freed, given, clock):
    await freed.look(1, is_busy=True)
    waited = list(given)
    clock[0] = BUSY_S
    await freed.look(1, is_busy=True)
    await freed.look(1, is_busy=True)

    assert (waited, given) == ([], [BUSY_S])


async def test_what_went_on_when_it_was_given_back_is_looked_after_too(freed, given, clock):
    clock[0] = BUSY_S
    await freed.look(1, is_busy=True)
    await freed.look(1, is_busy=False)

    assert len(given) == 2


def test_what_is_held_in_a_cycle_goes():
    class Held:
        pass

    held = Held()
    held.itself = held
    gone = weakref.ref(held)
    gc.disable()
    try:
        del held
        give_back()
        left = gone()
    finally:
        gc.enable()

    assert left is None
