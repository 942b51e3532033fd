"""The child process behind every engine, with children that need no vLLM."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.parse.engines.client import _WORKER as WORKER
from prompt_debugger.core.parse.engines.process import HelperProcess, _Deadline
from prompt_debugger.core.sandbox.forkserver import Forkserver
from tests.core.parse.engines.children import environment, program_of
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.slow


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, and the processor time that was used."""
    now = [0.0, 0.0]
    monkeypatch.setattr("prompt_debugger.core.parse.engines.process.time.monotonic", lambda: now[0])
    return now


def test_time_does_not_run_out_for_a_helper_that_gets_little_of_a_busy_machine(at: list[float]) -> None:
    deadline = _Deadline(180.0, lambda: at[1])

    for at[0], at[1] in ((180.0, 4.0), (360.0, 8.0), (540.0, 12.0)):
        assert deadline.left_s() == 180.0
    at[0], at[1] = 720.0, 15.0

    assert deadline.left_s() <= 0
    assert str(deadline) == "720 s"


@pytest.mark.parametrize("worked_s", [0.0, 3.5, 136.0, 180.0])
def test_time_runs_out_for_one_that_stands_still_or_works_too_long(at: list[float], worked_s: float) -> None:
    deadline = _Deadline(180.0, lambda: at[1])
    assert deadline.left_s() == 180.0
    at[:] = 180.0, worked_s

    assert deadline.left_s() <= 0
    assert str(deadline) == "180 s"


@contextmanager
def child(program: str, *, max_answer_bytes: int = 10_000) -> Iterator[HelperProcess]:
    forkserver = Forkserver(program_of(program), environment())
    helper = HelperProcess(forkserver.fork(is_slow=False), max_answer_bytes=max_answer_bytes)
    try:
        yield helper
    finally:
        helper.close()
        forkserver.close()


def test_a_forkserver_says_how_long_it_has_worked() -> None:
    forkserver = Forkserver([sys.executable, "-c", "import time\nwhile True: time.sleep(0.001)"], environment())
    try:
        before, deadline = forkserver.cpu_s, time.monotonic() + PATIENCE_S
        while forkserver.cpu_s <= before:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        forkserver.close(0.0)


def test_a_worker_that_still_imports_its_engine_ends_with_its_client(tmp_path: Path) -> None:
    (tmp_path / "vllm.py").write_text(
        "import sys, threading\nprint('importing', file=sys.stderr, flush=True)\nthreading.Event().wait()"
    )
    ours, theirs = socket.socketpair()
    found_first = environment() | {"PYTHONPATH": str(tmp_path)}
    with (
        ours,
        theirs,
        Popen([sys.executable, str(WORKER)], stdin=theirs.fileno(), stderr=PIPE, env=found_first) as process,
    ):
        try:
            theirs.close()
            assert process.stderr is not None
            assert process.stderr.readline() == b"importing\n"
            assert process.poll() is None

            ours.close()

            assert process.wait(PATIENCE_S) == 1
        finally:
            process.kill()


def test_a_question_is_answered() -> None:
    with child("import sys\nfor line in sys.stdin: print(line, end='', flush=True)") as helper:
        answers = [helper.exchange({"n": number, "text": "é" * 50}, PATIENCE_S) for number in range(3)]

    assert [answer["n"] for answer in answers] == [0, 1, 2]


@pytest.mark.parametrize(
    ("program", "timeout_s", "words"),
    [
        ("import time; time.sleep(600)", 0.3, "no answer within 0.3 s"),
        ("import sys\nwhile True: sys.stdout.write('x' * 1000)", PATIENCE_S, "wrote more than 10,000 bytes"),
        ("print('hello', flush=True); input()", PATIENCE_S, "returned a malformed answer"),
        ("print('[1]', flush=True); input()", PATIENCE_S, "returned a malformed answer"),
        ("import os; os._exit(7)", PATIENCE_S, "ended with status 7"),
        ("import os; os.kill(os.getpid(), 9)", PATIENCE_S, "killed by signal 9"),
    ],
)
def test_a_child_that_does_not_answer_is_one_error_and_gone(program: str, timeout_s: float, words: str) -> None:
    with child(program) as helper, pytest.raises(EngineError, match=words):
        helper.hello(timeout_s)

    assert not helper.is_running


def test_a_child_that_reads_nothing_does_not_hold_us_up() -> None:
    program = "print('{}', flush=True)\nimport time; time.sleep(600)"
    with child(program) as helper:
        helper.hello(PATIENCE_S)
        with pytest.raises(EngineError, match="did not read"):
            helper.exchange({"text": "x" * 5_000_000}, 0.3)


def test_a_child_that_floods_standard_error_can_still_answer() -> None:
    program = "import sys\nsys.stderr.write('x' * 5_000_000)\nsys.stderr.flush()\nprint('{}', flush=True)"

    with child(program) as helper:
        assert helper.hello(PATIENCE_S) == {}


def test_a_child_that_stands_still_is_one_error_and_gone() -> None:
    with child("import sys\nfor line in sys.stdin: print(line, end='', flush=True)") as helper:
        assert helper.exchange({"n": 1}, PATIENCE_S) == {"n": 1}
        assert helper.pid is not None
        os.kill(helper.pid, signal.SIGSTOP)

        with pytest.raises(EngineError, match=r"no answer within 0\.3 s"):
            helper.exchange({"n": 2}, 0.3)

        assert not helper.is_running
