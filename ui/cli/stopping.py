"""Ctrl-C and SIGTERM, where a command does more than to end at once: one place for all that serves."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopped_by(stop: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Call `stop` on Ctrl-C and SIGTERM meanwhile, in the loop that runs, if one does."""
    try:
        loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
    except RuntimeError:
        loop = None

    def handle(number: int, _frame: FrameType | None) -> None:
        stop(signal.Signals(number))

    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number in _SIGNALS:
        if loop is None:
            signal.signal(number, handle)
        else:  # a handler of `signal` does not wake it
            loop.add_signal_handler(number, stop, number)
    try:
        yield
    finally:
        for number, handler in before.items():
            if loop is not None:
                loop.remove_signal_handler(number)
            signal.signal(number, handler)


@contextmanager
def until_stopped() -> Iterator[asyncio.Event]:
    """Give what Ctrl-C and SIGTERM set."""
    ending = asyncio.Event()
    with stopped_by(lambda _: ending.set()):
        yield ending
