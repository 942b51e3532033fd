"""A port is taken, or one sentence says why not."""

from __future__ import annotations

import socket

import pytest

from prompt_debugger.core.base.errors import DebuggerError, MachineError, RequestError
from prompt_debugger.core.base.listening import listen_on


def test_any_free_port_is_found() -> None:
    with listen_on("127.0.0.1", 0) as listener:
        assert listener.getsockname()[1] > 0


def test_connections_do_not_hold_small_packets_back() -> None:
    """A head and a body in two packets would take 40 ms where the client acknowledges late."""
    with listen_on("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_taken_port_is_reported_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(MachineError) as caught:
        listen_on("127.0.0.1", other.getsockname()[1])

    assert caught.value.kind == "port"
    assert "Another program is already listening on 127.0.0.1:" in caught.value.message
    assert "--port" in caught.value.hint


@pytest.mark.parametrize(
    ("host", "port", "said"),
    [("127.0.0.1", 70_000, "70000 is not a port"), ("192.0.2.1", 0, "Cannot listen on 192.0.2.1:0")],
)
def test_a_place_that_is_not_there_is_the_callers(host: str, port: int, said: str) -> None:
    with pytest.raises(DebuggerError, match=said) as caught:
        listen_on(host, port)

    assert type(caught.value) is RequestError
