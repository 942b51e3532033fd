"""The sandbox: every limit is really hit, a caller that stops waiting ends the work, a process can reach nothing."""

from __future__ import annotations

import asyncio
import sys
import threading

import pytest

from prompt_debugger.core.base.errors import RequestError, SandboxError
from prompt_debugger.core.sandbox import Sandbox, in_thread
from tests.core.sandbox import hostile
from tests.core.sandbox.waiting import error_of, is_gone, until, wait_until_busy
from tests.hidden import KEPT_BY_KERNEL, home_of, kernel_lock_of
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("enough_memory")]


def test_processor_time_is_limited_even_inside_one_search(sandbox):
    error = error_of(sandbox, hostile.search, "^(a+)+$", "a" * 40 + "!")

    assert error.limit == "cpu"
    assert "searching a pattern took more than 0.3 s" in error.message
    assert error.hint == "Look at the pattern."


@pytest.mark.parametrize(
    ("job", "args", "limit"),
    [
        (hostile.sleep, (), "wall"),
        (hostile.eat_memory, (1 << 30,), "memory"),
        (hostile.answer_at_length, (), "answer"),
        (hostile.crash, (), "crash"),
    ],
    ids=lambda value: getattr(value, "what", None),
)
def test_each_limit_has_a_name_and_the_next_job_works(sandbox, job, args, limit):
    assert error_of(sandbox, job, *args).limit == limit
    assert sandbox.call(hostile.echo, "fine") == "fine"


RUST = ("memory allocation of ", "167", "108", "864", " bytes failed\n", "note: run with ", "`RUST_BACKTRACE=1`", "\n")


@pytest.mark.parametrize(
    ("words", "limit"),
    [
        (RUST, "memory"),
        (("Onig: Regex search error: fail to memory allocation\n",), "memory"),
        (("terminate called\n", "  what():  std::bad_alloc\n"), "memory"),
        (("corrupted unsorted chunks\n",), "crash"),
        ((), "crash"),
    ],
)
def test_how_a_library_ends_at_the_memory_limit_is_distinguished_from_a_crash(sandbox, words, limit):
    with pytest.raises(SandboxError) as caught:
        sandbox.call(hostile.abort_for_memory, words)

    assert caught.value.limit == limit


def test_memory_within_the_limit_is_had(sandbox):
    assert sandbox.call(hostile.eat_memory, 100 << 20) == 100 << 20


@pytest.mark.parametrize(("count", "size"), [(9_000, 0), (1, 30 << 20)], ids=["many", "large"])
def test_what_jobs_leave_in_cycles_goes_before_it_is_much(sandbox, count, size):
    ended = [sandbox.call(hostile.leave_cycles, count, size) for _ in range(8)]

    assert [number for number, _ in ended] == list(range(1, 9))  # one process for all
    assert max(left for _, left in ended) <= 3 * count


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted by address space")
def test_a_process_that_kept_memory_is_replaced(sandbox):
    assert sandbox.call(hostile.keep_memory, 400 << 20) == 1
    assert sandbox.call(hostile.eat_memory, 200 << 20) == 200 << 20
    assert sandbox.call(hostile.keep_memory, 1) == 1


def test_processor_time_is_counted_for_each_job_anew(sandbox):
    texts = ["a" * 19 + "!"] * 12

    found = [sandbox.call(hostile.search, "^(a+)+$", text) for text in texts]

    assert found == [False] * 12
    assert len(sandbox.pids) == 1


def test_an_error_of_ours_arrives_as_itself(sandbox):
    with pytest.raises(RequestError) as raised:
        sandbox.call(hostile.fail, ours=True)

    assert raised.value.to_json() == RequestError("this field", "Give one.", field="a", line=3).to_json()


def test_a_fault_of_a_job_is_reported_as_one(sandbox):
    with pytest.raises(SandboxError, match=r"failing failed: ZeroDivisionError: by zero"):
        sandbox.call(hostile.fail, ours=False)


def test_what_may_not_travel_is_refused(sandbox):
    assert "may not travel" in error_of(sandbox, hostile.answer_with_code).message


def test_a_job_in_steps_is_followed(sandbox):
    steps: list[int] = []

    sandbox.follow(hostile.count, steps.append, 4)

    assert steps == [0, 1, 2, 3]


async def test_a_stream_ends_with_its_job(sandbox):
    assert [step async for step in sandbox.stream(hostile.count, 4)] == [0, 1, 2, 3]


async def test_cancelling_ends_the_work_itself(sandbox):
    await sandbox.run(hostile.echo, "warm")
    [pid] = sandbox.pids
    task = asyncio.create_task(sandbox.run(hostile.search_for_ever))
    await asyncio.to_thread(wait_until_busy, pid)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert await asyncio.to_thread(is_gone, pid)
    assert await sandbox.run(hostile.echo, "fine") == "fine"


async def test_closing_a_stream_ends_the_work_itself(sandbox):
    steps = sandbox.stream(hostile.count_for_ever)
    assert await anext(steps) == 0
    [pid] = sandbox.pids

    await steps.aclose()

    assert await asyncio.to_thread(is_gone, pid)


async def test_a_caller_who_leaves_the_line_takes_no_one_s_place():
    sandbox = Sandbox(most=1)
    steps = sandbox.stream(hostile.count_for_ever)
    await anext(steps)
    leaving = asyncio.create_task(sandbox.run(hostile.echo, "left"))
    waiting = asyncio.create_task(sandbox.run(hostile.echo, "stayed"))
    await asyncio.sleep(0)

    leaving.cancel()
    await steps.aclose()

    assert await waiting == "stayed"
    assert leaving.cancelled()
    sandbox.close()


async def test_leaving_a_thread_ends_what_it_asked_of_the_sandbox(sandbox):
    await sandbox.run(hostile.echo, "warm")
    [pid] = sandbox.pids
    ends: list[str] = []

    def work() -> None:
        for job in (hostile.search_for_ever, hostile.echo):
            try:
                sandbox.call(job, *(["late"] if job is hostile.echo else []))
            except SandboxError as error:
                ends.append(error.limit)
        over.set()

    over = threading.Event()
    task = asyncio.create_task(in_thread(work))
    await asyncio.to_thread(wait_until_busy, pid)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert await asyncio.to_thread(over.wait, PATIENCE_S)
    assert ends == ["stopped", "stopped"]
    assert await sandbox.run(hostile.echo, "fine") == "fine"


async def test_threads_that_wait_are_in_no_one_s_way():
    """Those of a pool were: a few templates without an end held up every run."""
    over = threading.Event()
    waiting = [asyncio.create_task(in_thread(over.wait)) for _ in range(40)]
    try:
        assert await asyncio.wait_for(in_thread(lambda: "mine"), PATIENCE_S) == "mine"
    finally:
        over.set()
        await asyncio.gather(*waiting)


async def test_leaving_a_thread_that_is_in_line_ends_it():
    sandbox = Sandbox(most=1)
    steps = sandbox.stream(hostile.count_for_ever)
    await anext(steps)
    over = threading.Event()

    def work() -> None:
        with pytest.raises(SandboxError, match="stopped"):
            sandbox.call(hostile.echo, "late")
        over.set()

    task = asyncio.create_task(in_thread(work))
    await asyncio.to_thread(until, lambda: sandbox._workers._waiting)
    task.cancel()

    assert await asyncio.to_thread(over.wait, PATIENCE_S)
    await steps.aclose()
    sandbox.close()


async def test_closing_the_sandbox_ends_everything(sandbox):
    tasks = [asyncio.create_task(sandbox.run(hostile.search_for_ever)) for _ in range(4)]
    await asyncio.to_thread(until, lambda: len(sandbox.pids) == 2)
    pids = sandbox.pids
    await asyncio.to_thread(lambda: [wait_until_busy(pid) for pid in pids])

    sandbox.close()

    ends = await asyncio.gather(*tasks, return_exceptions=True)
    assert {type(end) for end in ends} == {SandboxError}
    assert {end.limit for end in ends if isinstance(end, SandboxError)} == {"stopped"}
    assert all(map(is_gone, pids))


def test_many_threads_share_few_processes(sandbox):
    answers: dict[int, object] = {}

    def ask(number: int) -> None:
        answers[number] = sandbox.call(hostile.echo, [number] * 1000)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == {number: [number] * 1000 for number in range(12)}
    assert len(sandbox.pids) <= 2


def test_no_key_is_in_the_environment(monkeypatch, sandbox):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-" + "a" * 20)
    monkeypatch.setenv("HF_TOKEN", "hf_" + "a" * 20)

    seen = sandbox.call(hostile.look_around)

    assert not {"OPENAI_API_KEY", "HF_TOKEN"} & set(seen["environment"])


@pytest.mark.parametrize("deed", hostile.DEEDS)
def test_nothing_can_be_opened_sent_or_started(sandbox, deed):
    assert sandbox.call(hostile.do_forbidden, deed).startswith("PermissionError: a sandbox does not allow")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_kernel_enforces_the_lock_as_well(sandbox):
    sandbox.call(hostile.echo, "warm")
    home = home_of(sandbox.pids[0])

    limits = {line[:26].strip(): line[26:].split()[0] for line in (home / "limits").read_text().splitlines()}
    opened = {int(path.name) for path in (home / "fd").iterdir()}

    assert set(range(int(limits["Max open files"]))) <= opened
    assert (limits["Max file size"], limits["Max processes"]) == ("0", "0")
    assert kernel_lock_of(sandbox.pids[0]) == KEPT_BY_KERNEL
