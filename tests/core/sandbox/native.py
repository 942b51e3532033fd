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


def further_deeds(page: int) -> dict[str, tuple[object, ...]]:
    """Return ways out that are less usual: other sockets, shared memory, keys, namespaces, handles, clocks, limits."""
    found: dict[str, tuple[object, ...]] = {
        "abstract unix socket": (numbers(41, 198), 1, 1, 0),
        "netlink socket": (numbers(41, 198), 16, 3, 0),
        "vsock": (numbers(41, 198), 40, 1, 0),
        "bind": (numbers(49, 200), 1, PLACE, 16),
        "accept4": (numbers(288, 242), 1, None, None, 0),
        "sendmsg, which hands on files": (numbers(46, 211), 1, PLACE, 0),
        "recvmsg, which takes files": (numbers(47, 212), 0, PLACE, 0),
        "pidfd_getfd": (ctypes.c_long(438), 1, 0, 0),
        "pidfd_send_signal": (ctypes.c_long(424), 1, 0, None, 0),
        "rt_sigqueueinfo to the page": (numbers(129, 138), page, 0, PLACE),
        "rt_tgsigqueueinfo to the page": (numbers(297, 240), page, page, 0, PLACE),
        "process_madvise": (ctypes.c_long(440), 1, None, 0, 0, 0),
        "process_mrelease": (ctypes.c_long(448), 1, 0),
        "move_pages of the page": (numbers(279, 239), page, 0, None, None, None, 0),
        "kcmp with the page": (numbers(312, 272), page, page, 0, 0, 0),
        "ptrace, to be traced": (numbers(101, 117), 0, 0, None, None),
        "ptrace, seizing": (numbers(101, 117), 0x4206, page, None, None),
        "memory of the page by its file": (numbers(257, 56), HERE, f"/proc/{page}/mem".encode(), RDWR),
        "own memory by its file": (numbers(257, 56), HERE, b"/proc/self/mem", RDWR),
        "files of the page": (numbers(257, 56), HERE, f"/proc/{page}/fd/0".encode(), RDONLY),
        "memfd_secret": (ctypes.c_long(447), 0),
        "execveat of a file that is open": (numbers(322, 281), 1, b"", None, None, 0x1000),
        "shmget": (numbers(29, 194), 0, 4096, 0o1600),
        "msgget": (numbers(68, 186), 0, 0o1600),
        "semget": (numbers(64, 190), 0, 1, 0o1600),
        "mq_open": (numbers(240, 180), b"x", 0o102, 0o600, None),
        "add_key": (numbers(248, 217), b"user", b"a", b"b", 1, -2),
        "keyctl": (numbers(250, 219), 0, -3, 0),
        "request_key": (numbers(249, 218), b"user", b"a", None, 0),
        "perf_event_open": (numbers(298, 241), PLACE, 0, -1, -1, 0),
        "io_uring_enter": (ctypes.c_long(426), 0, 1, 0, 0, None, 0),
        "io_uring_register": (ctypes.c_long(427), 0, 0, None, 0),
        "setns": (numbers(308, 268), 1, 0),
        "clone with a namespace of its own": (numbers(56, 220), ctypes.c_long(0x10000000 | 17), None, None, None, None),
        "clone of a thread": (numbers(56, 220), ctypes.c_long(0x3D0F00), None, None, None, None),
        "mount": (numbers(165, 40), b"none", b"/tmp", b"tmpfs", 0, None),
        "open_tree": (ctypes.c_long(428), HERE, b"/", 1),
        "fsopen": (ctypes.c_long(430), b"tmpfs", 0),
        "chroot": (numbers(161, 51), b"/"),
        "pivot_root": (numbers(155, 41), b"/", b"/tmp"),
        "name_to_handle_at": (numbers(303, 264), HERE, b"/", PLACE, PLACE, 0),
        "open_by_handle_at": (numbers(304, 265), HERE, PLACE, 0),
        "symlinkat": (numbers(266, 36), b"/etc/passwd", HERE, b"/tmp/link-of-native-code"),
        "linkat": (numbers(265, 37), HERE, b"/etc/passwd", HERE, b"/tmp/link-of-native-code", 0),
        "renameat2": (numbers(316, 276), HERE, b"/tmp/a", HERE, b"/tmp/b", 0),
        "mkdirat": (numbers(258, 34), HERE, b"/tmp/made-by-native-code", 0o700),
        "mknodat": (numbers(259, 33), HERE, b"/tmp/made-by-native-code", 0o10600, 0),
        "truncate": (numbers(76, 45), b"/tmp/not-there", 0),
        "splice": (numbers(275, 76), 0, None, 1, None, 1, 0),
        "sendfile": (numbers(40, 71), 1, 0, None, 1),
        "copy_file_range": (numbers(326, 285), 0, None, 1, None, 1, 0),
        "letters typed into a terminal": (numbers(16, 29), 0, 0x5412, PLACE),
        "inotify_init1": (numbers(294, 26), 0),
        "fanotify_init": (numbers(300, 262), 0, 0),
        "epoll_create1": (numbers(291, 20), 0),
        "signalfd4": (numbers(289, 74), -1, PLACE, 8, 0),
        "timer_create, which signals": (numbers(222, 107), 0, None, PLACE),
        "setresuid": (numbers(117, 147), 0, 0, 0),
        "personality": (numbers(135, 92), 0x0040000),
        "clock_settime": (numbers(227, 112), 0, PLACE),
        "adjtimex": (numbers(159, 171), PLACE),
        "sched_setscheduler": (numbers(144, 119), 0, 1, PLACE),
        "setpriority": (numbers(141, 140), 0, 0, -20),
        "sched_setaffinity of the page": (numbers(203, 122), page, 8, PLACE),
        "more processor time": (numbers(302, 261), 0, 0, MOST, None),
        "more processes": (numbers(302, 261), 0, 6, MOST, None),
        "memory of the page limited": (numbers(302, 261), page, 9, MOST, None),
        "a second filter": (numbers(317, 277), 1, 0, PLACE),
        "others may trace": (numbers(157, 167), 0x59616D61, -1, 0, 0, 0),
        "rights kept": (numbers(157, 167), 47, 2, 0, 0, 0),
        "the map of its memory": (numbers(157, 167), 35, 1, 0, 0, 0),
        "no end with its parent": (numbers(157, 167), 1, 0, 0, 0, 0),
        "init_module": (numbers(175, 105), PLACE, 1, b""),
        "kexec_load": (numbers(246, 104), 0, 0, None, 0),
        "a wider Landlock": (ctypes.c_long(444), None, 0, 0),
    }
    return found


NAMES = (*deeds(1), *further_deeds(1))


@job("calling the system directly", Limits(cpu_s=5.0))
def call_directly(name: str, page: int) -> str:
    """Return what came of a call, in a process that closed a file of its own: the error, or "done"."""
    with suppress(OSError):  # of an earlier call
        os.close(2)  # frees a number, which was all that once kept new files away
    if CALL(*(deeds(page) | further_deeds(page))[name]) >= 0:
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
