"""A worker: a place for one process after the other, held by one job at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, Protocol, TypeVar

from prompt_debugger.core.base.errors import SandboxError
from prompt_debugger.core.sandbox.fairness import Lane

CLOSED = "the sandbox was closed"
SHORT_S = 0.02  # of processor time, and of a clock's: too little to be worth a thought
LONG_S = 0.2  # of processor time of a page; most jobs end sooner
VERY_LONG_S = 2.0  # that a job takes, whatever it uses: it may wait for something


class WorkerProcess(Protocol):
    """What a worker has to know of its process; `core.sandbox.process` says what each does."""

    @property
    def modules(self) -> tuple[str, ...]:
        """What it serves."""
        ...

    @property
    def is_running(self) -> bool:
        """Whether it is alive, or about to be."""
        ...

    @property
    def cpu_s(self) -> float:
        """Processor time that it used so far; 0 while it lives where the system does not report it."""
        ...

    def give_way(self) -> bool:
        """Let it give way to everything else; return whether it does."""
        ...

    def kill(self) -> None:
        """End it without waiting, from any thread."""
        ...

    def close(self) -> None:
        """End it and free its pipes."""
        ...


AnyProcess = TypeVar("AnyProcess", bound=WorkerProcess, covariant=True)


class Worker(Generic[AnyProcess]):
    """A place for one process after the other; held by one job at a time.

    Attributes:
        owner: Visitor whose job holds it.
        job_number: Counts its jobs, so that no one stops the one that came after theirs.
        lane: Whom it is for; the processes of all but the usual ones have low priority.
        makes_room: Whether its job was ended for others, who wait and used less.
        can_restart: Whether its job may begin again elsewhere: nothing of it has been handed on.
    """

    def __init__(self, start: Callable[[bool], AnyProcess], lane: Lane = Lane.USUAL) -> None:
        self.owner = ""
        self.lane = lane
        self.makes_room = self.can_restart = False
        self._begun_s = 0.0
        self._used_s = 0.0
        self._used_before_s = 0.0  # by earlier jobs of the process
        self._gives_way = False
        self.job_number = 0
        self._start = start
        self._process: AnyProcess | None = None
        self._changing = threading.Lock()
        self._is_stopped = False
        self._is_closed = False

    @property
    def process(self) -> AnyProcess | None:
        """The process, `None` before the first job."""
        return self._process

    def ready(self, modules: tuple[str, ...]) -> AnyProcess:
        """Return a running process that serves these modules; starts one if there is none.

        Raises:
            SandboxError: None can be started, or the job was stopped or the sandbox closed meanwhile.
        """
        process = self._process
        if process is None or not process.is_running or process.modules != modules:
            self.drop()
        with self._changing:
            if self._is_closed or self._is_stopped:
                raise SandboxError(CLOSED if self._is_closed else "The work was stopped.", limit="stopped")
            if self._process is None:
                self._process = self._start(self.lane is not Lane.USUAL)
            return self._process

    def hold(self, owner: str) -> None:
        """Begin a job of this visitor."""
        with self._changing:
            self.owner, self.job_number, self._is_stopped = owner, self.job_number + 1, False
            self.makes_room = self.can_restart = False
            self._begun_s, self._used_s = time.monotonic(), 0.0

    def note_use(self, used_s: object) -> None:
        """Remember the processor time of a job that ended well; how long it took says how busy the machine is."""
        self._used_s = used_s if isinstance(used_s, float) and used_s > 0 else 0.0
        self._used_before_s += self._used_s

    def cost_s(self) -> float:
        """Return the processor time of the job that held it, also of one that took its process down."""
        return self._used_s

    def cost_so_far_s(self) -> float:
        """Return the processor time of the job that holds it, as far as the system says."""
        process = self._process
        return 0.0 if process is None else max(0.0, process.cpu_s - self._used_before_s)

    def is_aside(self) -> bool:
        """Return whether its process yields to others because its job runs for long, which cannot be undone."""
        return self._gives_way

    def give_way_if_long(self, before_s: float = 0.0, long_s: float = LONG_S) -> None:
        """Let a job that has gone on for long give way to all others.

        Args:
            before_s: Processor time that its page used recently for other jobs.
            long_s: How much is long.
        """
        if not self._changing.acquire(blocking=False):  # its process is being started
            return
        try:
            if self._process is not None and not self._gives_way and self._is_long(self._process, before_s, long_s):
                self._gives_way = self._process.give_way()
        finally:
            self._changing.release()

    def _is_long(self, process: WorkerProcess, before_s: float, long_s: float) -> bool:
        """Return whether a job used much, which on a busy machine says more than how long it took."""
        went_on_s, used_s = time.monotonic() - self._begun_s, process.cpu_s - self._used_before_s
        return went_on_s >= VERY_LONG_S or (went_on_s >= SHORT_S < used_s and before_s + used_s >= long_s)

    def make_room(self) -> None:
        """End its job, without waiting, for others who wait."""
        self.makes_room = True
        self.stop(self.job_number)

    def stop(self, job_number: int | None = None) -> None:
        """End the job that holds it, without waiting; the holder hears of it. Another's job is left alone."""
        with self._changing:
            if job_number not in (None, self.job_number):
                return
            self._is_stopped = True
            if self._process is not None:
                self._process.kill()

    def drop(self) -> None:
        """End its process and wait for that; only by its holder."""
        with self._changing:
            process, self._process = self._process, None
            self._gives_way = False
        if process is not None:
            process.close()
            self._used_s += max(0.0, process.cpu_s - self._used_before_s)
        self._used_before_s = 0.0

    def refill(self, modules: tuple[str, ...]) -> None:
        """Start the next process at once, so that it is warm when it is needed; only by its holder."""
        self._is_stopped = False
        self._begun_s = float("inf")  # what its process does now belongs to no job
        with suppress(SandboxError):
            self.ready(modules)

    def shut(self) -> None:
        """Let no process begin in it any more, and end the one that runs."""
        self._is_closed = True
        self.stop()


def made_room(what: str) -> SandboxError:
    """Return the error of a job that was ended for others."""
    message = f"{what} was ended after a moment: others who used less were waiting"
    return SandboxError(message, "Try again in a minute, or run the program on your own machine.", limit="busy")


class MadeRoomError(Exception):
    """A job was ended for others before anything of it was handed on: it may begin again."""
