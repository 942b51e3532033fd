"""No connection and no look-up without an egress, which lets one task reach one address and can be locked for good.

The refusal cannot be taken back, so each test tries it in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.attacks.listener import Listener, listening
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
_PROLOGUE = """
import asyncio, socket, sys, threading
from prompt_debugger.core.base.egress import open_egress, forbid_network, is_forbidden, is_locked, know_own_name, lock
forbid_network()
port = int(sys.argv[1])
def connect(host="127.0.0.1"):
    try:
        socket.create_connection((host, port), timeout=5).close()
        return "reached"
    except PermissionError:
        return "refused"
    except OSError as error:
        return type(error).__name__
"""


def _run(code: str, listener: Listener) -> subprocess.CompletedProcess[str]:
    script = _PROLOGUE + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", script, str(listener.port)], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr
    return done


def _said(code: str) -> list[str]:
    with listening() as listener:
        return _run(code, listener).stdout.split()


@pytest.mark.parametrize(
    "attempt",
    [
        "connect()",
        "connect('localhost')",
        "import urllib.request; urllib.request.urlopen(f'http://127.0.0.1:{port}/', timeout=5)",
        "import http.client; http.client.HTTPConnection('127.0.0.1', port).request('GET', '/')",
        "import httpx; httpx.get(f'http://127.0.0.1:{port}/')",
        "asyncio.run(asyncio.open_connection('127.0.0.1', port))",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', port))",
        "t = threading.Thread(target=connect); t.start(); t.join()",
    ],
)
def test_no_library_gets_out(attempt: str) -> None:
    with listening() as listener:
        _run(f"try:\n    {attempt}\nexcept Exception as error:\n    print(type(error).__name__)", listener)

        assert listener.requests() == []


@pytest.mark.parametrize(
    "lookup",
    [
        "socket.getaddrinfo('example.com', 80)",
        "socket.gethostbyname('example.com')",
        "socket.gethostbyaddr('192.0.2.1')",
        "socket.getnameinfo(('192.0.2.1', 80), 0)",
    ],
)
def test_no_name_is_looked_up(lookup: str) -> None:
    assert _said(f"try: {lookup}\nexcept PermissionError: print('refused')") == ["refused"]


def test_names_of_this_machine_are_looked_up() -> None:
    """Anyone who listens asks for the address to listen on."""
    code = """
    for host in ("localhost", "127.0.0.1", "::1", None, "0.0.0.0"):
        socket.getaddrinfo(host, 80)
    know_own_name("my-own-name.invalid")
    try: socket.getaddrinfo("my-own-name.invalid", 80)
    except PermissionError: print("refused")
    except OSError: print("asked")
    """

    assert _said(code) == ["asked"]


def test_an_egress_leads_to_its_address_and_nowhere_else() -> None:
    code = """
    with open_egress("test", "127.0.0.1", port=port): print(connect())
    with open_egress("test", "127.0.0.1", port=port + 1): print(connect())
    with open_egress("test", "127.0.0.2", port=port): print(connect())
    with open_egress("test", "127.0.0.1"): print(connect())
    print(connect())
    """

    assert _said(code) == ["reached", "refused", "refused", "reached", "refused"]


def test_an_egress_belongs_to_one_thread_and_one_task() -> None:
    code = """
    with open_egress("test", "127.0.0.1"):
        thread = threading.Thread(target=lambda: print(connect()))
        thread.start(); thread.join()
    async def main():
        opened, done = asyncio.Event(), asyncio.Event()
        async def other():
            await opened.wait(); print(connect()); done.set()
        task = asyncio.create_task(other())
        with open_egress("test", "127.0.0.1"):
            opened.set(); await done.wait()
        await task
    asyncio.run(main())
    """

    assert _said(code) == ["refused", "refused"]


def test_a_task_begun_inside_keeps_no_egress_open() -> None:
    code = """
    async def main():
        shut = asyncio.Event()
        async def later():
            await shut.wait(); print(connect())
        with open_egress("test", "127.0.0.1"):
            task = asyncio.create_task(later())
            await asyncio.sleep(0)
        shut.set(); await task
    asyncio.run(main())
    """

    assert _said(code) == ["refused"]


def test_a_locked_egress_does_not_open() -> None:
    code = """
    lock("hub")
    print(is_locked("hub"), is_locked("server"))
    try:
        with open_egress("hub", "127.0.0.1"): print(connect())
    except PermissionError: print("refused")
    """

    assert _said(code) == ["True", "False", "refused"]


def test_sockets_of_this_machine_alone_work() -> None:
    code = """
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        server = socket.socket(socket.AF_UNIX); server.bind(folder + "/s"); server.listen()
        client = socket.socket(socket.AF_UNIX); client.connect(folder + "/s"); client.sendall(b"x")
        client.sendmsg([b"y"])
    listening = socket.create_server(("127.0.0.1", 0)); listening.close()
    asyncio.run(asyncio.sleep(0))
    print("fine", is_forbidden())
    """

    assert _said(code) == ["fine", "True"]


def test_a_refusal_is_logged_once_with_the_place_and_not_with_what_was_asked_for() -> None:
    """What is asked for may be what a visitor typed."""
    with listening() as listener:
        code = "for _ in range(3):\n    try: socket.getaddrinfo('secret-name.example', 80)\n    except OSError: pass"
        done = _run(code, listener)

    assert done.stderr.count("refused a connection: socket.getaddrinfo by __main__:") == 1
    assert "secret-name" not in done.stderr


def test_the_program_shuts_the_network_before_anything_else_is_read() -> None:
    """Entry of the command line, the page and the Space alike."""
    code = """
    import importlib.abc, sys
    early = []
    class Watcher(importlib.abc.MetaPathFinder):
        def find_spec(self, name, path, target=None):
            egress = sys.modules.get("prompt_debugger.core.base.egress")
            is_shut = hasattr(egress, "is_forbidden") and egress.is_forbidden()
            if not is_shut and name.partition(".")[0] not in sys.stdlib_module_names: early.append(name)
    sys.meta_path.insert(0, Watcher())
    import app
    try: app.main()
    except SystemExit: pass
    ours = {"app", *(f"prompt_debugger{n}" for n in ("", ".__main__", ".core", ".core.base", ".core.base.egress"))}
    print([name for name in early if name not in ours and name in sys.modules])
    """
    with listening() as listener:
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code), "--help"],
            cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S,
        )  # fmt: skip
        assert listener.requests() == []

    assert done.stdout.splitlines()[-1] == "[]", (done.stdout, done.stderr)
    assert "usage:" in done.stdout
