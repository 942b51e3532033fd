"""One lab per spec for everyone: concurrent callers share a boot, and few run at once."""

from __future__ import annotations

import asyncio
import atexit
import itertools
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.tools.lab.guard import LabGuard
from prompt_debugger.core.tools.lab.progress import LabProgress, LabState
from prompt_debugger.core.tools.lab.server import Lab
from prompt_debugger.core.tools.lab.spec import LabSpec

Listener = Callable[[LabProgress], None]

_DEATH_S = 10.0  # on a busy machine the supervisor hears late of the end of a lab that refuses connections


@dataclass(slots=True, eq=False)
class _Entry:
    """A lab in the pool."""

    lab: Lab
    ready: Future[Lab] = field(default_factory=Future)
    listeners: list[Listener] = field(default_factory=list)
    lease_count: int = 0
    last_use: int = 0

    def __post_init__(self) -> None:
        self.ready.set_running_or_notify_cancel()  # from now on no caller can cancel it for the others

    @property
    def is_dead(self) -> bool:
        return self.ready.done() and (self.ready.exception() is not None or not self.lab.is_alive)

    @property
    def is_idle(self) -> bool:
        return self.ready.done() and self.lease_count == 0


class LabPool:
    """The labs of this program, usable from any number of event loops and threads."""

    def __init__(self, max_running: int = 2, guard: LabGuard | None = None) -> None:
        """Make an empty pool: at `max_running` labs an idle one makes room; ask `guard` before asking a lab."""
        self.guard = guard or LabGuard()
        self._max_running = max_running
        self._entries: dict[LabSpec, _Entry] = {}
        self._room_waiters: list[Future[None]] = []
        self._uses = itertools.count(1)
        self._lock = threading.RLock()  # reentrant: a signal handler may call `stop_all` anywhere
        atexit.register(self.stop_all)
        atexit.register(self.guard.close)

    @property
    def labs(self) -> tuple[Lab, ...]:
        """All labs that run or boot."""
        with self._lock:
            return tuple(entry.lab for entry in self._entries.values() if not entry.is_dead)

    def peek(self, spec: LabSpec) -> Lab | None:
        """Return the lab of a spec as it is, booting, running or dead; `None` if there is none."""
        with self._lock:
            entry = self._entries.get(spec)
            return entry.lab if entry is not None else None

    async def get(self, spec: LabSpec, on_progress: Listener | None = None) -> Lab:
        """Return a running lab, booting it if need be.

        Cancelling a caller leaves the boot to the others. Another session may make the pool stop the lab as soon as
        it is idle: anyone who uses it for a while takes a `lease`.

        Args:
            spec: What it is to serve.
            on_progress: Called on the caller's event loop with each report on the boot.

        Raises:
            LabError: It does not start.
        """
        async with self.lease(spec, on_progress) as lab:
            return lab

    @asynccontextmanager
    async def lease(self, spec: LabSpec, on_progress: Listener | None = None) -> AsyncIterator[Lab]:
        """Give a running lab that is not stopped to make room for another while the block runs; see `get`."""
        listener = _call_on_this_loop(on_progress)
        while True:
            entry = self._claim(spec, listener)
            if entry is None:
                await self._wait_for_room(listener)
                continue
            try:
                lab = await asyncio.wrap_future(entry.ready)
                if not await asyncio.to_thread(lab.is_healthy):
                    await asyncio.to_thread(self._discard, entry)
                    continue
                listener(LabProgress(LabState.READY, "The lab is ready", 1.0, lab.progress.elapsed_s))
                yield lab
                return
            finally:
                self._release(entry, listener)

    def stop_all(self) -> None:
        """Stop every lab and return when all are gone; safe at exit and in a signal handler."""
        with self._lock:
            labs = [entry.lab for entry in self._entries.values()]
            self._entries.clear()
        for lab in labs:
            lab.request_stop()
        for lab in labs:
            lab.stop()
        self._announce_room()

    def _claim(self, spec: LabSpec, listener: Listener) -> _Entry | None:
        """Take a lease on the entry of `spec`, starting its boot if there is none; `None` if there is no room."""
        with self._lock:
            entry = self._entries.get(spec)
            if entry is None or entry.is_dead:
                victims = self._make_room()
                if victims is None:
                    return None
                entry = self._entries[spec] = _Entry(Lab(spec))
                threading.Thread(target=self._boot, args=(entry, victims), name="lab-boot", daemon=True).start()
            entry.lease_count += 1
            entry.last_use = next(self._uses)
            entry.listeners.append(listener)
            return entry

    def _make_room(self) -> Sequence[Lab] | None:
        """Take labs out of the pool until one more may run; return those to stop, `None` if all are in use."""
        victims = [entry.lab for entry in self._entries.values() if entry.is_dead]
        for victim in victims:
            del self._entries[victim.spec]
        while len(self._entries) >= self._max_running:
            idle = [entry for entry in self._entries.values() if entry.is_idle]
            if not idle:
                return None
            oldest = min(idle, key=lambda entry: entry.last_use)
            del self._entries[oldest.lab.spec]
            victims.append(oldest.lab)
        return victims

    async def _wait_for_room(self, listener: Listener) -> None:
        waiter: Future[None] = Future()
        with self._lock:
            self._room_waiters.append(waiter)
            if any(entry.is_idle or entry.is_dead for entry in self._entries.values()):
                self._announce_room()  # it came free since we looked
        busy = f"Waiting until one of {self._max_running} busy labs is free"
        listener(LabProgress(LabState.STARTING, busy, 0.0, 0.0))
        await asyncio.wrap_future(waiter)

    def _boot(self, entry: _Entry, victims: Sequence[Lab]) -> None:
        for victim in victims:
            victim.stop()
        try:
            entry.lab.boot(lambda progress: self._report(entry, progress))
        except LabError as error:
            entry.ready.set_exception(error)
        except BaseException as error:
            entry.ready.set_exception(error)  # a bug of ours must not leave callers waiting
            raise
        else:
            entry.ready.set_result(entry.lab)
        self._announce_room()

    def _report(self, entry: _Entry, progress: LabProgress) -> None:
        if progress.state is not LabState.READY:  # said by `lease`, to those who join later as well
            with self._lock:
                listeners = tuple(entry.listeners)
            for listener in listeners:
                listener(progress)

    def _discard(self, entry: _Entry) -> None:
        with self._lock:
            if self._entries.get(entry.lab.spec) is entry:
                del self._entries[entry.lab.spec]
        entry.lab.wait(_DEATH_S)  # a lab that is dying tells why; one that hangs does not
        entry.lab.stop()

    def _release(self, entry: _Entry, listener: Listener) -> None:
        with self._lock:
            entry.lease_count -= 1
            entry.listeners.remove(listener)
        self._announce_room()

    def _announce_room(self) -> None:
        with self._lock:
            waiters, self._room_waiters = self._room_waiters, []
        for waiter in waiters:
            if waiter.set_running_or_notify_cancel():
                waiter.set_result(None)


def _call_on_this_loop(on_progress: Listener | None) -> Listener:
    """Return a listener that any thread may call and that runs on the present event loop."""
    loop = asyncio.get_running_loop()

    def listen(progress: LabProgress) -> None:
        if on_progress is not None:
            with suppress(RuntimeError):  # the loop is closed: no one waits any more
                loop.call_soon_threadsafe(on_progress, progress)

    return listen
