"""Take a port of this machine, or say why it cannot be taken."""

from __future__ import annotations

import socket

from prompt_debugger.core.base.egress import know_own_name
from prompt_debugger.core.base.errors import DebuggerError, MachineError, RequestError
from prompt_debugger.core.base.machine import fault_of

_BACKLOG = 512  # connections that may wait to be accepted


def listen_on(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes any free one.

    Raises:
        MachineError: The port is taken, or no descriptor is left.
        RequestError: The machine has no such address, or this user may not have the port.
    """
    name = host.strip("[]")
    know_own_name(name)
    try:
        family = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((name, port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        raise _refusal(host, port, error) from None
    # Connections inherit it. asyncio sets it only where the protocol is named, and a head whose body follows in a
    # packet of its own would wait 40 ms for its acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _refusal(host: str, port: int, error: OSError | OverflowError) -> DebuggerError:
    place = f"{host}:{port}"
    fault = fault_of(error, f"listening on {place}")
    if fault is not None and fault.kind == "port":
        return MachineError(
            f"Another program is already listening on {place}.", fault.hint, kind="port", field="--port"
        )
    if fault is not None:
        return fault
    if isinstance(error, PermissionError):
        return RequestError(
            f"The current user may not listen on {place}.",
            "Choose a port of 1024 or above with `--port`.",
            field="--port",
        )
    if isinstance(error, OverflowError):
        return RequestError(
            f"{port} is not a port.", "Choose one from 1 to 65535, or 0 for any free one.", field="--port"
        )
    return RequestError(
        f"Cannot listen on {place}: {error.strerror or error}.", "Give an address of this machine.", field="--host"
    )
