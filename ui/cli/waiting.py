"""Say on standard error what takes longer than a moment: a line that counts on a terminal, one plain line elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from prompt_debugger.ui.cli.output import log

QUIET_S = 2.0
_TICK_S = 1.0
_CLEAR = "\r\x1b[K"


@contextmanager
def waiting(what: str, quiet_s: float = QUIET_S) -> Iterator[None]:
    """Say what is waited for once it takes longer than `quiet_s`, and take it away from a terminal at the end."""
    done = threading.Event()
    teller = threading.Thread(target=_tell, args=(what, quiet_s, done), daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def _tell(what: str, quiet_s: float, done: threading.Event) -> None:
    if done.wait(quiet_s):
        return
    if not sys.stderr.isatty():
        log(f"{what} …")
        return
    began = time.monotonic()
    with suppress(OSError):
        while True:
            print(f"{_CLEAR}{what}, {quiet_s + time.monotonic() - began:.0f} s", end="", file=sys.stderr, flush=True)
            if done.wait(_TICK_S):
                break
        print(_CLEAR, end="", file=sys.stderr, flush=True)
