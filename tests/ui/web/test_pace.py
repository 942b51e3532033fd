"""What waits draws less often where many do, whichever panel it belongs to."""

import asyncio
from contextlib import ExitStack, aclosing

import pytest

from prompt_debugger.core.parse.engines import VllmEngine
from prompt_debugger.ui.web import pace as pace_module
from prompt_debugger.ui.web.mend.runs import ticking
from prompt_debugger.ui.web.model_check import CheckFields, ModelChecks
from prompt_debugger.ui.web.pace import TICK_S, Pace
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields


@pytest.fixture
def waited(monkeypatch):
    """How long each tick waited; none of them does."""
    times = []
    wait = asyncio.wait

    async def at_once(tasks, *, timeout):
        times.append(timeout)
        return await wait(tasks, timeout=0)

    monkeypatch.setattr(pace_module.asyncio, "wait", at_once)
    return times


async def test_a_tick_is_longer_where_many_wait(waited):
    pace = Pace()
    task = asyncio.ensure_future(asyncio.Event().wait())
    ended = [await pace.tick(task)]
    with ExitStack() as others:
        for _ in range(40):
            others.enter_context(pace.counted())
        ended.append(await pace.tick(task))
    ended.append(await pace.tick(task))
    task.cancel()

    assert ended == [False, False, False]
    assert waited == [TICK_S, 10 * TICK_S, TICK_S]


async def test_a_task_that_has_ended_is_told(waited):
    task = asyncio.ensure_future(asyncio.sleep(0))
    await task

    assert await Pace().tick(task)


async def test_cures_experiments_and_loops_tick_at_the_pace_of_all_and_count(waited):
    pace = Pace()
    with ExitStack() as others:
        for _ in range(39):
            others.enter_context(pace.counted())
        async with aclosing(ticking(_never(), pace)) as ticks:
            assert await anext(ticks) is None
            within = pace.factor()
        left = pace.factor()

    assert waited == [10 * TICK_S]
    assert (within, left) == (10.0, 9.75)


async def test_a_check_ticks_at_the_pace_of_all_and_counts(waited):
    pace = Pace()
    checks = ModelChecks(PageSettings(lab=False), lambda: VllmEngine("/no/such/python"), pace)
    with ExitStack() as others:
        for _ in range(39):
            others.enter_context(pace.counted())
        async with aclosing(checks.check(CheckFields(), TargetFields("", "", "", "kimi_k2", "none"))) as changes:
            await anext(changes)
            await anext(changes)
            within = pace.factor()
        left = pace.factor()

    assert waited[0] == 10 * TICK_S
    assert (within, left) == (10.0, 9.75)


async def _never():
    await asyncio.Event().wait()
    yield None
