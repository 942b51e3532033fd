"""The loop of a forkserver: it forks a child on each order, and kills the child when the client lets go of it.

Each order carries four file descriptors: standard input, output and error of the child, and a socket for updates
(`forkserver.UPDATES`): the child reports its process id, the forkserver its exit status and processor time.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from prompt_debugger.core.sandbox.forkserver import EXITED, SLOW, SLOW_NICE, STARTED, UPDATES, USUAL_NICE
from prompt_debugger.core.sandbox.kernel import Kernel

_FILES = 4
_HAS_ENDED = select.POLLHUP | getattr(select, "POLLRDHUP", 0)


@contextmanager
def ending_with_client(orders: socket.socket) -> Iterator[None]:
    """While this lasts, such as during an import of many seconds, the process ends as soon as its client does.

    The client's end closes the socket; nothing is read from it.
    """
    woken, waking = socket.socketpair()

    def watch() -> None:
        poll = select.poll()
        poll.register(orders, _HAS_ENDED)
        poll.register(woken, select.POLLIN)
        if any(number == orders.fileno() for number, _ in poll.poll()):
            os._exit(1)

    watching = threading.Thread(target=watch, name="client", daemon=True)
    watching.start()
    try:
        yield
    finally:
        waking.close()
        watching.join()  # whoever forks has one thread
        woken.close()


class ForkLoop:
    """A forkserver and its children: when the socket with the client's orders closes, it ends with the last child."""

    def __init__(self, orders: socket.socket, serve: Callable[[], None]) -> None:
        self._orders: socket.socket | None = orders
        self._serve = serve
        self._kernel = Kernel()
        self._updates: dict[int, socket.socket] = {}
        self._held: dict[socket.socket, int] = {}  # children that their client still wants
        self._woken, self._waking = socket.socketpair()
        self._woken.settimeout(0.0)
        self._waking.settimeout(0.0)

    def run(self) -> None:
        """Handle orders until the socket is closed and no child is left."""
        signal.signal(signal.SIGCHLD, lambda *_: None)  # a handler is needed for the wakeup descriptor below
        signal.set_wakeup_fd(self._waking.fileno(), warn_on_full_buffer=False)
        while self._orders is not None or self._updates:
            watched = [self._woken, *self._held, *([] if self._orders is None else [self._orders])]
            ready, _, _ = select.select(watched, [], [])
            for updates in [one for one in ready if one in self._held]:
                self._kill(updates)
            if self._woken in ready:
                with suppress(BlockingIOError):
                    self._woken.recv(1_000)
                self._reap()
            if self._orders in ready:
                self._handle_order()

    def _handle_order(self) -> None:
        """Fork one child, or note that no more are wanted."""
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
            self._fork(updates, files, is_slow=data == SLOW)

    def _fork(self, updates: socket.socket, files: list[int], *, is_slow: bool) -> None:
        sys.stderr.flush()
        here = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:  # the client sees the closed socket
            sys.stderr.write(f"{error}\n")
            updates.close()
            pid = -1
        if pid == 0:
            self._run_child(updates, files, here, is_slow=is_slow)
        for number in files:
            os.close(number)
        if pid > 0:
            self._updates[pid] = updates
            self._held[updates] = pid

    def _run_child(self, updates: socket.socket, files: list[int], parent: int, *, is_slow: bool) -> None:
        """Run as the child until it exits, with its own three files and none of the forkserver's."""
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._kernel.end_with_parent()
            if os.getppid() != parent:  # the forkserver ended in between
                os._exit(status)
            os.nice(SLOW_NICE if is_slow else USUAL_NICE)
            with suppress(OSError):
                updates.send(UPDATES.pack(STARTED, os.getpid(), 0.0))
            for place, number in enumerate(files):
                os.dup2(number, place)
                os.close(number)
            for other in (updates, self._orders, self._woken, self._waking, *self._updates.values()):
                if other is not None and other.fileno() > 2:
                    other.close()
            self._serve()
            status = 0
        except BaseException as error:  # noqa: BLE001 - the child must never continue in the forkserver's code
            with suppress(OSError):
                os.write(2, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(status)

    def _kill(self, updates: socket.socket) -> None:
        """Kill a child whose client has let go of it."""
        pid = self._held.pop(updates)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def _reap(self) -> None:
        """Report the children that have exited."""
        while self._updates:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            if (updates := self._updates.pop(pid, None)) is None:
                continue
            self._held.pop(updates, None)
            with suppress(OSError):
                updates.send(UPDATES.pack(EXITED, os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime))
            updates.close()
