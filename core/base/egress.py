"""One way out: anyone who wants a connection opens an egress, and nothing else of this process reaches the network.

    forbid_network()                   first thing in a process: the page, the command line, each helper
    with open_egress("server", address, 80):  a connection to this one address, by this task or thread alone

Libraries open connections of their own accord: a JSON Schema's `$ref`, an upload that names a URL, a look-up
on a Hub. An audit hook sees each attempt, no matter who makes it, and refuses what nothing was permitted for. A hook
cannot be taken out again. It is a fuse against forgotten ways out, not a prison: code that runs here could open an
egress itself, which is why untrusted code runs elsewhere. What compiled libraries do without Python's sockets, and
what child processes do, it does not see.

This file imports the standard library alone, so that it can come before anything else.
"""

from __future__ import annotations

import logging
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType

LOG = logging.getLogger("prompt_debugger.egress")

_BY_NAME = frozenset({"socket.getaddrinfo", "socket.gethostbyname"})
_LOOKUPS = _BY_NAME | {"socket.gethostbyaddr", "socket.getnameinfo"}
_SENDINGS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_WATCHED = _LOOKUPS | _SENDINGS
# Between the one who wants a connection and the socket; the log names who called them.
_CARRIERS = frozenset(
    (
        "anyio", "asyncio", "concurrent", "contextlib", "prompt_debugger.core.base.egress", "http", "httpcore", "httpx",
        "requests", "selectors", "socket", "ssl", "threading", "urllib", "urllib3",
    )
)  # fmt: skip


class RefusedConnectionError(PermissionError):
    """Something wanted a connection that nothing was permitted for."""


@dataclass(slots=True, eq=False)
class _Permit:
    """Where one task or thread may connect to, for a while.

    Attributes:
        name: Who opened it.
        hosts: Addresses, or names to look up.
        port: The port; `None` for any.
        is_open: False once the block is left: tasks that began inside it carry the egress on, closed.
    """

    name: str
    hosts: frozenset[str]
    port: int | None
    is_open: bool = True


_permit: ContextVar[_Permit | None] = ContextVar("egress", default=None)
_own_names: set[str] = {"", "localhost", "0.0.0.0", "::"}
_locked: set[str] = set()
_logged: set[tuple[str, str]] = set()
_is_forbidden = threading.Event()


def forbid_network() -> None:
    """Refuse every connection and look-up of this process from now on, except through `open_egress`."""
    if not _is_forbidden.is_set():
        _is_forbidden.set()
        sys.addaudithook(_judge)


def is_forbidden() -> bool:
    """Return whether `forbid_network` was called in this process."""
    return _is_forbidden.is_set()


@contextmanager
def open_egress(name: str, *hosts: str, port: int | None = None) -> Iterator[None]:
    """Let the code of this block, and no other code, connect to some hosts.

    Args:
        name: Who opens it.
        hosts: IP addresses that may be connected to, or names that may be looked up.
        port: The one port; `None` for any.

    Raises:
        RefusedConnectionError: This name was locked.
    """
    if name in _locked:
        raise RefusedConnectionError(f"Network access under the name `{name}` is disabled here.")
    opened = _Permit(name, frozenset(map(_plain, hosts)), port)
    token = _permit.set(opened)
    try:
        yield
    finally:
        opened.is_open = False
        _permit.reset(token)


def lock(name: str) -> None:
    """Refuse all egress under a name for as long as the process lives."""
    _locked.add(name)


def is_locked(name: str) -> bool:
    """Return whether egress under a name is refused."""
    return name in _locked


def know_own_name(host: str) -> None:
    """Let anything look up a name of this machine, as anyone who listens on it must."""
    _own_names.add(_plain(host))


def _judge(event: str, args: tuple[object, ...]) -> None:
    if event not in _WATCHED:
        return
    if event in _LOOKUPS:
        host: object = args[0]
        port: object = None
        is_fine = _is_own(host, is_name=event in _BY_NAME)
    else:
        address = args[1]
        is_fine = not isinstance(address, tuple) or _is_unix(args[0])  # no address: the socket is connected already
        host, port = address[:2] if isinstance(address, tuple) and len(address) > 1 else (address, None)
    if not is_fine and not _is_let_through(event, host, port):
        _refuse(event, host)


def _is_own(host: object, *, is_name: bool) -> bool:
    """Return whether a look-up asks no server: it is for this machine, or wants the address of an address."""
    return host is None or _plain(host) in _own_names or (is_name and _is_address(_plain(host)))


def _is_address(text: str) -> bool:
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, text)
        except (OSError, ValueError):
            continue
        return True
    return False


def _is_unix(opened: object) -> bool:
    return isinstance(opened, socket.socket) and opened.family == getattr(socket, "AF_UNIX", None)


def _is_let_through(event: str, host: object, port: object) -> bool:
    opened = _permit.get()
    if opened is None or not opened.is_open or _plain(host) not in opened.hosts:
        return False
    return event in _LOOKUPS or opened.port is None or opened.port == port


def _plain(host: object) -> str:
    """Return a host as it is compared: small letters, without the zone of an IPv6 address."""
    text = host.decode("ascii", "replace") if isinstance(host, bytes | bytearray) else str(host)
    return text.lower().partition("%")[0]


def _refuse(event: str, host: object) -> None:
    place = _place(sys._getframe(2))
    if (
        event,
        place,
    ) not in _logged:  # a place is a line of code, so there are not many; what it asked for stays unsaid
        _logged.add((event, place))
        LOG.warning("refused a connection: %s by %s; only the guarded transport opens any", event, place)
    raise RefusedConnectionError(f"Refused {event} to {str(host)[:80]!r}: only the guarded transport may connect.")


def _place(frame: FrameType | None) -> str:
    """Return the line of code that wanted the connection: the caller of the libraries that carry it out."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", "?"))
        if module not in _CARRIERS and module.partition(".")[0] not in _CARRIERS:
            return f"{module}:{frame.f_lineno}"
        frame = frame.f_back
    return "a thread of a library"
