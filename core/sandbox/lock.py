"""The lock of a sandbox: what a process gives up for good before it touches anyone's text.

Memory is limited for the process, processor time for each job; no new file,
socket or process can be opened. Python's own code is refused by audit event, on
every system; compiled code by the kernel (`core.sandbox.kernel`), as far as the
system can. What it cannot is returned, for the page says so when it starts.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final

from prompt_debugger.core.sandbox.kernel import Kernel, Unlocked

# What Python says before it does them; `open` covers files, whatever opens them.
_REFUSED: Final = (
    "socket.", "open", "subprocess.Popen", "shutil.", "tempfile.", "urllib.Request", "ctypes.", "fcntl.", "mmap.",
    "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.remove", "os.rename", "os.mkdir", "os.rmdir",
    "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown", "os.utime", "os.kill", "os.killpg", "os.putenv",
    "os.listdir", "os.scandir", "os.startfile", "pty.", "signal.pthread_kill", "webbrowser.",
)  # fmt: skip

# What libraries do as they are imported; a process that may read them may do these, too.
_LATE: Final = frozenset({"open", "os.listdir", "os.scandir", "os.putenv", "os.unsetenv", "ctypes.", "mmap.", "fcntl."})
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_SPARE_FILES = 64

# What compiled libraries read when a part of them is loaded late, besides the folders of Python's packages.
_SYSTEM_LIBRARIES: Final = (
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/etc/localtime",
    "/usr/share/zoneinfo", "/dev/null", "/dev/urandom", "/sys/devices/system/cpu",
)  # fmt: skip

# What a job may leave behind: the next one may be given less memory than this one was.
_MAX_LEFT_BYTES = 256 << 20
_GROWN_BYTES = 16 << 20


class Memory:
    """Address space of this process, and the limit on it; does nothing where the system cannot tell."""

    def __init__(self) -> None:
        self._statm: int | None = None
        with suppress(OSError):
            self._statm = os.open("/proc/self/statm", os.O_RDONLY)
        self._base_bytes = self._tidy_bytes = self._size_bytes()
        self._spent_bytes = 0

    def allow(self, memory_mb: int) -> None:
        """Limit what the process may have beyond what its imports took."""
        growth_bytes = memory_mb << 20
        self._spent_bytes = min(growth_bytes // 3, _MAX_LEFT_BYTES)
        if self._statm is None:
            return
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (self._base_bytes + growth_bytes, resource.RLIM_INFINITY))

    def is_spent(self) -> bool:
        """Return whether jobs have left so much behind that the next one would have too little."""
        return self._statm is not None and self._size_bytes() - self._base_bytes > self._spent_bytes

    def has_grown(self) -> bool:
        """Return whether jobs have taken so much since `tidied` that what they left should be looked for."""
        limit = min(self._spent_bytes // 4, _GROWN_BYTES)
        return self._statm is None or self._size_bytes() - self._tidy_bytes > limit

    def tidied(self) -> None:
        """Hear that what jobs left has been looked for."""
        self._tidy_bytes = self._size_bytes()

    def _size_bytes(self) -> int:
        if self._statm is None:
            return 0
        return int(os.pread(self._statm, 200, 0).split()[0]) * resource.getpagesize()


class Readable:
    """Where a locked process may still read: its libraries, which import parts of themselves late, and given paths."""

    def __init__(self) -> None:
        self._folders: set[str] = set()
        self.allow(path for path in sys.path if path.startswith(os.sep))

    def allow(self, paths: Iterable[str]) -> None:
        """Let folders, with all in them, or files be read."""
        found = (os.path.realpath(path) for path in paths)
        self._folders.update(path for path in found if path != os.sep)

    def paths(self) -> tuple[str, ...]:
        """Return all of it, for the kernel."""
        libraries = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
        prefixes = (sys.prefix, sys.base_prefix)
        return (*sorted(self._folders), *_SYSTEM_LIBRARIES, *prefixes, *filter(os.path.isabs, libraries))

    def holds(self, path: object) -> bool:
        """Return whether something may be read; a link counts as what it leads to."""
        if isinstance(path, int):  # open already
            return True
        whole = os.path.realpath(os.fsdecode(path if isinstance(path, str | bytes) else os.fspath(str(path))))
        if whole in ("/dev/null", "/dev/urandom"):
            return True
        return any(whole == folder or whole.startswith(folder + os.sep) for folder in tuple(self._folders))


class Lock:
    """The lock of this process, once it is closed; `unlocked` has the parts that this system does not offer."""

    def __init__(self, kernel: Kernel, readable: Readable | None, unlocked: tuple[Unlocked, ...]) -> None:
        self._kernel = kernel
        self._readable = readable
        self._is_restricted = False
        self.unlocked = unlocked

    def let_read(self, paths: Sequence[str]) -> bool:
        """Let these be read, too, and nothing more from now on; return whether they may be.

        The kernel takes the list only once: files that are not in it need another process.
        """
        assert self._readable is not None
        if self._is_restricted:
            return self._kernel.landlock.holds(paths)
        self._readable.allow(paths)
        self._is_restricted = self._kernel.landlock.restrict(self._readable.paths()) == ""
        return True


def lock_in(*, has_threads: bool = False, readable: Readable | None = None, learns: bool = False) -> Lock:
    """Give up everything but memory and time: no new file, socket, process, and no writing.

    Args:
        has_threads: Whether a library in this process may begin threads, which the kernel counts as processes.
        readable: What may be read all the same; without it nothing can be opened.
        learns: Whether what may be read is not known yet, and comes with `Lock.let_read`.
    """
    for name in ("RLIMIT_CORE", "RLIMIT_FSIZE", *([] if has_threads else ["RLIMIT_NPROC"])):
        _limit(name, 0)
    # What is open stays open; the first free number is refused, and with it files, sockets and pipes.
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    kernel = Kernel()
    reported = None if readable is None else () if learns else readable.paths()
    unlocked = kernel.give_up_files(reported)
    _limit("RLIMIT_NOFILE", free if readable is None else free + _SPARE_FILES)
    unlocked += kernel.give_up_calls(has_threads=has_threads, is_reading=readable is not None)
    sys.addaudithook(_refuse() if readable is None else _refuse_but_reading(readable))
    _UNLOCKED[:] = unlocked
    return Lock(kernel, readable, unlocked)


def unlocked_here() -> tuple[Unlocked, ...]:
    """Return the parts of the lock that this system does not offer, as this process found when it was locked."""
    return tuple(_UNLOCKED)


_UNLOCKED: list[Unlocked] = []


def allow_cpu(seconds: float) -> None:
    """End this process, even inside one long operation, once it has used so much processor time; 0 ends the watch."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit(name: str, most: int) -> None:
    number = getattr(resource, name, None)
    if isinstance(number, int):
        with suppress(ValueError, OSError):
            resource.setrlimit(number, (most, most))


def _refuse() -> Callable[[str, object], None]:
    """Return the hook; a closure, so that nothing it needs can be found and changed by name."""
    refused = _REFUSED

    def hook(event: str, _: object) -> None:
        if event.startswith(refused):
            raise PermissionError(f"a sandbox does not allow {event}")

    return hook


def _refuse_but_reading(readable: Readable) -> Callable[[str, tuple[object, ...]], None]:
    """Return the hook for a process whose libraries are not all imported yet."""
    refused = tuple(event for event in _REFUSED if event not in _LATE)
    holds = readable.holds

    def hook(event: str, args: tuple[object, ...]) -> None:
        if event.startswith(refused):
            raise PermissionError(f"a sandbox does not allow {event}")
        if event == "open" and (_is_writing(args[1], args[2]) or not holds(args[0])):
            raise PermissionError("a sandbox does not allow opening this file")
        if event in ("os.listdir", "os.scandir") and not holds(args[0] or os.curdir):
            raise PermissionError(f"a sandbox does not allow {event}")

    return hook


def _is_writing(mode: object, flags: object) -> bool:
    return (isinstance(mode, str) and not set(mode).isdisjoint("wax+")) or (
        isinstance(flags, int) and bool(flags & _WRITES)
    )
