"""What the guard of the network lets through and what it refuses, asked as the interpreter asks its audit hooks.

Nothing is forbidden in this process: the guard's judgement is called by hand. `test_egress` tries it for real.
"""

from __future__ import annotations

import logging
import socket
import sys
import threading
from contextlib import suppress
from types import SimpleNamespace

import pytest

from prompt_debugger.core.base import egress
from prompt_debugger.core.base.egress import RefusedConnectionError, open_egress

FAR = ("192.0.2.1", 80)
LOOKUPS = ["socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"]
SENDINGS = ["socket.connect", "socket.sendto", "socket.sendmsg"]


@pytest.fixture(autouse=True)
def _as_in_a_new_process(monkeypatch):
    for name, fresh in (
        ("_own_names", set(egress._own_names)),
        ("_locked", set()),
        ("_logged", set()),
        ("_is_forbidden", threading.Event()),
    ):
        monkeypatch.setattr(egress, name, fresh)
    monkeypatch.setattr(egress, "_CARRIERS", egress._CARRIERS | {"mutmut"})  # is between as it changes functions


@pytest.fixture
def opened():
    with socket.socket() as one:
        yield one


def is_refused(event, *args):
    try:
        egress._judge(event, args)
    except RefusedConnectionError:
        return True
    return False


@pytest.mark.parametrize("event", SENDINGS)
def test_what_is_sent_to_an_address_is_refused(event, opened):
    assert is_refused(event, opened, FAR)
    assert is_refused(event, opened, ("127.0.0.1", 80))
    assert is_refused(event, opened, ("::1", 80, 0, 0))
    assert is_refused(event, opened, ("192.0.2.1",))  # an address of a kind that no one knows
    assert not is_refused(event, opened, None)  # no address: the socket is connected already
    assert not is_refused(event, opened, "/run/a.socket")


def test_a_socket_of_this_machine_s_files_reaches_no_one(opened):
    with socket.socket(socket.AF_UNIX) as of_files:
        assert not is_refused("socket.connect", of_files, FAR)
    assert is_refused("socket.connect", SimpleNamespace(family=socket.AF_UNIX), FAR)  # no socket at all


def test_without_sockets_of_files_every_socket_is_judged(monkeypatch, opened):
    monkeypatch.delattr(socket, "AF_UNIX")

    assert is_refused("socket.connect", opened, FAR)


@pytest.mark.parametrize("event", LOOKUPS)
def test_a_name_of_another_machine_is_not_looked_up(event):
    assert is_refused(event, "example.com", 80)
    assert is_refused(event, b"example.com", 80)
    assert is_refused(event, b"\xffexample.com", 80)  # no text in ASCII


@pytest.mark.parametrize("event", LOOKUPS)
@pytest.mark.parametrize("host", [None, "", "localhost", "LocalHost", b"localhost", "0.0.0.0", "::"])
def test_a_name_of_this_machine_is_looked_up(event, host):
    assert not is_refused(event, host, 80)


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "fe80::1%eth0", b"192.0.2.1"])
def test_the_address_of_an_address_asks_no_one_but_its_name_does(host):
    assert not is_refused("socket.getaddrinfo", host, 80)
    assert not is_refused("socket.gethostbyname", host)
    assert is_refused("socket.gethostbyaddr", host)
    assert is_refused("socket.getnameinfo", (host, 80), 0)


@pytest.mark.parametrize("text", ["192.0.2", "192.0.2.256", "1.2.3.4.5", "2001:db8::g", "a\0b", "x"])
def test_what_only_looks_like_an_address_is_a_name(text):
    assert is_refused("socket.getaddrinfo", text, 80)


def test_what_opens_nothing_is_not_judged():
    for event in ("open", "socket.bind", "socket.listen", "subprocess.Popen"):
        assert not is_refused(event, "example.com", FAR)


def test_an_egress_is_for_its_hosts_and_its_port(opened):
    with open_egress("test", "192.0.2.1", "Example.COM", port=80):
        assert not is_refused("socket.connect", opened, FAR)
        assert is_refused("socket.connect", opened, ("192.0.2.1", 81))
        assert is_refused("socket.connect", opened, ("192.0.2.2", 80))
        assert not is_refused("socket.getaddrinfo", "example.com", 443)  # a look-up has no port
        assert not is_refused("socket.getaddrinfo", b"EXAMPLE.com", None)
        assert is_refused("socket.getaddrinfo", "example.org", 80)
    assert is_refused("socket.connect", opened, FAR)


def test_an_egress_without_a_port_is_for_each_port(opened):
    with open_egress("test", "192.0.2.1"):
        assert not is_refused("socket.connect", opened, FAR)
        assert not is_refused("socket.connect", opened, ("192.0.2.1", 81))
        assert is_refused("socket.connect", opened, ("192.0.2.2", 81))


def test_the_zone_of_an_address_is_not_compared(opened):
    with open_egress("test", "fe80::1%eth0"):
        assert not is_refused("socket.connect", opened, ("fe80::1", 80, 0, 2))
        assert not is_refused("socket.connect", opened, ("FE80::1%eth1", 80, 0, 2))
        assert is_refused("socket.connect", opened, ("fe80::2%eth0", 80, 0, 2))


def test_of_two_the_inner_one_counts_and_then_the_outer_one_again(opened):
    with open_egress("outer", "192.0.2.1"):
        with suppress(ZeroDivisionError), open_egress("inner", "192.0.2.2"):
            assert is_refused("socket.connect", opened, FAR)
            assert not is_refused("socket.connect", opened, ("192.0.2.2", 80))
            raise ZeroDivisionError
        assert not is_refused("socket.connect", opened, FAR)
        assert is_refused("socket.connect", opened, ("192.0.2.2", 80))


def test_a_permit_that_was_carried_on_is_closed():
    with open_egress("test", "192.0.2.1"):
        permit = egress._permit.get()
        assert permit is not None
        assert (permit.name, permit.is_open) == ("test", True)

    assert egress._permit.get() is None
    assert permit.is_open is False


def test_a_locked_name_opens_nothing_and_others_do():
    egress.lock("hub")

    assert (egress.is_locked("hub"), egress.is_locked("server")) == (True, False)
    with pytest.raises(RefusedConnectionError, match="`hub`"), open_egress("hub", "192.0.2.1"):
        pass
    with open_egress("server", "192.0.2.1"):
        pass


def test_a_name_of_this_machine_is_learnt_whatever_its_letters():
    assert is_refused("socket.getaddrinfo", "My-Host", 80)

    egress.know_own_name("my-HOST%1")

    assert not is_refused("socket.getaddrinfo", "My-Host", 80)
    assert not is_refused("socket.gethostbyaddr", "my-host")


def test_a_refusal_says_what_was_wanted_and_not_more_than_it_must(opened):
    with pytest.raises(RefusedConnectionError, match=r"socket\.connect to '192\.0\.2\.1'"):
        egress._judge("socket.connect", (opened, FAR))
    with pytest.raises(RefusedConnectionError) as caught:
        egress._judge("socket.getaddrinfo", ("x" * 200, 80))

    assert repr("x" * 80) in str(caught.value)
    assert isinstance(caught.value, PermissionError)


def test_each_place_is_logged_once_with_its_line_and_without_the_host(caplog):
    caplog.set_level(logging.WARNING, logger="prompt_debugger.egress")

    for _ in range(2):
        is_refused("socket.getaddrinfo", "secret.example", 80)
    is_refused("socket.gethostbyname", "secret.example")

    said = [record.getMessage() for record in caplog.records]
    line = is_refused.__code__.co_firstlineno + 2
    assert [f"socket.getaddrinfo by {__name__}:{line}" in said[0], len(said)] == [True, 2]
    assert f"socket.gethostbyname by {__name__}:{line}" in said[1]
    assert "secret" not in "".join(said)


def _frame_of(name):
    """Return a frame whose module has a name, called from here."""
    namespace = {"sys": sys} if name is None else {"__name__": name, "sys": sys}
    exec("def frame(): return sys._getframe()", namespace)
    return namespace["frame"]()


@pytest.mark.parametrize("carrier", ["httpx", "httpx._client", "asyncio.base_events", "ssl", "urllib3.connection"])
def test_the_place_is_behind_the_libraries_that_carry_it_out(carrier):
    assert egress._place(_frame_of(carrier)).startswith(f"{__name__}:")


def test_the_place_of_what_no_one_here_began_is_a_library_s_thread():
    assert egress._place(_frame_of("somebody.else")).startswith("somebody.else:")
    assert egress._place(_frame_of(None)) == "?:1"  # code that no module has
    assert egress._place(None) == "a thread of a library"


def test_a_process_is_forbidden_once(monkeypatch):
    hooks = []
    monkeypatch.setattr(sys, "addaudithook", hooks.append)
    assert not egress.is_forbidden()

    egress.forbid_network()
    egress.forbid_network()

    assert egress.is_forbidden()
    assert hooks == [egress._judge]
