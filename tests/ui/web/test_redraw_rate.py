"""What waits draws less often where many do, whichever panel it belongs to."""

import asyncio
from contextlib import ExitStack, aclosing

import pytest

from prompt_debugger.core.parse.engines import VllmEngine
from prompt_debugger.ui.web import redraw_rate as pace_module
from prompt_debugger.ui.web.model_check import CheckFields, ModelChecks
from prompt_debugger.ui.web.redraw_rate import TICK_S, RedrawRate, ticking
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
    redraw_rate = RedrawRate()
    task = asyncio.ensure_future(asyncio.Event().wait())
    ended = [await redraw_rate.tick(task)]
    with ExitStack() as others:
        for _ in range(40):
            others.enter_context(redraw_rate.counted())
        ended.append(await redraw_rate.tick(task))
    ended.append(await redraw_rate.tick(task))
    task.cancel()

    assert ended == [False, False, False]
    assert waited == [TICK_S, 10 * TICK_S, TICK_S]


async def test_a_task_that_has_ended_is_reported(waited):
    task = asyncio.ensure_future(asyncio.sleep(0))
    await task

    assert await RedrawRate().tick(task)


async def test_fixes_experiments_and_loops_tick_at_the_pace_of_all_and_count(waited):
    redraw_rate = RedrawRate()
    with ExitStack() as others:
        for _ in range(39):
            others.enter_context(redraw_rate.counted())
        async with aclosing(ticking(_never(), redraw_rate)) as ticks:
            assert await anext(ticks) is None
            within = redraw_rate.factor()
        left = redraw_rate.factor()

    assert waited == [10 * TICK_S]
    assert (within, left) == (10.0, 9.75)


async def test_a_check_ticks_at_the_pace_of_all_and_counts(waited):
    redraw_rate = RedrawRate()
    checks = ModelChecks(PageSettings(lab=False), lambda: VllmEngine("/no/such/python"), redraw_rate)
    with ExitStack() as others:
        for _ in range(39):
            others.enter_context(redraw_rate.counted())
        async with aclosing(checks.check(CheckFields(), TargetFields("", "", "", "kimi_k2", "none"))) as changes:
            await anext(changes)
            await anext(changes)
            within = redraw_rate.factor()
        left = redraw_rate.factor()

    assert waited[0] == 10 * TICK_S
    assert (within, left) == (10.0, 9.75)


async def _never():
    await asyncio.Event().wait()
    yield None
