"""The loop of a forkserver: processes split off when its client asks, and end when the client lets go of them.

With each order come four open files: what the new process reads, writes and complains to, and where it tells its
process id, and the forkserver, at its end, how it ended and what processor time it took (`forkserver.NEWS`).
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress

from prompt_debugger.core.sandbox.forkserver import BORN, DEAD, SLOW, SLOW_NICE, UPDATES
from prompt_debugger.core.sandbox.kernel import Kernel

_FILES = 4


class Splitting:
    """A forkserver with its offshoots.

    Args:
        orders: Where the client asks; its end is ours, once the last offshoot has gone.
        serve: What an offshoot does, until its end.
    """

    def __init__(self, orders: socket.socket, serve: Callable[[], None]) -> None:
        self._orders: socket.socket | None = orders
        self._serve = serve
        self._kernel = Kernel()
        self._updates: dict[int, socket.socket] = {}
        self._held: dict[socket.socket, int] = {}  # those whose client has not let go
        self._woken, self._waking = socket.socketpair()
        self._woken.settimeout(0.0)
        self._waking.settimeout(0.0)

    def follow(self) -> None:
        """Do what is asked until there is nothing more to ask, and nobody left."""
        signal.signal(signal.SIGCHLD, lambda *_: None)  # a handler, so that the next line hears of it
        signal.set_wakeup_fd(self._waking.fileno(), warn_on_full_buffer=False)
        while self._orders is not None or self._updates:
            watched = [self._woken, *self._held, *([] if self._orders is None else [self._orders])]
            ready, _, _ = select.select(watched, [], [])
            for updates in [one for one in ready if one in self._held]:
                self._end(updates)
            if self._woken in ready:
                with suppress(BlockingIOError):
                    self._woken.recv(1_000)
                self._bury()
            if self._orders in ready:
                self._obey()

    def _obey(self) -> None:
        """Split one process off, or hear that no more are wanted."""
        assert self._orders is not None
        data, files, _, _ = socket.recv_fds(self._orders, 1, _FILES)
        if len(files) < _FILES:
            for number in files:
                os.close(number)
        if not data:
            self._orders.close()
            self._orders = None
        elif len(files) == _FILES:
            updates = socket.socket(fileno=files.pop())
            self._split(updates, files, is_slow=data == SLOW)

    def _split(self, updates: socket.socket, files: list[int], *, is_slow: bool) -> None:
        sys.stderr.flush()
        here = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:  # the client sees that nothing came of it
            sys.stderr.write(f"{error}\n")
            updates.close()
            pid = -1
        if pid == 0:
            self._become(updates, files, here, is_slow=is_slow)
        for number in files:
            os.close(number)
        if pid > 0:
            self._updates[pid] = updates
            self._held[updates] = pid

    def _become(self, updates: socket.socket, files: list[int], parent: int, *, is_slow: bool) -> None:
        """Be the offshoot, from here to its end: with three files of its own, and none of the forkserver's."""
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._kernel.end_with_parent()
            if os.getppid() != parent:  # it ended in between
                os._exit(status)
            if is_slow:
                os.nice(SLOW_NICE)
            with suppress(OSError):
                updates.send(UPDATES.pack(BORN, os.getpid(), 0.0))
            for place, number in enumerate(files):
                os.dup2(number, place)
                os.close(number)
            for other in (updates, self._orders, self._woken, self._waking, *self._updates.values()):
                if other is not None and other.fileno() > 2:
                    other.close()
            self._serve()
            status = 0
        except BaseException as error:  # noqa: BLE001 - nothing of it may run on in the forkserver's code
            with suppress(OSError):
                os.write(2, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(status)

    def _end(self, updates: socket.socket) -> None:
        """End an offshoot whose client has let go of it."""
        pid = self._held.pop(updates)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def _bury(self) -> None:
        """Tell of those that ended."""
        while self._updates:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            if (updates := self._updates.pop(pid, None)) is None:
                continue
            self._held.pop(updates, None)
            with suppress(OSError):
                updates.send(UPDATES.pack(DEAD, os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime))
            updates.close()
