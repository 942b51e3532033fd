"""The one client of all sandboxes: `call` from threads, `run` from event loops, `steps` and `stream` for jobs in steps.

A caller who stops waiting ends the job: cancelling the task that awaits `run`, or
closing the iterator of `stream`, kills the process, and the next job gets another.
Inside a sandbox everything is already locked in, so a job that asks for another runs it there.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from typing import NamedTuple, ParamSpec, TypeAlias, TypeVar, cast

from prompt_debugger.core.base.errors import DebuggerError, SandboxError
from prompt_debugger.core.sandbox.fairness import Fairness
from prompt_debugger.core.sandbox.forkserver import Forkserver, sandbox_forkserver
from prompt_debugger.core.sandbox.inside import is_inside
from prompt_debugger.core.sandbox.jobs import COMMON, Job, modules_of
from prompt_debugger.core.sandbox.process import SandboxProcess, cannot_start
from prompt_debugger.core.sandbox.threads import begin
from prompt_debugger.core.sandbox.turns import TURN
from prompt_debugger.core.sandbox.worker import MadeRoomError, Worker, WorkerProcess, made_room
from prompt_debugger.core.sandbox.workers import Workers

P = ParamSpec("P")
T = TypeVar("T")
_Question: TypeAlias = tuple[str, tuple[object, ...], dict[str, object]]
_AnyJob: TypeAlias = Job[..., object]  # type: ignore[explicit-any]  # each job has its own arguments

_MAX_LANES = 4
_TRIES = (False, False, True)  # of a job that is ended for others; whether it is the last


def _ignore(_: object) -> None:
    """Take a step that no one asked for."""


class Sandbox:
    """Processes that work on untrusted text; from any thread and any event loop.

    Args:
        name: Which jobs it runs: those marked with this name.
        most: How many processes at once; by default one per processor, at least two and at most four.
        fairness: What visitors used recently, where several sandboxes share that.
    """

    def __init__(self, name: str = COMMON, most: int | None = None, fairness: Fairness | None = None) -> None:
        self.name = name
        count = most or min(_MAX_LANES, max(2, os.cpu_count() or 2))
        self._workers = Workers(self._fork, count, fairness)
        self._forkserver: Forkserver | None = None
        self._retired: list[Forkserver] = []
        self._forking = threading.Lock()

    @property
    def pids(self) -> tuple[int, ...]:
        """Ids of the processes that run."""
        processes = [worker.process for worker in self._workers.all]
        pids = [process.pid for process in processes if process is not None and process.is_running]
        return tuple(pid for pid in pids if pid is not None)

    def cost_so_far_s(self, owner: str) -> float:
        """Return the processor time of the jobs under way of a visitor, `ADDRESS/PAGE`."""
        return self._workers.cost_so_far_s(owner)

    def warm_up(self, *, is_all: bool = False) -> None:
        """Start one process, or all, without waiting for them, unless one runs.

        Raises:
            SandboxError: None can be started at all.
        """
        if self.pids and not is_all:
            return
        workers = [self._workers.take().result() for _ in self._workers.all[: None if is_all else 1]]
        for worker in workers:
            try:
                worker.ready(modules_of(self.name))
            finally:
                self._workers.give_back(worker)

    def call(self, job: Job[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a job and wait for its value; blocks, so not on an event loop.

        Raises:
            SandboxError: It hit a limit, or its process failed.
            DebuggerError: The job raised it.
        """
        if is_inside():
            return job(*args, **kwargs)
        return cast("T", self._wait_and_work(_Ask.of(job, args, kwargs), _ignore))

    def follow(self, job: Job[P, Iterator[T]], on_step: Callable[[T], None], *args: P.args, **kwargs: P.kwargs) -> None:
        """Hand on what a job yields, step by step; blocks. Errors as `call`, after the steps that came before."""
        if is_inside():
            for step in job(*args, **kwargs):
                on_step(step)
            return
        self._wait_and_work(_Ask.of(job, args, kwargs), cast("Callable[[object], None]", on_step))

    async def run(self, job: Job[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a job and await its value; cancelling ends the job itself.

        Raises:
            SandboxError: It hit a limit, or its process failed.
            DebuggerError: The job raised it.
        """
        if is_inside():
            return job(*args, **kwargs)
        return cast("T", await self._ask(_Ask.of(job, args, kwargs)))

    async def stream(self, job: Job[P, Iterator[T]], *args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[T, None]:
        """Yield what a job yields; cancelling, or closing the iterator, ends it. Errors as `run`."""
        if is_inside():
            for inner in job(*args, **kwargs):
                yield inner
            return
        ask = _Ask.of(job, args, kwargs)
        loop, queue = asyncio.get_running_loop(), asyncio.Queue[object]()

        def report(step: object) -> None:
            loop.call_soon_threadsafe(queue.put_nowait, step)

        task = asyncio.create_task(self._ask(ask, report))
        task.add_done_callback(lambda _: queue.put_nowait(_OVER))
        try:
            while (step := await queue.get()) is not _OVER:
                yield cast("T", step)
            await task
        finally:
            task.cancel()

    def end(self) -> None:
        """End all processes without waiting for them; jobs under way fail, and no others begin."""
        self._workers.close()
        with self._forking:
            if self._forkserver is not None:
                self._forkserver.retire()
                self._retired.append(self._forkserver)
                self._forkserver = None

    def close(self) -> None:
        """End all processes, and wait until nothing of them is left."""
        self.end()
        with self._forking:
            forkservers, self._retired = self._retired, []
        for forkserver in forkservers:
            forkserver.close()

    def _fork(self, is_slow: bool) -> SandboxProcess:  # noqa: FBT001  # the one thing that workers say
        """Return a new process, from a forkserver that has imported what the jobs need by now."""
        with self._forking:
            modules = modules_of(self.name)
            if self._forkserver is None or not self._forkserver.is_running or self._forkserver.modules != modules:
                if self._forkserver is not None:
                    self._forkserver.retire()
                    self._retired.append(self._forkserver)
                    self._forkserver = None
                try:
                    self._forkserver = sandbox_forkserver(self.name, modules)
                except OSError as error:
                    raise cannot_start(error) from error
            return SandboxProcess(self._forkserver, is_slow=is_slow)

    async def _worker(self) -> Worker[SandboxProcess]:
        future = self._workers.take()
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            self._workers.give_up(future)
            raise

    async def _ask(self, ask: _Ask, on_step: Callable[[object], None] = _ignore) -> object:
        """Await a job's end; one that was ended for others before its first step begins again."""
        for is_last in _TRIES:
            worker = await self._worker()
            work = partial(self._work, worker, ask, on_step, can_restart=not is_last)
            with suppress(MadeRoomError):
                return await _run_in_thread(worker, work)
        raise AssertionError("the last one is not ended without an error")

    def _wait_and_work(self, ask: _Ask, on_step: Callable[[object], None]) -> object:
        """Wait for a job's end as `_ask` does, in a thread."""
        turn = TURN.get()
        for is_last in _TRIES:
            worker = self._workers.take().result() if turn is None else turn.wait_for_worker(self._workers)
            try:
                return self._work(worker, ask, on_step, can_restart=not is_last)
            except MadeRoomError:
                continue
            finally:
                if turn is not None:
                    turn.leave(worker)
        raise AssertionError("the last one is not ended without an error")

    def _work(
        self,
        worker: Worker[SandboxProcess],
        ask: _Ask,
        on_step: Callable[[object], None] = _ignore,
        *,
        can_restart: bool = False,
    ) -> object:
        """Run a job to its end, and give its worker back with a process that can continue."""
        is_good = has_process = False
        worker.can_restart = can_restart
        try:
            process = worker.ready(modules_of(self.name))
            has_process = True
            end: tuple[object, ...] = ()
            for end in process.exchange(ask.job.what, ask.job.limits, ask.question, ask.job.hint):
                if end[0] == "step":
                    worker.can_restart = can_restart = False
                    on_step(end[1])
            kind, value, was_spent, used_s = end
            is_good = was_spent is False and not worker.is_aside()
            worker.note_use(used_s)
            return _value(ask.job, kind, value)
        except SandboxError as error:
            if error.limit == "stopped" and worker.makes_room:
                raise (MadeRoomError if can_restart else made_room(ask.job.what)) from None
            raise
        finally:
            if not is_good:
                worker.drop()
                if has_process and self._workers.keeps(worker):
                    worker.refill(modules_of(self.name))
            self._workers.give_back(worker)


class _Ask(NamedTuple):
    """A job and what it is asked, as it goes over the wire."""

    job: _AnyJob
    question: _Question

    @classmethod
    def of(cls, job: object, args: tuple[object, ...], kwargs: dict[str, object]) -> _Ask:
        asked = cast("_AnyJob", job)
        return cls(asked, (asked.name, args, kwargs))


@cache
def _fairness() -> Fairness:
    """Return what visitors used of all shared sandboxes: who used much of one is to leave the others to others."""
    return Fairness()


@cache
def sandbox_of(name: str = COMMON) -> Sandbox:
    """Return the sandbox of this name that everything in this process shares; its processes start when needed."""
    sandbox = Sandbox(name, fairness=_fairness())
    _SHARED.append(sandbox)
    atexit.register(sandbox.close)
    return sandbox


def used_by(owner: str) -> float:
    """Return the processor time that a visitor, `ADDRESS/PAGE`, used recently in all shared sandboxes."""
    return _fairness().used(owner)[1] + sum(sandbox.cost_so_far_s(owner) for sandbox in tuple(_SHARED))


def end_jobs_for_others() -> None:
    """Let long jobs be ended for others who wait and used less: on a page that strangers share."""
    _fairness().ends_jobs = True


def close_sandboxes() -> None:
    """End all processes of the shared sandboxes, whatever they do; the next `sandbox_of` gives new ones.

    Nothing waits here for their last: a page that ends has to be gone before it reports how its work came out.
    """
    sandbox_of.cache_clear()
    _fairness.cache_clear()
    while _SHARED:
        _SHARED.pop().end()


_SHARED: list[Sandbox] = []
_OVER = object()


def _value(job: _AnyJob, kind: object, value: object) -> object:
    """Return the value of a job's end, or raise the error that it says."""
    if kind == "value":
        return value
    if kind == "error" and isinstance(value, DebuggerError):
        raise value
    if kind == "memory":
        message = f"{job.what} needed more than {job.limits.memory_mb:,} MB of memory"
        raise SandboxError(message, job.hint, limit="memory")
    raise SandboxError(f"{job.what} failed: {value}", "This is a bug in the program: please report it.", limit="fault")


async def _run_in_thread(worker: Worker[WorkerProcess], work: Callable[[], object]) -> object:
    """Await work that waits for a worker's process; cancelling ends the process, and with it the thread."""
    job_number = worker.job_number
    try:
        return await asyncio.wrap_future(begin(work, "sandbox"))
    except asyncio.CancelledError:
        worker.stop(job_number)
        raise
