"""What a public page writes to its log: that something failed and where, never a word of what visitors typed.

Gradio prints the traceback of whatever an event raises, and its messages quote the values of fields; warnings and
other libraries do the same. Here a log entry is the place in the code and the kind of the error. Our own entries are
made of words of ours; what is put into their blanks may be a visitor's, and is left out.
"""

from __future__ import annotations

import io
import logging
import re
import sys
import threading
import traceback
import warnings
from types import TracebackType

_OURS = "prompt_debugger"
_DISCREET = frozenset({"prompt_debugger.page", "prompt_debugger.egress"})  # whose words are kinds and places alone
_PLACES = 6
_BLANK = re.compile(r"%[-+ #0-9.]*[a-zA-Z]")


def log_places_only() -> None:
    """Let this process log places and kinds alone from now on; call it once the page is up."""
    handler = logging.StreamHandler()
    handler.setFormatter(_PrivateFormatter())
    root = logging.getLogger()
    for known in [*root.handlers]:
        root.removeHandler(known)
    root.addHandler(handler)
    for name in list(logging.root.manager.loggerDict):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    log = logging.getLogger("prompt_debugger.page")

    def log_exception(*_: object, **__: object) -> None:
        log.error("an event failed", exc_info=True)

    def log_warning(_message: object, category: type[Warning], filename: str, lineno: int, *_: object) -> None:
        log.warning("%s at %s:%d", category.__name__, filename, lineno)

    def log_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        log.error("something failed that was not awaited", exc_info=(kind, error, trace))

    def log_uncaught_of_thread(args: threading.ExceptHookArgs) -> None:
        log.error("a thread failed", exc_info=(args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback))

    sys.excepthook = log_uncaught
    threading.excepthook = log_uncaught_of_thread
    traceback.print_exc = log_exception
    traceback.print_exception = log_exception
    warnings.showwarning = log_warning  # type: ignore[assignment]  # the last arguments are not wanted
    sys.stdout = sys.stderr = _Nowhere()


class _PrivateFormatter(logging.Formatter):
    """Writes where an entry comes from, its words if they are ours, and of an exception kind and places."""

    def format(self, record: logging.LogRecord) -> str:
        words = "a library logged a message; its text is left out"
        if record.name in _DISCREET or (_is_ours(record) and record.levelno >= logging.ERROR):
            words = record.getMessage()
        elif _is_ours(record):
            words = _BLANK.sub("…", str(record.msg))
        kind = record.exc_info[0] if record.exc_info else None
        reported = f": {kind.__name__}{_places(record.exc_info[2])}" if record.exc_info and kind else ""
        return f"{record.levelname} {record.name}:{record.lineno} {words}{reported}"

    def formatException(self, _: object) -> str:  # noqa: N802  # the library's name
        """Return nothing: what an exception says may be what a visitor typed."""
        return ""


def _is_ours(record: logging.LogRecord) -> bool:
    return record.name.split(".")[0] == _OURS


def _places(trace: TracebackType | None) -> str:
    frames = traceback.extract_tb(trace)[-_PLACES:]
    return "".join(
        f" < {frame.name} ({frame.filename.rpartition('/')[2]}:{frame.lineno})" for frame in reversed(frames)
    )


class _Nowhere(io.TextIOBase):
    """Takes what libraries print and drops it."""

    def write(self, text: str) -> int:
        """Drop a text."""
        return len(text)

    def writable(self) -> bool:
        """Say that anything may be written."""
        return True
