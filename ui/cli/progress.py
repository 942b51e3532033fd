"""Standard error, where a command says what it is at: one mechanism for all that takes longer than a moment.

A terminal gets one line that counts and then disappears; a file or a pipe gets plain lines, few of them.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from prompt_debugger.core.base.text import printable

QUIET_S = 2.0  # what is quicker is not said
_PLAIN_S = 30.0  # between plain lines
_TICK_S = 1.0
_CLEAR = "\r\x1b[K"


class _Work:
    """What the program is at, and what of it was said."""

    def __init__(self, words: str, quiet_s: float) -> None:
        self.words = words
        self.done = threading.Event()
        self._quiet_s = quiet_s
        self._began = self._at = time.monotonic()
        self._said = ""  # the last that stays to be read
        self._is_drawn = False
        self._lock = threading.Lock()

    def tell(self) -> None:
        """Say what takes long, until it is done; work of a thread."""
        pause = self._quiet_s
        while not self.done.wait(pause):
            with self._lock:
                quiet = time.monotonic() - self._at
                if quiet < self._quiet_s:
                    pause = self._quiet_s - quiet
                    continue
                pause = _TICK_S
                if not self.words:
                    continue
                if sys.stderr.isatty():
                    self._draw()
                elif self._said != self.words and (not self._said or quiet >= _PLAIN_S):
                    self._write(f"{self.words} …")
                    self._said, self._at = self.words, time.monotonic()

    def write(self, sentence: str) -> None:
        """Write a line that stays."""
        with self._lock:
            self._clear()
            self._write(sentence)
            self._said, self._at = self.words, time.monotonic()

    def clear(self) -> None:
        """Take the counting line away: something else is printed."""
        with self._lock:
            self._clear()
            self._at = time.monotonic()

    def _draw(self) -> None:
        with suppress(OSError):
            shown = printable(self.words, on_one_line=True)
            sys.stderr.write(f"{_CLEAR}{shown}, {time.monotonic() - self._began:.0f} s")
            sys.stderr.flush()
            self._is_drawn = True

    def _clear(self) -> None:
        if self._is_drawn:
            with suppress(OSError):
                sys.stderr.write(_CLEAR)
                sys.stderr.flush()
            self._is_drawn = False

    def _write(self, sentence: str) -> None:
        _write_line(sentence)


def _write_line(sentence: str) -> None:
    encoding = sys.stderr.encoding or "utf-8"
    with suppress(OSError):  # a log on a full disk, or one that no one reads any more
        sys.stderr.write(printable(sentence).encode(encoding, "backslashreplace").decode(encoding) + "\n")
        sys.stderr.flush()


_works: list[_Work] = []  # one command at a time; the innermost is the last


@contextmanager
def working(words: str, quiet_s: float | None = None) -> Iterator[None]:
    """Say what the program is at (`say` changes the words), as soon as it has said nothing for `quiet_s` seconds."""
    clear()
    work = _Work(words, QUIET_S if quiet_s is None else quiet_s)
    teller = threading.Thread(target=work.tell, daemon=True)
    _works.append(work)
    teller.start()
    try:
        yield
    finally:
        _works.remove(work)
        work.done.set()
        teller.join()
        work.clear()
        clear()  # the work around it starts counting again


def say(words: str) -> None:
    """Say what the program is at by now; shown only once it takes long."""
    if _works:
        _works[-1].words = words


@contextmanager
def resting() -> Iterator[None]:
    """Say nothing meanwhile: a person or a file is waited for, however long it takes."""
    with working(""):
        yield


def log(sentence: str) -> None:
    """Say something to the person, never to the program that reads stdout; it matters to nothing if no one hears it."""
    if _works:
        _works[-1].write(sentence)
    else:
        _write_line(sentence)


def clear() -> None:
    """Make room for what is printed."""
    if _works:
        _works[-1].clear()
