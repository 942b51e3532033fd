"""Jobs that call the system directly, as compiled code would that a hostile text has taken over.

No hook of Python's sees these calls: the function was looked up before the process was locked.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
import time
from contextlib import suppress

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.sandbox import Limits, job

LIBC = ctypes.CDLL(None)
CALL = LIBC.syscall
if sys.platform == "linux":
    LIBC.__errno_location.restype = ctypes.POINTER(ctypes.c_int)
    ERROR_PLACE = LIBC.__errno_location

PLACE, MOST = ctypes.create_string_buffer(256), ctypes.create_string_buffer(b"\xff" * 16, 16)
ARM = os.uname().machine == "aarch64"
HERE = ctypes.c_long(-100)
RDONLY, WRONLY_NEW, RDWR = 0, 0o101, 2
DEVICE_OF_SIGNALS = 8  # fcntl: whom to signal when a file is ready


def numbers(x86: int, arm: int) -> ctypes.c_long:
    return ctypes.c_long(arm if ARM else x86)


def deeds(page: int) -> dict[str, tuple[object, ...]]:
    """Return what must be refused, by name: the arguments of the call."""
    environment = f"/proc/{page}/environ".encode()
    found: dict[str, tuple[object, ...]] = {
        "socket": (numbers(41, 198), 2, 1, 0),
        "socketpair": (numbers(53, 199), 1, 1, 0, PLACE),
        "connect": (numbers(42, 203), 1, PLACE, 16),
        "openat to read": (numbers(257, 56), HERE, b"/etc/passwd", RDONLY),
        "openat to write": (numbers(257, 56), HERE, b"/tmp/written-by-native-code", WRONLY_NEW, 0o600),
        "openat what was there": (numbers(257, 56), HERE, b"/dev/null", RDWR),
        "openat of the page's environment": (numbers(257, 56), HERE, environment, RDONLY),
        "openat2": (ctypes.c_long(437), HERE, b"/etc/passwd", PLACE, 24),
        "execve": (numbers(59, 221), b"/bin/true", None, None),
        "execveat": (numbers(322, 281), HERE, b"/bin/true", None, None, 0),
        "clone as fork does": (numbers(56, 220), ctypes.c_long(17), None, None, None, None),
        "clone3": (ctypes.c_long(435), PLACE, 64),
        "kill of the page": (numbers(62, 129), page, 0),
        "tgkill of the page": (numbers(234, 131), page, page, 0),
        "signals to the page": (numbers(72, 25), 1, DEVICE_OF_SIGNALS, page),
        "ptrace": (numbers(101, 117), 16, page, None, None),
        "process_vm_readv": (numbers(310, 270), page, None, 0, None, 0, 0),
        "process_vm_writev": (numbers(311, 271), page, None, 0, None, 0, 0),
        "limits of the page": (numbers(302, 261), page, 9, None, PLACE),
        "more open files": (numbers(302, 261), 0, 7, MOST, None),
        "io_uring_setup": (ctypes.c_long(425), 1, PLACE),
        "bpf": (numbers(321, 280), 0, None, 0),
        "memfd_create": (numbers(319, 279), b"x", 0),
        "userfaultfd": (numbers(323, 282), 0),
        "unshare": (numbers(272, 97), 0x10000000),
        "pidfd_open": (ctypes.c_long(434), page, 0),
        "unlinkat": (numbers(263, 35), HERE, b"/tmp/not-there", 0),
        "prctl": (numbers(157, 167), 4, 1, 0, 0, 0),
        "a call of tomorrow": (ctypes.c_long(999),),
    }
    if not ARM:
        found |= {
            "open": (ctypes.c_long(2), b"/etc/passwd", RDONLY),
            "fork": (ctypes.c_long(57),),
            "vfork": (ctypes.c_long(58),),
        }
    return found


NAMES = tuple(deeds(1))


@job("calling the system directly", Limits(cpu_s=5.0))
def call_directly(name: str, page: int) -> str:
    """Return what came of a call, in a process that closed a file of its own: the error, or "done"."""
    with suppress(OSError):  # of an earlier call
        os.close(2)  # frees a number, which was all that once kept new files away
    if CALL(*deeds(page)[name]) >= 0:
        return "done"
    return errno.errorcode.get(ERROR_PLACE()[0], "unknown")


@job("going on in a locked process", Limits(cpu_s=5.0))
def go_on() -> JSON:
    """Return what memory, pipes, clocks and limits still do."""
    size = len(bytearray(10_000_000))
    begun = time.monotonic()
    while time.process_time() < 0:
        pass
    return {"memory": size, "written": os.write(1, b"."), "clock": time.monotonic() >= begun}


@job("asking whether others may look in", Limits(cpu_s=5.0))
def is_dumpable() -> int:
    return int(CALL(numbers(157, 167), 3, 0, 0, 0, 0))


@job("calling with numbers of another kind", Limits(cpu_s=5.0))
def call_as_x32() -> int:
    return int(CALL(ctypes.c_long(0x40000000 + 39)))
