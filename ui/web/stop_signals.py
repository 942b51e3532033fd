"""Ctrl-C and SIGTERM, handled whichever thread the system delivers them to."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM})


class StopSignals:
    """Listens from its making on; make it in the main thread.

    A handler in Python waits until the main thread comes back from what it waits for, and a signal that the system
    gives to another thread does not wake it. So the signals come as bytes through a pipe, and a thread reads them:
    the main thread may be in the midst of starting the page.

    Args:
        at_once: Called when one has come, whatever the main thread does.
    """

    def __init__(self, at_once: Callable[[], None]) -> None:
        self._reader, writer = os.pipe()
        self._has_come = threading.Event()
        self._at_once = at_once
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer)
        for number in _SIGNALS:
            signal.signal(number, lambda *_: None)
        threading.Thread(target=self._listen, name="stop signals", daemon=True).start()

    def wait(self) -> None:
        """Return once one of them has come, also before this was called."""
        self._has_come.wait()

    def _listen(self) -> None:
        while not _SIGNALS.intersection(os.read(self._reader, 1)):
            pass
        self._at_once()
        self._has_come.set()
