"""The one client of all rooms: `call` from threads, `run` from event loops, `steps` and `stream` for jobs in steps.

A caller who stops waiting ends the job: cancelling the task that awaits `run`, or
closing the iterator of `stream`, kills the process, and the next job gets another.
Inside a room everything is already locked in, so a job that asks for another runs it there.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from functools import cache
from typing import NamedTuple, ParamSpec, TypeAlias, TypeVar, cast

from prompt_debugger.core.errors import DebuggerError, RoomError
from prompt_debugger.core.room.inside import is_inside
from prompt_debugger.core.room.jobs import COMMON, Job, modules_of
from prompt_debugger.core.room.lane import Lane, LaneProcess
from prompt_debugger.core.room.lanes import Lanes
from prompt_debugger.core.room.process import RoomProcess, cannot_start
from prompt_debugger.core.room.stem import Stem, room_stem
from prompt_debugger.core.room.threads import begin
from prompt_debugger.core.room.turns import TURN

P = ParamSpec("P")
T = TypeVar("T")
_Question: TypeAlias = tuple[str, tuple[object, ...], dict[str, object]]
_AnyJob: TypeAlias = Job[..., object]  # type: ignore[explicit-any]  # each job has its own arguments

_MOST_LANES = 4


def _ignore(_: object) -> None:
    """Take a step that nobody asked for."""


class Room:
    """Processes that work on strangers' text; from any thread and any event loop.

    Args:
        name: Which jobs it runs: those marked with this name.
        most: How many processes at once; by default one per processor, at least two and at most four.
    """

    def __init__(self, name: str = COMMON, most: int | None = None) -> None:
        self.name = name
        count = most or min(_MOST_LANES, max(2, os.cpu_count() or 2))
        self._lanes = Lanes(self._split, count)
        self._stem: Stem | None = None
        self._retired: list[Stem] = []
        self._splitting = threading.Lock()

    @property
    def pids(self) -> tuple[int, ...]:
        """Ids of the processes that run."""
        processes = [lane.process for lane in self._lanes.all]
        pids = [process.pid for process in processes if process is not None and process.is_running]
        return tuple(pid for pid in pids if pid is not None)

    def warm_up(self, *, is_all: bool = False) -> None:
        """Start one process, or all, without waiting for them, unless one runs.

        Raises:
            RoomError: None can be started at all.
        """
        if self.pids and not is_all:
            return
        lanes = [self._lanes.take().result() for _ in self._lanes.all[: None if is_all else 1]]
        for lane in lanes:
            try:
                lane.ready(modules_of(self.name))
            finally:
                self._lanes.give_back(lane)

    def call(self, job: Job[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a job and wait for its value; blocks, so not on an event loop.

        Raises:
            RoomError: It hit a limit, or its process failed.
            DebuggerError: The job raised it.
        """
        if is_inside():
            return job(*args, **kwargs)
        return cast("T", self._wait_and_work(_Ask.of(job, args, kwargs), _ignore))

    def follow(self, job: Job[P, Iterator[T]], on_step: Callable[[T], None], *args: P.args, **kwargs: P.kwargs) -> None:
        """Tell what a job yields, step by step; blocks. Errors as `call`, after the steps that came before."""
        if is_inside():
            for step in job(*args, **kwargs):
                on_step(step)
            return
        self._wait_and_work(_Ask.of(job, args, kwargs), cast("Callable[[object], None]", on_step))

    async def run(self, job: Job[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a job and await its value; cancelling ends the job itself.

        Raises:
            RoomError: It hit a limit, or its process failed.
            DebuggerError: The job raised it.
        """
        lane = await self._lane()
        ask = _Ask.of(job, args, kwargs)
        return cast("T", await _in_thread(lane, lambda: self._work(lane, ask)))

    async def stream(self, job: Job[P, Iterator[T]], *args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[T, None]:
        """Yield what a job yields; cancelling, or closing the iterator, ends it. Errors as `run`."""
        lane = await self._lane()
        ask = _Ask.of(job, args, kwargs)
        loop, queue = asyncio.get_running_loop(), asyncio.Queue[object]()

        def tell(step: object) -> None:
            loop.call_soon_threadsafe(queue.put_nowait, step)

        task = asyncio.create_task(_in_thread(lane, lambda: self._work(lane, ask, tell)))
        task.add_done_callback(lambda _: queue.put_nowait(_OVER))
        try:
            while (step := await queue.get()) is not _OVER:
                yield cast("T", step)
            await task
        finally:
            task.cancel()

    def end(self) -> None:
        """End all processes without waiting for them; jobs under way fail, and no others begin."""
        self._lanes.close()
        with self._splitting:
            if self._stem is not None:
                self._stem.retire()
                self._retired.append(self._stem)
                self._stem = None

    def close(self) -> None:
        """End all processes, and wait until nothing of them is left."""
        self.end()
        with self._splitting:
            stems, self._retired = self._retired, []
        for stem in stems:
            stem.close()

    def _split(self, is_slow: bool) -> RoomProcess:  # noqa: FBT001  # the one thing that lanes say
        """Return a new process, from a stem that has imported what the jobs need by now."""
        with self._splitting:
            modules = modules_of(self.name)
            if self._stem is None or not self._stem.is_running or self._stem.modules != modules:
                if self._stem is not None:
                    self._stem.retire()
                    self._retired.append(self._stem)
                    self._stem = None
                try:
                    self._stem = room_stem(self.name, modules)
                except OSError as error:
                    raise cannot_start(error) from error
            return RoomProcess(self._stem, is_slow=is_slow)

    async def _lane(self) -> Lane[RoomProcess]:
        future = self._lanes.take()
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            self._lanes.give_up(future)
            raise

    def _wait_and_work(self, ask: _Ask, on_step: Callable[[object], None]) -> object:
        turn = TURN.get()
        if turn is None:
            return self._work(self._lanes.take().result(), ask, on_step)
        lane = turn.wait_for_lane(self._lanes)
        try:
            return self._work(lane, ask, on_step)
        finally:
            turn.leave(lane)

    def _work(self, lane: Lane[RoomProcess], ask: _Ask, on_step: Callable[[object], None] = _ignore) -> object:
        """Run a job to its end, and give its lane back with a process that can go on."""
        is_good = has_process = False
        try:
            process = lane.ready(modules_of(self.name))
            has_process = True
            end: tuple[object, ...] = ()
            for end in process.exchange(ask.job.what, ask.job.limits, ask.question, ask.job.hint):
                if end[0] == "step":
                    on_step(end[1])
            kind, value, was_spent, used_s = end
            is_good = was_spent is False and not lane.is_aside()
            lane.note_use(used_s)
            return _value(ask.job, kind, value)
        finally:
            if not is_good:
                lane.drop()
                if has_process and self._lanes.keeps(lane):
                    lane.refill(modules_of(self.name))
            self._lanes.give_back(lane)


class _Ask(NamedTuple):
    """A job and what it is asked, as it goes over the wire."""

    job: _AnyJob
    question: _Question

    @classmethod
    def of(cls, job: object, args: tuple[object, ...], kwargs: dict[str, object]) -> _Ask:
        asked = cast("_AnyJob", job)
        return cls(asked, (asked.name, args, kwargs))


@cache
def room_of(name: str = COMMON) -> Room:
    """Return the room of this name that everything in this process shares; its processes start when needed."""
    room = Room(name)
    _ROOMS.append(room)
    atexit.register(room.close)
    return room


def close_rooms() -> None:
    """End all processes of the shared rooms, whatever they do; the next `room_of` gives new ones.

    Nothing waits here for their last: a page that ends has to be gone before it tells how its work came out.
    """
    room_of.cache_clear()
    while _ROOMS:
        _ROOMS.pop().end()


_ROOMS: list[Room] = []
_OVER = object()


def _value(job: _AnyJob, kind: object, value: object) -> object:
    """Return the value of a job's end, or raise the error that it says."""
    if kind == "value":
        return value
    if kind == "error" and isinstance(value, DebuggerError):
        raise value
    if kind == "memory":
        message = f"{job.what} needed more than {job.limits.memory_mb:,} MB of memory"
        raise RoomError(message, job.hint, limit="memory")
    raise RoomError(f"{job.what} failed: {value}", "This is a fault of the program: report it.", limit="fault")


async def _in_thread(lane: Lane[LaneProcess], work: Callable[[], object]) -> object:
    """Await work that waits for a lane's process; cancelling ends the process, and with it the thread."""
    job_number = lane.job_number
    try:
        return await asyncio.wrap_future(begin(work, "room"))
    except asyncio.CancelledError:
        lane.stop(job_number)
        raise
