"""The sandbox: every limit is really hit, a caller that stops waiting ends the work, a process can reach nothing."""

from __future__ import annotations

import asyncio
import contextvars
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import DebuggerError, RequestError, SandboxError
from prompt_debugger.core.sandbox import Sandbox, close_sandboxes, in_thread, sandbox_of
from prompt_debugger.core.sandbox.fairness import Fairness
from prompt_debugger.core.sandbox.forkserver import sandbox_forkserver
from prompt_debugger.core.sandbox.workers import VISITOR
from tests.clock import Clock
from tests.conftest import ROOT
from tests.core.sandbox import hostile
from tests.hidden import KEPT_BY_KERNEL, home_of, kernel_lock_of
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.slow


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    sandbox = Sandbox(most=2)
    yield sandbox
    sandbox.close()


@pytest.fixture(autouse=True)
def enough_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a further process is started is a matter of what visitors do, not of what else this machine does."""
    monkeypatch.setattr("prompt_debugger.core.sandbox.workers.has_memory_for_another", lambda: True)


@pytest.fixture
def fairness(sandbox: Sandbox, clock: Clock) -> Fairness:
    """What visitors used, of which nothing is forgotten however long a process takes to start."""
    sandbox._workers._fairness = Fairness(clock)
    return sandbox._workers._fairness


@pytest.fixture
def long_is_what_uses_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a short job goes on for long."""
    monkeypatch.setattr("prompt_debugger.core.sandbox.worker.VERY_LONG_S", float("inf"))


def until(is_so: Callable[[], object]) -> None:
    """Wait for something that comes, with a bound far above what it takes."""
    end_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end_s
        threading.Event().wait(0.01)


def error_of(sandbox: Sandbox, job, *args) -> SandboxError:
    with pytest.raises(SandboxError) as raised:
        sandbox.call(job, *args)
    return raised.value


def is_gone(pid: int) -> bool:
    """Wait for the end of a process that was killed."""

    def lives() -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True

    until(lambda: not lives())
    return True


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


def test_a_hostile_working_directory_has_no_say(tmp_path):
    for name in ("prompt_debugger", "json", "jsonschema"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the folder of the user was imported')")
    program = (
        "import sys; sys.path = [p for p in sys.path if p not in ('', sys.argv[1])]; sys.path.insert(0, sys.argv[2])\n"
        "from prompt_debugger.core.sandbox import sandbox_of; from tests.core.sandbox import hostile\n"
        "import os; os.chdir(sys.argv[1]); sys.path.insert(0, '')\n"
        "print(sandbox_of().call(hostile.echo, 'fine'))\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), str(ROOT)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)} | {"PYTHONSAFEPATH": "1"},
        timeout=PATIENCE_S,
    )

    assert (done.stdout.strip(), done.returncode) == ("fine", 0), done.stderr


@pytest.mark.usefixtures("cold_sandboxes")
@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_processes_start_isolated_from_environment_and_working_directory(sandbox):
    sandbox.call(hostile.look_around)

    assert all("-I" in Path(f"/proc/{pid}/cmdline").read_text().split("\0") for pid in sandbox.pids)
    assert sandbox.pids


def test_a_process_that_cannot_start_is_reported(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    sandbox = Sandbox(most=1)

    error = error_of(sandbox, hostile.echo, "x")

    assert error.limit == "start"
    assert isinstance(error, DebuggerError)
    sandbox.close()


def test_shared_sandboxes_begin_anew_after_they_were_closed():
    first = sandbox_of()
    assert sandbox_of() is first
    assert first.call(hostile.echo, 1) == 1

    close_sandboxes()

    assert sandbox_of() is not first
    assert sandbox_of().call(hostile.echo, 2) == 2


def test_a_process_that_was_ended_is_replaced_without_new_imports(sandbox):
    sandbox.call(hostile.echo, "warm")
    forkserver = sandbox._forkserver
    for _ in range(3):
        assert error_of(sandbox, hostile.crash).limit == "crash"

    assert sandbox.call(hostile.echo, "fine") == "fine"
    assert sandbox._forkserver is forkserver


@pytest.mark.usefixtures("cold_sandboxes")
def test_a_signal_to_end_that_goes_to_all_processes_ends_no_work(sandbox):
    """A service that is stopped has it sent to each of its processes: what is under way is finished first."""
    sandbox.call(hostile.echo, "warm")
    forkserver = sandbox._forkserver
    before = sandbox.pids
    for pid in (*before, forkserver._process.pid):
        os.kill(pid, signal.SIGTERM)

    assert sandbox.call(hostile.echo, "fine") == "fine"
    assert sandbox.pids == before
    assert forkserver.is_running


@pytest.mark.usefixtures("cold_sandboxes")
def test_a_forkserver_that_was_killed_is_replaced(sandbox):
    sandbox.call(hostile.echo, "warm")
    [pid] = sandbox.pids
    forkserver = sandbox._forkserver
    forkserver._process.kill()
    forkserver._process.wait()

    assert sandbox.call(hostile.echo, "fine") == "fine"
    assert sandbox._forkserver is not forkserver
    assert pid not in sandbox.pids


LEAVES = """
import ctypes, json, os, signal, sys, threading
from pathlib import Path
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # whoever loses their parent becomes ours, as in a container
from prompt_debugger.core.sandbox import Sandbox
from prompt_debugger.core.sandbox.fairness import Fairness
from prompt_debugger.core.sandbox.forkserver import Forkserver
from tests.core.sandbox import hostile
is_watched = sys.argv[2] == "watched"
if not is_watched:
    Forkserver._await_end = lambda self: None
def lives(pid):
    if is_watched:
        return Path(f"/proc/{pid}").exists()
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
sandbox = Sandbox(most=2)
sandbox.warm_up(is_all=True)
one, other = (worker.process for worker in sandbox._workers.all)
sandbox.call(hostile.echo, "warm")
while one.pid is None or other.pid is None:
    threading.Event().wait(0.01)
forkserver = sandbox._forkserver._process.pid
left = {forkserver, one.pid, other.pid}
os.kill(forkserver, signal.SIGKILL)
print(json.dumps(sorted(left)), flush=True)
for _ in range(int(sys.argv[1])):
    left = {pid for pid in left if lives(pid)}
    if not left:
        break
    threading.Event().wait(0.01)
print(json.dumps(sorted(left)), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
@pytest.mark.parametrize("end", ["watched", "by the kernel alone"])
def test_a_forkserver_that_was_killed_leaves_no_process_and_no_zombie(end):
    """Also where no one asks anything any more, and orphans become children of the program."""
    done = subprocess.run(
        [sys.executable, "-c", LEAVES, str(PATIENCE_S * 50), end],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )

    before, after = map(json.loads, done.stdout.splitlines())
    assert len(before) == 3
    assert after == []


def test_a_worker_that_came_as_its_caller_left_goes_to_the_next():
    sandbox = Sandbox(most=1)
    workers = sandbox._workers
    held = workers.take()
    leaving, waiting = workers.take(), workers.take()
    assert held.done()
    assert not leaving.done()

    workers.give_up(held)  # it had come already
    assert leaving.done()
    assert not waiting.done()
    workers.give_up(leaving)

    assert waiting.done()
    workers.give_up(waiting)
    assert workers.take().done()
    sandbox.close()


@pytest.mark.usefixtures("cold_sandboxes")
def test_a_forkserver_that_still_imports_holds_up_no_end(monkeypatch):
    """A program that is ended just after its start has asked for processes that are not there yet."""
    monkeypatch.setattr("prompt_debugger.core.sandbox.forkserver._END_S", PATIENCE_S * 100)
    forkserver = sandbox_forkserver("importing", ["tests.core.sandbox.never_imported"])
    children = [forkserver.fork(is_slow=False) for _ in range(2)]

    for child in children:
        child.close()
    forkserver.close(PATIENCE_S * 100)

    assert not forkserver.is_running
    assert [child.pid for child in children] == [None, None]


def test_what_works_ends_with_the_program_that_asked():
    program = (
        "import sys, threading; from prompt_debugger.core.sandbox import sandbox_of;"
        "from tests.core.sandbox import hostile\n"
        "sandbox = sandbox_of(); sandbox.call(hostile.echo, 'warm')\n"
        "print(sandbox.pids[0], flush=True); sandbox.call(hostile.search_for_ever)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    wait_until_busy(pid)

    process.kill()
    process.wait()
    process.stdout.close()

    assert is_gone(pid)


def wait_until_busy(pid: int) -> None:
    """Wait until a process has used processor time for its job; only where the system tells."""
    if not Path("/proc/self/stat").exists():
        return
    before = cpu_ticks(pid)
    until(lambda: cpu_ticks(pid) > before + 2)


def gives_way(pid: int) -> bool:
    """Say whether a process leaves the processor to whatever else has something to do."""
    if os.getpriority(os.PRIO_PROCESS, pid) <= os.getpriority(os.PRIO_PROCESS, 0):
        return False
    return not hasattr(os, "SCHED_IDLE") or os.sched_getscheduler(pid) == os.SCHED_IDLE


def cpu_ticks(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])
    except OSError:
        return 0
