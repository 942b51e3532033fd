"""A thread for each piece of work that waits, however many there are: a fixed number whoever waits long could fill.

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


def begin(work: Callable[[], T], name: str) -> Future[T]:
    """Return what will come of work in a thread that does nothing else meanwhile, nor keeps the program from ending."""
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

    with _CHANGING:
        thread = _IDLE.pop() if _IDLE else None
    if thread is None:
        _Thread(wait, name)
    else:
        thread.take(wait, name)
    return done


class _Thread:
    """A thread with one piece of work after the other."""

    def __init__(self, work: Callable[[], None], name: str) -> None:
        self._work: Callable[[], None] | None = work
        self._has_work = threading.Lock()
        self._has_work.acquire()
        self._thread = threading.Thread(target=self._go_on, name=name, daemon=True)
        self._thread.start()

    def take(self, work: Callable[[], None], name: str) -> None:
        """Give it the next piece; by whoever took it out of the idle ones."""
        self._work, self._thread.name = work, name
        self._has_work.release()

    def _go_on(self) -> None:
        while True:
            work, self._work = self._work, None
            assert work is not None
            work()
            del work  # what it holds is not held while nothing is done
            with _CHANGING:
                _IDLE.append(self)
            if not self._has_work.acquire(timeout=_STAYS_S):
                with _CHANGING:
                    if self in _IDLE:
                        _IDLE.remove(self)
                        return
                self._has_work.acquire()  # taken in this very moment


_CHANGING = threading.Lock()
_IDLE: list[_Thread] = []  # the one that was busy last is last
os.register_at_fork(after_in_child=_IDLE.clear)  # there are no other threads in the child
