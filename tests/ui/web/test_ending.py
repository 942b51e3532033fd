"""The program ends when it is told to, whatever a visitor makes it do."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from prompt_debugger.core.base.types import JSON, JSONObject
from tests.conftest import ROOT
from tests.core.complete.faulty_server import FaultyServer, answer
from tests.patience import PATIENCE_S

A_FIFTH_OF_A_SECOND = os.sysconf("SC_CLK_TCK") // 5
TOOLS = ("f", "g", "h")  # each keeps a process busy for a second
ARGUMENTS = json.dumps({"a": "a" * 40 + "!"})
SCHEMA: JSONObject = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
REQUEST: JSONObject = {
    "messages": [{"role": "user", "content": "hi"}],
    "tools": [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in TOOLS],
}
CALLS: list[JSON] = [
    {"id": f"call_{name}", "type": "function", "function": {"name": name, "arguments": ARGUMENTS}} for name in TOOLS
]
MESSAGE: JSONObject = {"role": "assistant", "content": None, "tool_calls": CALLS}
CHAT = answer(200, {"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}]})

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")


@contextmanager
def program(endpoint: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "app.py", "ui", "--no-lab", "--port", "0", "--endpoint", endpoint]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


async def test_a_page_that_checks_an_endless_pattern_serves_others_and_ends_at_once():
    server = FaultyServer("", {"/v1/models": answer(200, {"data": [{"id": "m"}]}), "/v1/chat/completions": CHAT})
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    endpoint = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    async with listening, httpx.AsyncClient(timeout=PATIENCE_S) as client:
        with program(endpoint) as page:
            served = await asyncio.to_thread(address_of, page)
            told: list[str] = []
            watching = asyncio.create_task(run_and_watch(client, served, endpoint, told))
            worker = await asyncio.to_thread(busy_worker_of, page.pid)

            assert (await client.get(served)).status_code == 200

            page.send_signal(signal.SIGTERM)
            status = await asyncio.to_thread(page.wait, 60)
            with suppress(httpx.HTTPError):  # the page has left
                await watching

    assert status == 0
    assert any("process_starts" in line for line in told)
    assert not any("process_completed" in line for line in told), "the page waited for the run"
    assert not await asyncio.to_thread(Path(f"/proc/{worker}").exists)


def test_a_signal_that_another_thread_is_woken_for_ends_the_page():
    with program("http://127.0.0.1:9/v1") as page:
        address_of(page)
        others = {int(task.name) for task in Path(f"/proc/{page.pid}/task").iterdir()} - {page.pid}
        system = ctypes.CDLL(None)

        heard = [system.tgkill(page.pid, thread, signal.SIGTERM) == 0 for thread in others]  # threads come and go

        assert any(heard)
        assert page.wait(PATIENCE_S) == 0


def test_a_signal_ends_the_program_in_the_middle_of_its_start():
    code = """
    import threading
    from prompt_debugger.ui.web import launch
    from prompt_debugger.ui.web.settings import PageSettings
    def starts_for_ever(*_):
        print("starting", flush=True)
        threading.Event().wait()
    launch.serve_app = starts_for_ever
    launch.launch_app(PageSettings(port=0, lab=False))
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as starting:
        try:
            assert starting.stdout is not None
            assert starting.stdout.readline() == "starting\n"

            starting.send_signal(signal.SIGTERM)

            assert starting.wait(PATIENCE_S) == 0
        finally:
            starting.kill()


def address_of(page: subprocess.Popen[str]) -> str:
    assert page.stderr is not None
    for line in page.stderr:
        if found := re.search(r"is at (http://\S+?)/?$", line.strip()):
            return found[1]
    raise AssertionError("the page did not start")


async def run_and_watch(client: httpx.AsyncClient, page: str, endpoint: str, told: list[str]) -> None:
    """Run a request and note what the page tells, until it ends."""
    html = (await client.get(page)).text
    config = re.search(r"window\.gradio_config = (\{.*?\});\s*(</script>|window\.)", html, re.DOTALL)
    assert config is not None
    [run] = [one for one in json.loads(config[1])["dependencies"] if one["api_name"] == "run"]
    data: list[str | None] = [json.dumps(REQUEST), endpoint, "", "", "none", "none"]
    data += [None] * (len(run["inputs"]) - len(data))
    event = {"data": data, "fn_index": run["id"], "session_hash": "visitor", "trigger_id": None}
    joined = await client.post(f"{page}/gradio_api/queue/join", json=event)
    assert joined.status_code == 200, joined.text
    async with client.stream("GET", f"{page}/gradio_api/queue/data?session_hash=visitor") as stream:
        async for line in stream.aiter_lines():
            told.append(line)


def busy_worker_of(pid: int) -> int:
    """Wait for a process of the sandbox that works on one job; the test's time limit bounds it."""
    idle: dict[int, int] = {}
    for _ in range(2_000):
        threading.Event().wait(0.02)
        for child in children_of(pid):
            with suppress(OSError):  # it has ended meanwhile
                ticks = int(Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[11])
                if ticks > idle.setdefault(child, ticks) + A_FIFTH_OF_A_SECOND:
                    return child
    raise AssertionError("no process was busy")


def children_of(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # threads come and go
            for child in (task / "children").read_text().split():
                if "core/sandbox/child.py" in Path(f"/proc/{child}/cmdline").read_text():
                    yield int(child)
                    yield from children_of(int(child))
