"""A thread for each piece of work that waits, without a limit: long waits could exhaust a pool of fixed size.

A thread that is done stays a moment for the next piece of work: starting one costs as much as a short job.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")

_STAYS_S = 5.0


class Threads:
    """Threads that are kept for the next piece of work; each program needs one of these (`begin`)."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._idle: list[_Thread] = []  # the one that was busy last is last
        os.register_at_fork(after_in_child=self._idle.clear)  # there are no other threads in the child

    def begin(self, work: Callable[[], T], name: str) -> Future[T]:
        """Return the future of work in a thread of its own, which does not keep the program from ending."""
        done: Future[T] = Future()

        def wait() -> None:
            try:
                value = work()
            except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
                with suppress(InvalidStateError):
                    done.set_exception(error)
            else:
                with suppress(InvalidStateError):
                    done.set_result(value)

        with self._changing:
            thread = self._idle.pop() if self._idle else None
        if thread is None:
            _Thread(self, wait, name)
        else:
            thread.take(wait, name)
        return done

    def idle(self) -> tuple[threading.Thread, ...]:
        """Return the threads that have nothing to do."""
        with self._changing:
            return tuple(one.thread for one in self._idle)

    def give_back(self, thread: _Thread) -> None:
        """Take a thread that is done with its piece of work."""
        with self._changing:
            self._idle.append(thread)

    def let_go(self, thread: _Thread) -> bool:
        """Return whether a thread that waited long enough may end: not one that was taken at this very moment."""
        with self._changing:
            if thread in self._idle:
                self._idle.remove(thread)
                return True
        return False


class _Thread:
    """A thread that does one piece of work after the other."""

    def __init__(self, home: Threads, work: Callable[[], None], name: str) -> None:
        self._home = home
        self._work: Callable[[], None] | None = work
        self._has_work = threading.Lock()
        self._has_work.acquire()
        self.thread = threading.Thread(target=self._go_on, name=name, daemon=True)
        self.thread.start()

    def take(self, work: Callable[[], None], name: str) -> None:
        """Give it the next piece; by the thread that took it out of the idle ones."""
        self._work, self.thread.name = work, name
        self._has_work.release()

    def _go_on(self) -> None:
        while True:
            work, self._work = self._work, None
            assert work is not None
            work()
            del work  # what it holds is not held while nothing is done
            self._home.give_back(self)
            if not self._has_work.acquire(timeout=_STAYS_S):
                if self._home.let_go(self):
                    return
                self._has_work.acquire()


begin = Threads().begin
