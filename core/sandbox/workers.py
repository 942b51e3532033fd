"""A few warm processes, and the queue for them: a worker is a place for one process after the other.

Workers are given to the address that holds fewest and used least recently, of its pages to the one that holds fewest
and used least, then to the one that asks fewest at once, then to the one who came first. No page holds more than half
of them. While others are there, all pages that used much recently share one worker of low priority, and the other
pages of an address that used much another one (`fairness`). A job that runs for long gives way to whatever else the
machine has to do, and is set aside: another worker takes its place for those who wait, and the last free one is not
given to an address that has a job aside, if it is not alone. A page that holds none, used little and has waited a
moment in which no one else was served gets a further worker. One of several is kept for pages that were answered
before, or ask for little. All that as far as there is memory; workers beyond the
usual number go when no one needs them. Where strangers share a page and the places for jobs aside are taken, the one
that used most of its address is ended for a page that waits and used less.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from prompt_debugger.core.base.errors import SandboxError
from prompt_debugger.core.sandbox.fairness import Fairness, Lane
from prompt_debugger.core.sandbox.worker import CLOSED, LONG_S, Worker, WorkerProcess

# Whose work it is: `ADDRESS/PAGE`, or a page alone; "" is no one's in particular and has no share.
VISITOR: ContextVar[str] = ContextVar("visitor whose text is worked on", default="")
# Whether that is much, for a page that was never answered: where others are there, one worker is kept for them. False
# is known of pages that were, or ask for little; `None` where no one knows.
ON_TRIAL: ContextVar[bool | None] = ContextVar("whether the visitor's page is on trial", default=None)

_PATIENCE_S = 0.1  # a further process costs some milliseconds
MAX_EVER = 8  # workers, further ones and those aside included
_FEW = 4  # as many wait, and a job is long with half as much
_LEAST = 0.25  # of the usual, however many wait
_STEP_S = 0.1  # what pages used is compared in steps of so much
_MAX_OF_ADDRESS = 3  # which it holds when one of its pages gets a further one; as many jobs aside


AnyProcess = TypeVar("AnyProcess", bound=WorkerProcess)


class _Waiter(NamedTuple, Generic[AnyProcess]):
    future: Future[Worker[AnyProcess]]
    owner: str
    since_s: float
    is_on_trial: bool | None


class Workers(Generic[AnyProcess]):
    """Gives workers out and takes them back, at most `most` at all times; from any thread."""

    def __init__(self, start: Callable[[bool], AnyProcess], most: int, fairness: Fairness | None = None) -> None:
        self.all = tuple(Worker(start) for _ in range(most))
        self._start = start
        self._most = most
        self._idle = list(self.all)
        self._waiting: list[_Waiter[AnyProcess]] = []
        self._lock = threading.Lock()
        self._is_closed = False
        self._timer: threading.Timer | None = None
        self._timer_s = 0.0
        self._share = max(1, most // 2)
        self._fairness = fairness or Fairness()
        self._served_s = 0.0  # when a visitor who used little was given a worker

    def take(self) -> Future[Worker[AnyProcess]]:
        """Return a worker to come; anyone who stops waiting for it calls `give_up`."""
        future: Future[Worker[AnyProcess]] = Future()
        with self._lock:
            if self._is_closed:
                future.set_exception(SandboxError(CLOSED, limit="stopped"))
                return future
            self._fairness.note(VISITOR.get())
            self._waiting.append(_Waiter(future, VISITOR.get(), time.monotonic(), ON_TRIAL.get()))
            self._hand_out()
            self._watch()
        return future

    def give_up(self, future: Future[Worker[AnyProcess]]) -> None:
        """Stop waiting for a worker; one that came in the same moment goes to the next."""
        if not future.cancel() and future.exception() is None:
            self.give_back(future.result())

    def give_back(self, worker: Worker[AnyProcess]) -> None:
        """Let the next have a worker; one beyond the usual number goes if there is none."""
        with self._lock:
            self._fairness.charge(worker.owner, worker.cost_s())
            self._idle.append(worker)
            self._hand_out()
            goes = worker in self._idle and not self._is_kept(worker)
            if goes:
                self._idle.remove(worker)
                self.all = tuple(other for other in self.all if other is not worker)
        if goes:
            worker.drop()

    def keeps(self, worker: Worker[AnyProcess]) -> bool:
        """Return whether a worker stays when it is given back, so that its next process is worth starting."""
        with self._lock:
            return self._is_kept(worker)

    def cost_so_far_s(self, owner: str) -> float:
        """Return the processor time of a page's jobs under way."""
        with self._lock:
            own = [worker for worker in self.all if worker.owner == owner and worker not in self._idle]
        return sum(worker.cost_so_far_s() for worker in own)

    def close(self) -> None:
        """End all processes; anyone who waits hears that the sandbox is closed."""
        with self._lock:
            self._is_closed = True
            if self._timer is not None:
                self._timer.cancel()
            waiting, self._waiting = self._waiting, []
            idle, self._idle = self._idle, []
        for waiter in waiting:
            if waiter.future.set_running_or_notify_cancel():
                waiter.future.set_exception(SandboxError(CLOSED, limit="stopped"))
        for worker in self.all:
            worker.shut()
        for worker in idle:
            worker.drop()

    def _hand_out(self) -> None:
        """Give idle workers to those who wait; warm ones first."""
        for lane in Lane:
            while not self._is_closed and (worker := self._idle_worker(lane)) is not None:
                index = self._next_in_line(lane)
                if index is None:
                    break
                self._hand(worker, self._waiting.pop(index))

    def _hand(self, worker: Worker[AnyProcess], waiter: _Waiter[AnyProcess]) -> None:
        """Give a worker to who waits, if they still do."""
        future, owner, *_ = waiter
        if not future.set_running_or_notify_cancel():
            return
        if worker in self._idle:
            self._idle.remove(worker)
        else:
            self.all = (*self.all, worker)
        worker.hold(owner)
        if worker.lane is Lane.USUAL:
            self._served_s = time.monotonic()
        self._watch()
        with suppress(Exception):  # a callback of the waiter's own
            future.set_result(worker)

    def _idle_worker(self, lane: Lane) -> Worker[AnyProcess] | None:
        """Return a worker that no one holds, a warm one if there is; the slow ones are made when they are needed."""
        idle = [worker for worker in self._idle if worker.lane is lane]
        if lane is not Lane.USUAL and not idle and not any(self._serves(worker, lane) for worker in self.all):
            is_first = not any(worker.lane is lane for worker in self.all)
            if is_first or (len(self.all) < MAX_EVER and has_memory_for_another()):
                return Worker(self._start, lane)
        return max(idle, key=_is_warm, default=None)

    def _serves(self, worker: Worker[AnyProcess], lane: Lane) -> bool:
        """Return whether others of a lane wait for this worker: a job aside holds up no one who used little."""
        return worker.lane is lane and (lane is Lane.HEAVY or not worker.is_aside())

    def _next_in_line(self, lane: Lane) -> int | None:
        """Return who is next: of those below their share the address, then its page, that has and used least."""
        held = self._held()
        of_address = Counter(map(_address, held.elements()))
        barred = self._barred(lane)
        asked = Counter(waiter.owner for waiter in self._waiting)
        used = self._fairness.used_by_all([waiter.owner for waiter in self._waiting])
        is_last = lane is Lane.USUAL and self._has_one_left()
        candidates = [
            (
                of_address[_address(owner)] if owner else 0,
                used[owner][0],
                bool(is_on_trial),
                held[owner],
                int(used[owner][1] / _STEP_S),
                asked[owner],
                index,
            )
            for index, (_, owner, _, is_on_trial) in enumerate(self._waiting)
            if held[owner] < self._share and self._fairness.lane_of(owner) is lane
            if _address(owner) not in barred or (used[owner][1] < _STEP_S and is_on_trial is False)
            if not (is_last and is_on_trial)
        ]
        return min(candidates)[-1] if candidates else None

    def _has_one_left(self) -> bool:
        """Return whether one of several usual workers is idle, which is kept for pages that are not on trial."""
        idle = sum(worker.lane is Lane.USUAL for worker in self._idle)
        return idle <= 1 < self._most and self._fairness.is_shared()

    def _barred(self, lane: Lane) -> set[str]:
        """Return the addresses that have a job aside and so do not get the last free worker, if others are there.

        One that used much may have a few jobs aside: each takes a place of its own.
        """
        if lane is Lane.HEAVY or not self._fairness.has_other_addresses():
            return set()
        aside = self._aside()
        if lane is Lane.CROWDED:
            return {address for address, count in aside.items() if count >= _MAX_OF_ADDRESS}
        if sum(worker.lane is Lane.USUAL for worker in self._idle) > 1:
            return set()
        return set(aside)

    def _aside(self) -> Counter[str]:
        """Return how many jobs aside each address has, those left out that everyone who used much waits for."""
        return Counter(_address(worker.owner) for worker in self._jobs_aside())

    def _jobs_aside(self) -> list[Worker[AnyProcess]]:
        held = (worker for worker in self.all if worker not in self._idle and worker.lane is not Lane.HEAVY)
        return [worker for worker in held if worker.owner and worker.is_aside() and not worker.makes_room]

    def _is_kept(self, worker: Worker[AnyProcess]) -> bool:
        if worker.lane is Lane.USUAL:
            return len(self._usual()) <= self._most
        return sum(self._serves(other, worker.lane) for other in self.all) <= 1

    def _usual(self) -> list[Worker[AnyProcess]]:
        """Return the workers for jobs that are not suspected of anything."""
        return [worker for worker in self.all if worker.lane is Lane.USUAL and not worker.is_aside()]

    def _held(self) -> Counter[str]:
        """Return how many workers each has."""
        held = Counter(worker.owner for worker in self.all if worker not in self._idle)
        held[""] = 0
        return held

    def _watch(self) -> None:
        """Look in a moment whether a visitor still waits, or a job still runs; called with the lock held."""
        if self._is_closed:
            return
        is_waited = any(waiter.owner for waiter in self._waiting)
        if not is_waited and not (self._fairness.is_shared() and any(self._held())):
            return
        wait_s = _PATIENCE_S if is_waited else LONG_S
        if self._timer is not None:
            if self._timer_s <= wait_s:
                return
            self._timer.cancel()  # someone waits now: look sooner
        self._timer, self._timer_s = threading.Timer(wait_s, self._look_again), wait_s
        self._timer.daemon = True
        self._timer.start()

    def _look_again(self) -> None:
        """Let long jobs give way; add a worker if a visitor has none and has waited long enough, if there is memory."""
        with self._lock:
            if isinstance(timer := threading.current_thread(), threading.Timer) and timer is not self._timer:
                return  # it was called off as it began
            self._timer = None
            self._waiting = [waiter for waiter in self._waiting if not waiter.future.cancelled()]
            if self._fairness.is_shared():
                long_s = self._long_s()
                for worker in self.all:
                    if worker.owner and worker not in self._idle:
                        worker.give_way_if_long(self._fairness.used(worker.owner)[1], long_s)
            while self._wants_another() and len(self.all) < MAX_EVER and has_memory_for_another():
                worker = Worker(self._start)
                self.all = (*self.all, worker)
                self._idle.append(worker)
                waiting = len(self._waiting)
                self._hand_out()
                if len(self._waiting) == waiting:  # no one may have it
                    break
            self._make_room()
            self._watch()

    def _wants_another(self) -> bool:
        """Return whether a visitor who waits is worth a further worker."""
        is_kept = self._has_one_left() and all(waiter.is_on_trial for waiter in self._waiting)
        if self._is_closed or (self._idle_worker(Lane.USUAL) and not (is_kept and len(self._usual()) <= self._most)):
            return False
        held = (worker.owner for worker in self._usual() if worker not in self._idle)
        of_address, aside = Counter(map(_address, held)), self._aside()
        return any(
            self._fairness.lane_of(owner) is Lane.USUAL
            and of_address[_address(owner)] < _MAX_OF_ADDRESS
            and aside[_address(owner)] < _MAX_OF_ADDRESS
            for owner in self._patient()
        )

    def _patient(self) -> list[str]:
        """Return who holds no worker, and waited long enough for one to be worth a further one."""
        is_replaced = len(self._usual()) < self._most  # one is set aside
        held, since_s = self._held(), time.monotonic() - (0.0 if is_replaced else _PATIENCE_S)
        if not is_replaced and self._served_s > since_s:  # the queue moves
            return []
        return [one.owner for one in self._waiting if one.owner and one.since_s <= since_s and not held[one.owner]]

    def _make_room(self) -> None:
        """End a job aside that used most, for a page that used less and waits: one of its own address if that has many.

        Only one is ended at a time.
        """
        is_under_way = any(worker.makes_room for worker in self.all if worker not in self._idle)
        if is_under_way or not self._fairness.ends_jobs:
            return
        jobs, aside = self._jobs_aside(), self._aside()
        is_full = len(self.all) >= MAX_EVER or not has_memory_for_another()
        patient = self._patient()
        for owner in sorted(patient, key=self._fairness.used_by_all(patient).__getitem__):
            if self._fairness.lane_of(owner) is Lane.HEAVY:
                continue
            own = _address(owner)
            has_many = aside[own] >= _MAX_OF_ADDRESS
            theirs = own if has_many else max(aside, key=lambda name: aside[name], default="") if is_full else ""
            cost_s, index = max(
                ((self._cost_s(one), index) for index, one in enumerate(jobs) if _address(one.owner) == theirs),
                default=(0.0, 0),
            )
            least_s = self._long_s() * (1 if theirs and jobs[index].can_restart else 2)
            if theirs and cost_s > max(least_s, 2 * self._fairness.used(owner)[1]):
                jobs[index].make_room()
                return

    def _long_s(self) -> float:
        """Return how much a page uses until its job is long: less where many wait."""
        return LONG_S * max(_LEAST, _FEW / (_FEW + len(self._waiting)))

    def _cost_s(self, worker: Worker[AnyProcess]) -> float:
        """Return what the page whose job is under way used, with this job."""
        return worker.cost_so_far_s() + self._fairness.used(worker.owner)[1]


def _address(owner: str) -> str:
    return owner.partition("/")[0]


def _is_warm(worker: Worker[WorkerProcess]) -> bool:
    return worker.process is not None and worker.process.is_running


_NEEDED_BYTES = 1536 << 20
_MACHINE = Path("/proc/meminfo")
_CONTAINER = Path("/sys/fs/cgroup")


def has_memory_for_another(machine: Path = _MACHINE, container: Path = _CONTAINER) -> bool:
    """Return whether a process may be started on top of those that are there; True if the system does not say."""
    return all(free >= _NEEDED_BYTES for free in (_free_of_machine(machine), _free_of_container(container)))


def _free_of_machine(file: Path) -> float:
    with suppress(OSError, ValueError, IndexError):
        for line in file.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    return float("inf")


def _free_of_container(folder: Path) -> float:
    with suppress(OSError, ValueError, StopIteration):
        most = int((folder / "memory.max").read_text())  # "max" where there is no limit
        used = int((folder / "memory.current").read_text())
        lines = (folder / "memory.stat").read_text().splitlines()
        cache = next(int(line.split()[1]) for line in lines if line.startswith("inactive_file "))
        return most - used + cache
    return float("inf")
