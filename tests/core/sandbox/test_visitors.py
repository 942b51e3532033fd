"""Visitors share the processes of a sandbox: none takes them all, and who used much gives way."""

from __future__ import annotations

import asyncio
import contextvars
import os

import pytest

from prompt_debugger.core.base.errors import SandboxError
from prompt_debugger.core.sandbox import Sandbox
from prompt_debugger.core.sandbox.fairness import Fairness
from prompt_debugger.core.sandbox.workers import VISITOR
from tests.clock import Clock
from tests.core.sandbox import hostile
from tests.core.sandbox.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("enough_memory")]


@pytest.fixture
def fairness(sandbox: Sandbox, clock: Clock) -> Fairness:
    """What visitors used, of which nothing is forgotten however long a process takes to start."""
    sandbox._workers._fairness = Fairness(clock)
    return sandbox._workers._fairness


@pytest.fixture
def long_is_what_uses_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a short job goes on for long."""
    monkeypatch.setattr("prompt_debugger.core.sandbox.worker.VERY_LONG_S", float("inf"))


async def test_one_visitor_cannot_take_every_process(sandbox):
    token = VISITOR.set("greedy")
    tasks = [asyncio.create_task(sandbox.run(hostile.search_for_ever)) for _ in range(6)]
    VISITOR.reset(token)

    assert await sandbox.run(hostile.echo, "mine") == "mine"

    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def asked_by(visitor: str, sandbox: Sandbox, job, *args) -> asyncio.Task[object]:
    """Ask a job in the name of a visitor."""
    return contextvars.copy_context().run(
        lambda: (VISITOR.set(visitor), asyncio.create_task(sandbox.run(job, *args)))[1]
    )


async def leave(*tasks: asyncio.Task[object]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("visitors", [["a", "b", "c", "d", "e"], [f"one/{page}" for page in range(12)]])
async def test_endless_jobs_of_several_visitors_hold_up_no_one(sandbox, visitors):
    endless = [asked_by(visitor, sandbox, hostile.search_for_ever) for visitor in visitors for _ in range(2)]
    await asyncio.to_thread(until, lambda: len(sandbox.pids) >= 3)

    assert await asked_by("honest/page", sandbox, hostile.echo, "mine") == "mine"
    assert await asked_by("honest/page", sandbox, hostile.echo, "mine again") == "mine again"

    assert not any(task.done() for task in endless)
    await leave(*endless)


async def test_one_address_never_holds_all_that_there_may_be(sandbox):
    endless = [asked_by(f"one/{page}", sandbox, hostile.search_for_ever) for page in range(12)]
    await asyncio.to_thread(until, lambda: len(sandbox.pids) >= 3)

    others = [asked_by(f"{number}/page", sandbox, hostile.search_for_ever) for number in range(3)]
    assert await asked_by("honest/page", sandbox, hostile.echo, "mine") == "mine"

    assert len(sandbox.pids) <= 8
    assert not any(task.done() for task in (*endless, *others))
    await leave(*endless, *others)


async def test_further_processes_go_when_no_one_needs_them(sandbox):
    endless = [asked_by(visitor, sandbox, hostile.search_for_ever) for visitor in "abcd"]
    await asyncio.to_thread(until, lambda: len(sandbox.pids) >= 4)

    await leave(*endless)

    await asyncio.to_thread(until, lambda: len(sandbox._workers.all) == 2)
    assert len(sandbox.pids) <= 2  # those that end at once leave none that is warm
    assert await asked_by("honest", sandbox, hostile.echo, "fine") == "fine"


async def test_visitors_are_charged_what_they_used_not_how_long_it_took(sandbox, fairness):
    for visitor, job, seconds in (("worker/1", hostile.work_for, 0.1), ("rester/1", hostile.rest_for, 0.4)):
        VISITOR.set(visitor)
        await sandbox.run(job, seconds)
    [worked, _], [rested, _] = (fairness.used(visitor) for visitor in ("worker/1", "rester/1"))

    assert rested < worked


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="the system knows no priorities")
@pytest.mark.usefixtures("long_is_what_uses_much")
async def test_processes_for_those_who_used_much_give_way_to_others(sandbox, fairness):
    nice: dict[str, int] = {}
    fairness.charge("hostile/1", 100.0)
    fairness.note("honest/1")
    for visitor in ("hostile/1", "honest/1"):
        VISITOR.set(visitor)
        seen = await sandbox.run(hostile.look_around)
        assert isinstance(seen, dict)
        nice[visitor] = os.getpriority(os.PRIO_PROCESS, int(str(seen["pid"])))

    assert nice["honest/1"] < nice["hostile/1"]


async def test_visitors_are_charged_for_work_that_took_its_process_down(sandbox, fairness):
    """Neither less nor more than it cost; what earlier jobs of the process used was charged to others."""
    VISITOR.set("earlier/1")
    await sandbox.run(hostile.work_for, 1.5)
    VISITOR.set("hostile/1")
    with pytest.raises(SandboxError):
        await sandbox.run(hostile.search, "^(a+)+$", "a" * 40 + "!")

    [earlier, _], [used, _] = (fairness.used(visitor) for visitor in ("earlier/1", "hostile/1"))
    assert 0.0 < used < earlier  # the system counts the limit of 0.3 s in ticks


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="the system knows no priorities")
@pytest.mark.usefixtures("long_is_what_uses_much")
async def test_work_that_goes_on_for_long_gives_way_to_others(sandbox, fairness):
    """Also of a visitor of whom nothing is known yet; the next job has a process that does not give way."""
    await sandbox.run(hostile.echo, "warm")
    [pid] = sandbox.pids
    fairness.note("other/1")
    tasks = [asked_by("long/1", sandbox, hostile.search_for_ever), asked_by("long/1", sandbox, hostile.look_around)]
    await asyncio.to_thread(until, lambda: gives_way(pid))
    niceness = os.getpriority(os.PRIO_PROCESS, pid)
    await leave(*tasks)

    seen = await asked_by("other/1", sandbox, hostile.look_around)
    assert isinstance(seen, dict)
    other = int(str(seen["pid"]))
    assert niceness > os.getpriority(os.PRIO_PROCESS, other)
    assert not hasattr(os, "SCHED_IDLE") or os.sched_getscheduler(other) != os.SCHED_IDLE


async def test_work_of_no_one_in_particular_gets_no_further_process(sandbox):
    tasks = [asyncio.create_task(sandbox.run(hostile.echo, [number] * 100_000)) for number in range(20)]

    await asyncio.gather(*tasks)

    assert len(sandbox.pids) <= 2


def gives_way(pid: int) -> bool:
    """Say whether a process leaves the processor to whatever else has something to do."""
    if os.getpriority(os.PRIO_PROCESS, pid) <= os.getpriority(os.PRIO_PROCESS, 0):
        return False
    return not hasattr(os, "SCHED_IDLE") or os.sched_getscheduler(pid) == os.SCHED_IDLE
