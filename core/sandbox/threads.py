"""A thread for one piece of work that waits: never one of a pool, which whoever waits long could fill."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


def begin(work: Callable[[], T], name: str) -> Future[T]:
    """Return what will come of work in a thread of its own, which does not keep the program from ending."""
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

    threading.Thread(target=wait, name=name, daemon=True).start()
    return done
