"""Faults of the machine have one vocabulary, and nothing else is taken for one."""

from __future__ import annotations

import errno
import os
import sqlite3

import pytest

from prompt_debugger.core.base.errors import DebuggerError, MachineError, RequestError
from prompt_debugger.core.base.machine import cannot_write, fault_of, kind_of


def sqlite_fault(number: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("as the library says it")
    error.sqlite_errorcode = number
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "disk-full"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "disk-full"),
        (OSError(errno.EMFILE, "Too many open files"), "descriptors"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "memory"),
        (OSError(errno.EROFS, "Read-only file system"), "read-only"),
        (OSError(errno.EADDRINUSE, "Address already in use"), "port"),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "processes"),
        (MemoryError(), "memory"),
        (RuntimeError("can't start new thread"), "processes"),
        (sqlite_fault(sqlite3.SQLITE_FULL), "disk-full"),
        (sqlite_fault(sqlite3.SQLITE_IOERR_WRITE), "disk"),
        (sqlite_fault(sqlite3.SQLITE_READONLY), "read-only"),
    ],
)
def test_a_fault_of_the_machine_is_reported_in_two_sentences(error: BaseException, kind: str) -> None:
    fault = fault_of(error, "writing 'rows'")

    assert fault is not None
    assert (fault.kind, kind_of(error)) == (kind, kind)
    assert fault.message.endswith("This happened while writing 'rows'.")
    assert fault.hint.endswith(".")
    assert fault.to_json()["kind"] == kind


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(errno.ENOENT, "No such file or directory"),
        PermissionError(errno.EACCES, "Permission denied"),
        ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
        ValueError("no thread"),
        RuntimeError("a defect"),
        sqlite_fault(sqlite3.SQLITE_CONSTRAINT),
    ],
)
def test_any_other_error_is_not_blamed_on_the_machine(error: BaseException) -> None:
    assert fault_of(error) is None


def test_the_fault_in_a_group_or_before_a_failed_clean_up_is_found() -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    try:
        try:
            raise OSError(errno.EMFILE, "Too many open files")
        finally:
            raise AttributeError("_ssock")
    except AttributeError as error:
        failed = error

    grouped = fault_of(ExceptionGroup("readers", [ValueError(), ExceptionGroup("inner", [full])]))
    before = fault_of(failed)

    assert grouped is not None
    assert before is not None
    assert (grouped.kind, before.kind) == ("disk-full", "descriptors")


@pytest.mark.parametrize(
    ("number", "kind"), [(errno.ENOSPC, MachineError), (errno.EISDIR, RequestError), (errno.EACCES, RequestError)]
)
def test_what_cannot_be_written_is_the_fault_of_the_machine_or_of_the_place(
    number: int, kind: type[DebuggerError]
) -> None:
    assert type(cannot_write("rows", OSError(number, os.strerror(number)), "the report")) is kind
