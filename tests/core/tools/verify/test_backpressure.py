"""Reading waits while asking leaves this process no time."""

import asyncio

import pytest

from prompt_debugger.core.tools.verify.session import Backpressure


class Hands:
    """A clock and a meter of work, moved by hand."""

    def __init__(self) -> None:
        self.now = self.worked = 0.0

    def pass_time(self, seconds: float, *, worked: float) -> None:
        self.now += seconds
        self.worked += worked


@pytest.fixture
def hands():
    return Hands()


@pytest.fixture
def backpressure(hands):
    return Backpressure(lambda: hands.now, lambda: hands.worked)


async def has_time(backpressure):
    waiting = asyncio.ensure_future(backpressure.wait())
    await asyncio.sleep(0)  # it starts
    await asyncio.sleep(0)  # it ends, if it may
    is_done = waiting.done()
    waiting.cancel()
    return is_done


async def test_no_one_reads_before_the_first_look(backpressure):
    assert not await has_time(backpressure)


@pytest.mark.parametrize(("worked", "expected"), [(0.0, True), (0.05, True), (0.19, False), (0.4, False)])
async def test_a_busy_process_has_no_time(backpressure, hands, worked, expected):
    hands.pass_time(0.2, worked=worked)
    backpressure.look()

    assert await has_time(backpressure) is expected


async def test_time_comes_back_when_less_is_asked(backpressure, hands):
    hands.pass_time(0.2, worked=0.2)
    backpressure.look()
    hands.pass_time(0.2, worked=0.01)
    backpressure.look()

    assert await has_time(backpressure)


async def test_there_is_time_once_all_is_asked(backpressure, hands):
    hands.pass_time(0.2, worked=0.2)
    backpressure.look()
    backpressure.end()

    assert await has_time(backpressure)
