"""Ctrl-C and SIGTERM, heard whichever of the program's threads the system wakes for them."""

from __future__ import annotations

import os
import signal

_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM})


class StopSignals:
    """Listens from its making on; in the main thread.

    A handler in Python waits until the main thread comes back from what it waits for, and a signal that the system
    gives to another thread does not wake it. So the signals come as bytes through a pipe.
    """

    def __init__(self) -> None:
        self._reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer)
        for number in _SIGNALS:
            signal.signal(number, lambda *_: None)

    def wait(self) -> None:
        """Return once one of them has come, also before this was called."""
        while not _SIGNALS.intersection(os.read(self._reader, 1)):
            pass
