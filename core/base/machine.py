"""Faults of the machine in one vocabulary: a full disk, too few file descriptors, no memory, a port that is taken.

    disk-full     nothing more fits on the disk, or into a quota
    disk          the disk cannot be read or written
    read-only     a place may not be written
    descriptors   too many files are open
    memory        there is not enough memory
    processes     no further process or thread can be started
    port          another program listens there

Libraries report these as `OSError`, `sqlite3.Error`, `MemoryError` or `RuntimeError`, each in its own words.
Anyone who meets one raises `fault_of` it: one sentence that names the fault, and one that says what to do.
"""

from __future__ import annotations

import errno
import sqlite3
from typing import Final

from prompt_debugger.core.base.errors import DebuggerError, MachineError, RequestError

_MESSAGES: Final = {
    "disk-full": ("The disk is full.", "Free some space, or use a location on another disk."),
    "disk": (
        "The disk cannot be read or written.",
        "Check the disk and `ulimit -f`, or use a location on another disk.",
    ),
    "read-only": ("This location is not writable.", "Use one that this user may write to, or change its permissions."),
    "descriptors": ("Too many files are open.", "Raise the limit with `ulimit -n 4096`, or close other programs."),
    "memory": ("There is not enough memory.", "Close other programs, raise the limit, or give it less to do at once."),
    "processes": ("No further process or thread can be started.", "Close other programs, or raise `ulimit -u`."),
    "port": (
        "Another program is listening on this port.",
        "Choose another port with `--port`, or `--port 0` for any free one.",
    ),
}
_BY_NUMBER: Final = {
    errno.ENOSPC: "disk-full",
    errno.EDQUOT: "disk-full",
    errno.EFBIG: "disk-full",
    errno.EIO: "disk",
    errno.EROFS: "read-only",
    errno.EMFILE: "descriptors",
    errno.ENFILE: "descriptors",
    errno.ENOMEM: "memory",
    errno.EAGAIN: "processes",
    errno.EADDRINUSE: "port",
}
_BY_SQLITE: Final = (  # the first number of an extended code is its kind
    (sqlite3.SQLITE_FULL, "disk-full"),
    (sqlite3.SQLITE_IOERR, "disk"),
    (sqlite3.SQLITE_READONLY, "read-only"),
    (sqlite3.SQLITE_NOMEM, "memory"),
)


def kind_of(error: BaseException) -> str | None:
    """Return which fault of the machine an error reports; `None` if it reports none.

    >>> kind_of(OSError(28, "No space left on device")), kind_of(FileNotFoundError(2, "No such file or directory"))
    ('disk-full', None)
    """
    if isinstance(error, MachineError):
        return error.kind
    if isinstance(error, MemoryError):
        return "memory"
    if isinstance(error, sqlite3.Error):
        number = getattr(error, "sqlite_errorcode", 0) or 0
        return next((kind for code, kind in _BY_SQLITE if number & 0xFF == code), None)
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return "processes"
    return _BY_NUMBER.get(error.errno or 0) if isinstance(error, OSError) else None


def fault_of(error: BaseException, doing: str = "", *, further: str = "") -> MachineError | None:
    """Return what to raise in place of an error that reports a fault of the machine; `None` for any other.

    >>> fault_of(OSError(28, "No space left on device"), "writing 'rows.jsonl'").message
    "The disk is full. This happened while writing 'rows.jsonl'."

    Args:
        error: As a library raised it, or a group in which there is one.
        doing: What it happened in, as a gerund; "" if that is not known.
        further: What else to do, one sentence or more.
    """
    if isinstance(error, BaseExceptionGroup):
        found = (fault_of(inner, doing, further=further) for inner in error.exceptions)
        return next((fault for fault in found if fault is not None), None)
    if isinstance(error, MachineError):
        return error
    kind = kind_of(error)
    if kind is None:
        before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return None if before is None else fault_of(before, doing, further=further)  # cleaning up failed, too
    message, hint = _MESSAGES[kind]
    return MachineError(
        f"{message} This happened while {doing}." if doing else message, f"{hint} {further}".rstrip(), kind=kind
    )


def cannot_write(
    path: object, error: OSError, subject: str = "", hint: str = "", field: str | None = None
) -> DebuggerError:
    """Return the error for a file that cannot be written: a fault of the machine, or of who named the place.

    Args:
        path: The file or folder.
        error: Why not.
        subject: What should have been written, such as `the report`; "" for the file itself.
        hint: What to do where the place is at fault.
        field: The option that named it.
    """
    fault = fault_of(error, f"writing {f'{subject} to ' if subject else ''}{str(path)!r}")
    if fault is not None:
        return fault
    named = f"Cannot write {subject} to {str(path)!r}" if subject else f"Cannot write {str(path)!r}"
    return RequestError(f"{named}: {error.strerror or error}.", hint, field=field)
