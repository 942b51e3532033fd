"""Jobs that are ended for others begin again: their answer comes once, or one sentence that says why it does not."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from prompt_debugger.core.base.errors import SandboxError
from prompt_debugger.core.sandbox import Sandbox, in_thread
from prompt_debugger.core.sandbox.fairness import Fairness
from prompt_debugger.core.sandbox.process import SandboxProcess
from prompt_debugger.core.sandbox.worker import Worker
from prompt_debugger.core.sandbox.workers import VISITOR
from tests.core.sandbox import hostile
from tests.core.sandbox.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("enough_memory")]

WHY = "others who used less were waiting"


@pytest.fixture
def one() -> Iterator[Sandbox]:
    """A sandbox of one process, so that there is no doubt which job is ended."""
    sandbox = Sandbox(most=1)
    sandbox.call(hostile.echo, "warm")
    yield sandbox
    sandbox.close()


async def by_run(sandbox: Sandbox, job, *args) -> object:
    return await sandbox.run(job, *args)


async def by_call(sandbox: Sandbox, job, *args) -> object:
    return await asyncio.to_thread(sandbox.call, job, *args)


async def by_turn(sandbox: Sandbox, job, *args) -> object:
    return await in_thread(sandbox.call, job, *args)


WAYS = pytest.mark.parametrize("ask", [by_run, by_call, by_turn])


def job_of(sandbox: Sandbox) -> tuple[Worker[SandboxProcess], int]:
    """Return the one worker and the number of its job, once the job's process is there."""
    [worker] = sandbox._workers.all
    return worker, worker.job_number


def end_for_others(sandbox: Sandbox, times: int, is_over: Callable[[], bool] = lambda: False) -> list[int]:
    """End the job of the one worker so often, each time once it works; return the processes that were ended."""
    ended: list[int] = []

    def is_next_at_work() -> bool:
        pids = sandbox.pids
        return is_over() or (bool(pids) and pids[0] not in ended and is_working(sandbox))

    for _ in range(times):
        until(is_next_at_work)
        if is_over():
            break
        ended += sandbox.pids
        sandbox._workers.all[0].make_room()
    return ended


def is_working(sandbox: Sandbox) -> bool:
    [worker] = sandbox._workers.all
    return worker not in sandbox._workers._idle and not worker.makes_room and worker.cost_so_far_s() > 0.0


@WAYS
@pytest.mark.parametrize("times", [1, 2])
async def test_a_job_that_was_ended_for_others_is_answered(one: Sandbox, ask, times: int):
    doomed = [one.pids[0]]
    asked = asyncio.create_task(ask(one, hostile.work_unless_first, doomed, 1.0 if times == 2 else 0.0))

    ended = await asyncio.to_thread(end_for_others, one, times, asked.done)

    answer = await asked
    assert isinstance(answer, int)
    assert answer not in ended


@WAYS
async def test_a_job_that_is_ended_again_and_again_says_so_once(one: Sandbox, ask):
    before = job_of(one)[1]
    asked = asyncio.create_task(ask(one, hostile.search_for_ever))

    await asyncio.to_thread(end_for_others, one, 3, asked.done)

    with pytest.raises(SandboxError) as raised:
        await asked
    assert raised.value.limit == "busy"
    assert raised.value.message == f"searching a pattern for long was ended after a moment: {WHY}"
    assert job_of(one)[1] == before + 3, "it began three times, not for ever"
    assert await one.run(hostile.echo, "next") == "next"


async def test_a_stream_that_was_ended_before_its_first_step_begins_again(one: Sandbox):
    steps = one.stream(hostile.count_unless_first, [one.pids[0]], 3)
    seen = asyncio.create_task(gathered(steps))

    await asyncio.to_thread(end_for_others, one, 1, seen.done)

    assert await seen == [0, 1, 2]


async def test_a_stream_that_handed_on_a_part_never_begins_again(one: Sandbox):
    before, seen = job_of(one)[1], []

    async def follow() -> None:
        async for step in one.stream(hostile.count_for_ever):
            seen.append(step)

    following = asyncio.create_task(follow())
    await asyncio.to_thread(until, lambda: seen)
    await asyncio.to_thread(end_for_others, one, 1, following.done)

    with pytest.raises(SandboxError, match=WHY):
        await following
    assert seen == [0]
    assert job_of(one)[1] == before + 1


def test_steps_that_are_followed_are_handed_on_once(one: Sandbox):
    seen: list[int] = []
    ending = threading.Thread(target=end_for_others, args=(one, 1))
    ending.start()
    one.follow(hostile.count_unless_first, seen.append, [one.pids[0]], 3)
    ending.join()

    assert seen == [0, 1, 2]


@pytest.mark.parametrize("ask", [by_run, by_turn])
async def test_a_job_that_was_ended_and_whose_visitor_left_does_not_begin_again(one: Sandbox, ask):
    before = job_of(one)[1]
    asked = asyncio.create_task(ask(one, hostile.search_for_ever))
    await asyncio.to_thread(until, lambda: is_working(one))

    one._workers.all[0].make_room()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked

    assert await one.run(hostile.echo, "next") == "next"
    assert job_of(one)[1] <= before + 3
    await asyncio.to_thread(until, lambda: not is_working(one))


async def test_a_sandbox_that_closes_leaves_no_job_that_begins_again(one: Sandbox):
    asked = asyncio.create_task(one.run(hostile.search_for_ever))
    await asyncio.to_thread(until, lambda: is_working(one))

    one._workers.all[0].make_room()
    await asyncio.to_thread(one.close)

    with pytest.raises(SandboxError, match=r"closed|stopped"):
        await asked


async def test_of_many_pages_of_one_address_each_has_its_answer_or_hears_why(sandbox: Sandbox, monkeypatch):
    """As on a page that strangers share: eight pages that work for long, and short questions beside them."""
    sandbox._workers._fairness = fairness = Fairness()
    fairness.ends_jobs = True
    ended: list[str] = []
    make_room = Worker.make_room

    def make_room_and_note(worker: Worker[SandboxProcess]) -> None:
        ended.append(worker.owner)
        make_room(worker)

    monkeypatch.setattr(Worker, "make_room", make_room_and_note)

    greedy = [asked_by(f"one/greedy{n}", sandbox.run, hostile.work_for, 0.8) for n in range(8)]
    await asyncio.to_thread(until, lambda: len(sandbox.pids) >= 3)
    short = []
    for number in range(12):
        short.append(await asked_by(f"one/short{number}", sandbox.run, hostile.echo, number))
    said = await asyncio.gather(*greedy, return_exceptions=True)

    assert short == list(range(12))
    assert ended, "none was ended for others"
    for one in said:
        assert one is None or (isinstance(one, SandboxError) and WHY in one.message)
    assert {owner.partition("/")[2][:6] for owner in ended} == {"greedy"}
    assert {f"one/greedy{n}" for n, one in enumerate(said) if one is not None} <= {*ended}


def asked_by(visitor: str, ask: Callable[..., Any], *args: object) -> asyncio.Task[Any]:
    return contextvars.copy_context().run(lambda: (VISITOR.set(visitor), asyncio.create_task(ask(*args)))[1])


async def gathered(steps: AsyncIterator[int]) -> list[int]:
    return [step async for step in steps]
