"""A test that runs in vLLM ends with the process that wanted it; an empty package is in for it."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import SandboxError
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.fixes.trial import Runner, Trial, try_test
from tests.conftest import ROOT
from tests.core.parse.engines.children import is_alive
from tests.patience import PATIENCE_S

# Writes its process id beside itself, then runs for good in a search that hears no signal handler.
ENDLESS = """
import os, pathlib, re
pid = pathlib.Path(__file__).with_name("pid")
pid.with_suffix(".new").write_text(str(os.getpid()))
pid.with_suffix(".new").rename(pid)

def test_endless():
    re.match("(a+)+$", "a" * 60 + "!")
"""


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An interpreter with a vLLM that has a version and nothing else."""
    package = tmp_path / "packages" / "vllm"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("__version__ = '0.0.1'")
    interpreter = tmp_path / "python"
    interpreter.write_text(f'#!/bin/sh\nPYTHONPATH="{package.parent}" exec "{sys.executable}" "$@"\n')
    interpreter.chmod(0o755)
    return interpreter


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    file = tmp_path / "test_endless.py"
    file.write_text(ENDLESS)
    return file


def test_how_a_test_ended_is_reported(python: Path, tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"

    def outcome(test: str) -> Trial:
        file.write_text(f"def test_it():\n    {test}")
        return try_test(file, Runner(str(python), "vllm"))

    assert outcome("pass") == Trial("0.0.1", fails=False, explanation="")
    assert outcome("assert False, 'gone'") == Trial("0.0.1", fails=True, explanation="gone")
    assert outcome("open('/no/such/file')").fails is None


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
async def test_the_end_of_a_turn_ends_the_test(python: Path, endless: Path) -> None:
    ends: list[str] = []

    def work() -> None:
        try:
            try_test(endless, Runner(str(python), "vllm"))
        except SandboxError as error:
            ends.append(error.limit)

    visitor = asyncio.create_task(in_thread(work))
    pid = await asyncio.to_thread(pid_of, endless)
    visitor.cancel()
    await asyncio.gather(visitor, return_exceptions=True)

    await asyncio.to_thread(wait_for_end, pid)
    deadline = time.monotonic() + PATIENCE_S
    while not ends:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    assert ends == ["stopped"]


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux ends it")
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_the_test_ends_with_the_program(python: Path, endless: Path, end: signal.Signals) -> None:
    program = (
        "import sys; from prompt_debugger.core.tools.fixes.trial import Runner, try_test\n"
        "try_test(sys.argv[2], Runner(sys.argv[1], 'vllm'))\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(python), str(endless)], cwd=ROOT) as parent:
        pid = pid_of(endless)
        parent.send_signal(end)

    wait_for_end(pid)


def pid_of(test: Path) -> int:
    deadline = time.monotonic() + PATIENCE_S
    while not test.with_name("pid").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return int(test.with_name("pid").read_text())


def wait_for_end(pid: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while is_alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)
