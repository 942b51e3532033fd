"""A command that is told to end while it waits for a server ends, and leaves no process behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from prompt_debugger.core.base.types import JSONObject
from tests.conftest import ROOT
from tests.core.complete.faulty_server import FaultyServer, answer
from tests.patience import PATIENCE_S
from tests.threads import in_thread

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")

CALL: JSONObject = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{bad"}}
MESSAGE: JSONObject = {"role": "assistant", "content": None, "tool_calls": [CALL]}
CHAT = answer(200, {"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}]})
REQUEST: JSONObject = {
    "messages": [{"role": "user", "content": "hi"}],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
}


class StallingServer(FaultyServer):
    """Answers so many chats with a call that is broken, and the next one never."""

    def __init__(self, answers: int) -> None:
        super().__init__("", {})
        self._answers = answers
        self.stalls = threading.Event()

    def _behaviour_of(self, request: Any) -> Any:
        if request.path.endswith("/models"):
            return answer(200, {"data": [{"id": "m"}]})
        if not request.path.endswith("/chat/completions"):
            return answer(404)
        self._answers -= 1
        return CHAT if self._answers >= 0 else self._stall

    async def _stall(self, _: Any) -> None:
        self.stalls.set()
        await asyncio.Event().wait()


COMMANDS = {
    "run": (["run", "REQUEST"], 0),
    "experiments": (["run", "REQUEST", "--experiments"], 2),
    "answered tools": (["run", "REQUEST", "--tool-answers", "ANSWERS"], 1),
    "cases": (["run", "--cases", "REQUEST", "--jobs", "2"], 0),
    "shrink": (["shrink", "REQUEST"], 2),
}


@pytest.mark.parametrize(("name", "number"), [*((name, signal.SIGTERM) for name in COMMANDS), ("run", signal.SIGINT)])
def test_a_command_that_waits_for_its_server_ends_with_all_its_processes(
    name: str, number: signal.Signals, tmp_path: Path
) -> None:
    arguments, answers = COMMANDS[name]
    files = {"REQUEST": tmp_path / "request.json", "ANSWERS": tmp_path / "answers.json"}
    files["REQUEST"].write_text(json.dumps(REQUEST) + "\n", encoding="utf-8")
    files["ANSWERS"].write_text('{"*": "x"}', encoding="utf-8")
    server = StallingServer(answers)
    with in_thread(server) as url:
        process = subprocess.Popen(
            [sys.executable, "app.py", *(str(files.get(one, one)) for one in arguments), "--endpoint", url],
            cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # one thread
        )  # fmt: skip
        assert server.stalls.wait(PATIENCE_S)
        started = {process.pid, *descendants_of(process.pid)}
        process.send_signal(number)
        status = process.wait(PATIENCE_S)

    assert status == (-signal.SIGTERM if number is signal.SIGTERM else 130)
    assert all(is_gone(one) for one in started)


def descendants_of(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # threads come and go
            for child in (task / "children").read_text().split():
                yield int(child)
                yield from descendants_of(int(child))


def is_gone(pid: int) -> bool:
    """Wait for the end of a process, with a generous bound."""
    for _ in range(int(PATIENCE_S / 0.02)):
        if not _is_running(pid):
            return True
        threading.Event().wait(0.02)
    return False


def _is_running(pid: int) -> bool:
    """Say whether a process works; one that has ended and waits to be collected does not."""
    with suppress(OSError):
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
