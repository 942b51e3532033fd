"""The part of the lock that the kernel keeps: it also holds native code, which no hook of Python's ever sees.

    hide         no other process of this user reads our memory or our environment
    no_new_privs nothing that is started could gain rights
    filter       of the system calls those of a list, some with certain arguments only; every other one gets EPERM
    Landlock     no file, no TCP port, no signal to other processes

All of it holds until the process ends, and needs neither rights nor a library. The numbers of system calls mean nothing
without the architecture, so the filter looks at that first and ends a process that calls in any other way.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import struct
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_DUMPABLE: Final = 4
_PR_SET_SECCOMP: Final = 22
_PR_SET_NO_NEW_PRIVS: Final = 38
_MODE_FILTER: Final = 2
_SET_MODE_FILTER: Final = 1
_ALL_THREADS: Final = 1

ALLOWED: Final = 0x7FFF0000
REFUSED: Final = 0x00050000  # with the error number in the lower half
ENDED: Final = 0x80000000
X32: Final = 0x40000000  # calls of a second kind on x86-64, with numbers of their own from here on


class Machine(NamedTuple):
    """What a kind of processor calls itself in a filter, and which column of the table has its numbers."""

    architecture: int
    column: int


MACHINES: Final = {"x86_64": Machine(0xC000003E, 0), "aarch64": Machine(0xC00000B7, 1)}

# Numbers on x86-64 and on aarch64; -1 where there is no such call.
NUMBERS: Final = {
    "access": (21, -1), "brk": (12, 214), "clock_getres": (229, 114), "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115), "clone": (56, 220), "clone3": (435, 435), "close": (3, 57), "exit": (60, 93),
    "exit_group": (231, 94), "faccessat": (269, 48), "faccessat2": (439, 439), "fadvise64": (221, 223),
    "fcntl": (72, 25), "fstat": (5, 80), "fstatfs": (138, 44), "futex": (202, 98), "getcpu": (309, 168),
    "getcwd": (79, 17), "getdents64": (217, 61), "getegid": (108, 177), "geteuid": (107, 175), "getgid": (104, 176),
    "getitimer": (36, 102), "getpid": (39, 172), "getppid": (110, 173), "getrandom": (318, 278),
    "getrusage": (98, 165), "gettid": (186, 178), "gettimeofday": (96, 169), "getuid": (102, 174), "ioctl": (16, 29),
    "landlock_add_rule": (445, 445), "landlock_create_ruleset": (444, 444), "landlock_restrict_self": (446, 446),
    "lseek": (8, 62), "lstat": (6, -1), "madvise": (28, 233), "membarrier": (324, 283), "mincore": (27, 232),
    "mmap": (9, 222), "mprotect": (10, 226), "mremap": (25, 216), "msync": (26, 227), "munmap": (11, 215),
    "nanosleep": (35, 101), "newfstatat": (262, 79), "open": (2, -1), "openat": (257, 56), "poll": (7, -1),
    "ppoll": (271, 73), "prctl": (157, 167), "pread64": (17, 67), "prlimit64": (302, 261), "pselect6": (270, 72),
    "read": (0, 63), "readlink": (89, -1), "readlinkat": (267, 78), "readv": (19, 65), "restart_syscall": (219, 128),
    "rseq": (334, 293), "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "sched_getaffinity": (204, 123), "sched_yield": (24, 124), "seccomp": (317, 277), "select": (23, -1),
    "set_robust_list": (273, 99), "setitimer": (38, 103), "sigaltstack": (131, 132), "stat": (4, -1),
    "statfs": (137, 43), "statx": (332, 291), "sysinfo": (99, 179), "tgkill": (234, 131), "time": (201, -1),
    "times": (100, 153), "uname": (63, 160), "write": (1, 64), "writev": (20, 66),
}  # fmt: skip

# Memory, time, what is open already, whether a path is there (libraries ask before they do without), and the end.
_PLAIN: Final = (
    "brk", "clock_getres", "clock_gettime", "clock_nanosleep", "close", "exit", "exit_group", "fstat", "futex",
    "getcpu", "getcwd", "getegid", "geteuid", "getgid", "getitimer", "getpid", "getppid", "getrandom",
    "getrusage", "gettid", "gettimeofday", "getuid", "lseek", "lstat", "madvise", "membarrier", "mincore",
    "mmap", "mprotect", "mremap", "msync", "munmap", "nanosleep", "newfstatat", "poll", "ppoll", "pread64",
    "pselect6", "read", "readlink", "readlinkat", "readv", "restart_syscall", "rseq", "rt_sigaction",
    "rt_sigprocmask", "rt_sigreturn", "sched_getaffinity", "sched_yield", "select", "set_robust_list",
    "setitimer", "sigaltstack", "stat", "statx", "sysinfo", "time", "times", "uname", "write", "writev",
)  # fmt: skip
# To find and read files, too; Landlock is there so that a process can give up more as it learns what it needs.
_READING: Final = (
    "access", "faccessat", "faccessat2", "fadvise64", "fstatfs", "getdents64", "landlock_add_rule",
    "landlock_create_ruleset", "landlock_restrict_self", "statfs",
)  # fmt: skip

_WRITE_FLAGS: Final = 0o3 | 0o100 | 0o1000 | 0o2000 | 0o20000000  # to write, create, empty, append, make a nameless one
_THREAD_FLAG: Final = 0x10000
_NAMESPACE_FLAGS: Final = 0x7E020000
_RLIMIT_AS: Final = 9
# Duplicate, close on exec, flags of a file; not whom the kernel signals when it is ready: that may be anyone.
_FILE_COMMANDS: Final = (0, 1, 2, 3, 4, 1030)
_DEVICE_COMMANDS: Final = (0x5401, 0x541B, 0x5450, 0x5451)  # is it a terminal, how much waits, close on exec
_SET_NAME: Final = 15
_IS_DUMPABLE: Final = 3  # asks only


class Match(NamedTuple):
    """One half of an argument, under a mask, has a value."""

    argument: int
    value: int
    mask: int = 0xFFFFFFFF
    half: int = 0  # the upper one is 1


class Rule(NamedTuple):
    """A system call that is allowed where one of the alternatives holds, each with all its tests; else an error."""

    name: str
    alternatives: tuple[tuple[Match, ...], ...] = ((),)
    error: int = errno.EPERM


class Unlocked(NamedTuple):
    """A part of the lock that this system does not offer: `memory`, `privileges`, `calls` or `files`, and why not."""

    part: str
    reason: str


def rules_for(pid: int, *, has_threads: bool, is_reading: bool) -> tuple[Rule, ...]:
    """Return what a process may call: signals to itself, and what threads or reading files take if it does that."""
    rules = [Rule(name) for name in (*_PLAIN, *(_READING if is_reading else ()))]
    rules += [
        Rule("tgkill", ((Match(0, pid),),)),  # how a process ends itself after a fault
        Rule("fcntl", tuple((Match(1, command),) for command in _FILE_COMMANDS)),
        Rule("ioctl", tuple((Match(1, command),) for command in _DEVICE_COMMANDS)),
        # It may ask for its own limits; only that of its memory is set, again for each job.
        Rule("prlimit64", ((Match(0, 0), Match(2, 0), Match(2, 0, half=1)), (Match(0, 0), Match(1, _RLIMIT_AS)))),
        Rule("prctl", tuple((Match(0, option),) for option in (_SET_NAME, _IS_DUMPABLE))),
    ]
    if has_threads:
        rules += [
            Rule("clone", ((Match(0, _THREAD_FLAG, _THREAD_FLAG | _NAMESPACE_FLAGS),),)),
            Rule("clone3", (), errno.ENOSYS),  # its flags are in memory; libraries use `clone` where it is missing
        ]
    if is_reading:
        rules += [Rule("open", ((Match(1, 0, _WRITE_FLAGS),),)), Rule("openat", ((Match(2, 0, _WRITE_FLAGS),),))]
    return tuple(rules)


def program_for(machine: Machine, rules: Sequence[Rule]) -> bytes:
    """Return the filter for a kind of processor, as the kernel reads it."""
    lines = [_load(_ARCHITECTURE), _unless_equal(machine.architecture, 1, 0), _return(ENDED), _load(_NUMBER)]
    if machine == MACHINES["x86_64"]:
        lines += [struct.pack("HBBI", _JUMP_IF_AT_LEAST, 0, 1, X32), _return(ENDED)]
    for rule in rules:
        number = NUMBERS[rule.name][machine.column]
        if number >= 0:
            lines += _lines_of(rule, number)
    lines.append(_return(REFUSED | errno.EPERM))
    return b"".join(lines)


class Kernel:
    """The calls with which a process gives up; made before it is locked, because a library is looked up."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
        self.landlock = Landlock(self._libc)
        self.machine = MACHINES.get(os.uname().machine) if self._libc is not None else None

    def hide(self) -> tuple[Unlocked, ...]:
        """Let no other process of this user look into this one's memory and environment."""
        return self._control("memory", _PR_SET_DUMPABLE, 0)

    def give_up_files(self, readable: Sequence[str] | None) -> tuple[Unlocked, ...]:
        """Give up rights and files, for good; return what this system cannot take.

        Args:
            readable: Files and folders that may be read; `None` for nothing at all. With an empty list files may be
                read until `landlock` gets the list.
        """
        if self._libc is None:
            return tuple(self._nothing(part) for part in PARTS if part != "calls")
        missing = [*self.hide(), *self._control("privileges", _PR_SET_NO_NEW_PRIVS, 1)]
        reason = self.landlock.restrict(readable or ()) if readable is None or readable else self.landlock.why
        return (*missing, Unlocked("files", reason)) if reason else tuple(missing)

    def give_up_calls(self, *, has_threads: bool, is_reading: bool) -> tuple[Unlocked, ...]:
        """Give up all system calls but those of the rules, for good; return what this system cannot take."""
        if self._libc is None:
            return (self._nothing("calls"),)
        reason = self._filter(self._libc, has_threads=has_threads, is_reading=is_reading)
        return (Unlocked("calls", reason),) if reason else ()

    def end_with_parent(self) -> None:
        """Have the kernel end this process with its parent."""
        if self._libc is not None:
            self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    def _control(self, part: str, option: int, value: int) -> tuple[Unlocked, ...]:
        if self._libc is None:
            return (self._nothing(part),)
        if self._libc.prctl(option, value, 0, 0, 0) == 0:
            return ()
        return (Unlocked(part, os.strerror(ctypes.get_errno())),)

    def _filter(self, libc: ctypes.CDLL, *, has_threads: bool, is_reading: bool) -> str:
        """Set the filter; return why not, "" if it is set."""
        if self.machine is None:
            return f"the system calls of {os.uname().machine} are not supported"
        rules = rules_for(os.getpid(), has_threads=has_threads, is_reading=is_reading)
        program = program_for(self.machine, rules)
        code = ctypes.create_string_buffer(program, len(program))
        head = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
        buffer = ctypes.create_string_buffer(head, len(head))
        address = ctypes.c_void_p(ctypes.addressof(buffer))
        number = ctypes.c_long(NUMBERS["seccomp"][self.machine.column])
        if libc.syscall(number, ctypes.c_long(_SET_MODE_FILTER), ctypes.c_long(_ALL_THREADS), address) == 0:
            return ""
        if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, address, 0, 0) == 0:
            return ""
        return os.strerror(ctypes.get_errno())

    def _nothing(self, part: str) -> Unlocked:
        return Unlocked(part, f"{system_name()} offers nothing comparable")


PARTS: Final = ("memory", "privileges", "files", "calls")


def system_name() -> str:
    """Return what this system is called."""
    return {"darwin": "macOS", "win32": "Windows"}.get(sys.platform, sys.platform)


_LOAD: Final = 0x20
_AND: Final = 0x54
_JUMP_IF_EQUAL: Final = 0x15
_JUMP_IF_AT_LEAST: Final = 0x35
_RETURN: Final = 0x06
# Offsets in what a filter sees.
_NUMBER: Final = 0
_ARCHITECTURE: Final = 4
_ARGUMENTS: Final = 16


def _lines_of(rule: Rule, number: int) -> list[bytes]:
    """Return the lines of one rule, which are skipped by every other call."""
    block: list[bytes] = []
    for tests in rule.alternatives:
        block += _alternative(tests)
    if all(rule.alternatives) or not rule.alternatives:
        block.append(_return(REFUSED | rule.error))
    return [_unless_equal(number, 0, len(block)), *block]


def _alternative(tests: Sequence[Match]) -> Iterator[bytes]:
    for index, test in enumerate(tests):
        rest = 3 * (len(tests) - index - 1) + 1
        yield _load(_ARGUMENTS + 8 * test.argument + 4 * test.half)
        yield struct.pack("HBBI", _AND, 0, 0, test.mask)
        yield _unless_equal(test.value, 0, rest)
    yield _return(ALLOWED)


def _load(place: int) -> bytes:
    return struct.pack("HBBI", _LOAD, 0, 0, place)


def _unless_equal(value: int, here: int, otherwise: int) -> bytes:
    return struct.pack("HBBI", _JUMP_IF_EQUAL, here, otherwise, value)


def _return(answer: int) -> bytes:
    return struct.pack("HBBI", _RETURN, 0, 0, answer)


# Landlock: a process that restricts itself keeps the files that are open, and opens others only where a rule allows. It
# may do so again, and has then what all of them allow.
_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_ASK_VERSION: Final = 1
_PATH_BENEATH: Final = 1

_READ_FILE: Final = 1 << 2
_READ_FOLDER: Final = 1 << 3
# Rights over files that a version knows: all up to this bit.
_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_PORTS: Final = 0b11  # to listen and to connect, from version 4
_OTHERS: Final = 0b11  # abstract sockets and signals outside, from version 6
_OPEN_FLAGS: Final = 0o10000000 | 0o2000000  # the path alone, and not for what is started


class Landlock:
    """Landlock of this kernel, by its version; 0 for nothing, and then `why`."""

    def __init__(self, libc: ctypes.CDLL | None) -> None:
        self._libc = libc
        self._given_up: frozenset[str] | None = None
        self.version = max(0, self._call(_CREATE_RULESET, None, 0, _ASK_VERSION)) if libc is not None else 0
        self.why = "" if self.version else f"the kernel has no Landlock ({os.strerror(ctypes.get_errno())})"

    def holds(self, readable: Sequence[str]) -> bool:
        """Return whether all of these may be read still."""
        if self._given_up is None:
            return True
        return all(_is_beneath(path, self._given_up) for path in readable)

    def restrict(self, readable: Sequence[str]) -> str:
        """Give up all but reading these files and folders; return why not, "" if it is done."""
        if not self.version:
            return self.why
        rights = (1 << _RIGHTS.get(self.version, 16)) - 1
        wanted = [rights]
        wanted += [_PORTS] if self.version >= 4 else []
        wanted += [_OTHERS] if self.version >= 6 else []
        attributes = struct.pack(f"{len(wanted)}Q", *wanted)
        rules = self._call(_CREATE_RULESET, attributes, len(attributes), 0)
        if rules < 0:
            return f"Landlock: {os.strerror(ctypes.get_errno())}"
        try:
            for path in readable:
                self._allow(rules, path)
            if self._call(_RESTRICT_SELF, rules, 0):
                return f"Landlock: {os.strerror(ctypes.get_errno())}"
        finally:
            os.close(rules)
        self._given_up = frozenset(map(os.path.realpath, readable))
        return ""

    def _allow(self, rules: int, path: str) -> None:
        """Let a file, or a folder with all in it, be read; what is not there cannot be."""
        assert self._libc is not None
        number = self._libc.open(path.encode(), _OPEN_FLAGS)
        if number < 0:
            return
        try:
            right = _READ_FILE | _READ_FOLDER if Path(path).is_dir() else _READ_FILE
            self._call(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", right, number), 0)
        finally:
            os.close(number)

    def _call(self, number: int, *arguments: int | bytes | None) -> int:
        assert self._libc is not None
        words = [ctypes.c_long(value) if isinstance(value, int) else ctypes.c_char_p(value) for value in arguments]
        return int(self._libc.syscall(ctypes.c_long(number), *words))


def _is_beneath(path: str, folders: frozenset[str]) -> bool:
    whole = os.path.realpath(path)
    return any(whole == folder or whole.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)
