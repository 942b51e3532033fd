"""Nothing survives us: real processes, no vLLM."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from prompt_debugger.core.tools.lab.process import SupervisedProcess
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.slow

WaitGone = Callable[[Iterable[int]], set[int]]

ROOT = Path(__file__).resolve().parents[4]

# A server that starts a helper, and a helper that flees into a session of its own; prints all three pids.
FAMILY = """
import os, sys, time
ready, told = os.pipe()
def report():
    os.write(1, b"member %d\\n" % os.getpid())
    os.write(told, b"!")
def child(flee):
    pid = os.fork()
    if pid == 0:
        if flee:
            os.setsid()
            if os.fork():
                os._exit(0)
        report()
        while True: time.sleep(60)
child(False); child(True); report()
"""
STAY = "while True: time.sleep(60)\n"
LEAVE = "for _ in range(3): os.read(ready, 1)\nsys.exit(7)\n"  # once all three have spoken
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"

# A program that starts the family under supervision, passes its lines on, and waits.
APP = """
import os, signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it would be ignored from the start
signal.signal(signal.SIGINT, signal.default_int_handler)  # as it would be in a background job
from pathlib import Path
from prompt_debugger.core.tools.lab.process import SupervisedProcess
scratch = Path(sys.argv[1]); scratch.mkdir()
def report(line): os.write(1, line.encode() + b"\\n")
process = SupervisedProcess([sys.executable, "-c", sys.argv[2]], os.environ, scratch, report)
if sys.argv[3] == "fork" and os.fork() == 0:
    report(f"holder {os.getpid()}")
    time.sleep(60)
time.sleep(60)
"""


def read_members(lines: Iterable[str], count: int = 3) -> list[int]:
    members: list[int] = []
    for line in lines:
        if line.startswith("member "):
            members.append(int(line.split()[1]))
        if len(members) == count:
            break
    return members


def start_app(scratch: Path, mode: str = "plain") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", APP, str(scratch), FAMILY + STAY, mode]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def start_family(scratch: Path, source: str) -> tuple[SupervisedProcess, list[int]]:
    scratch.mkdir()
    members: list[int] = []
    complete = threading.Event()

    def take(line: str) -> None:
        members.extend(read_members([line], 1))
        if len(members) == 3:
            complete.set()

    process = SupervisedProcess([sys.executable, "-c", source], os.environ, scratch, take)
    assert complete.wait(PATIENCE_S)
    return process, members


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGSEGV])
def test_no_process_survives_the_death_of_the_program(
    number: signal.Signals, tmp_path: Path, wait_gone: WaitGone
) -> None:
    with start_app(tmp_path / "scratch") as app:
        assert app.stdout is not None
        members = read_members(app.stdout)

        app.send_signal(number)

        assert wait_gone(members) == set()
        assert app.wait() != 0


def test_a_forked_copy_that_holds_the_pipe_does_not_keep_the_command_alive(tmp_path: Path, wait_gone: WaitGone) -> None:
    with start_app(tmp_path / "scratch", "fork") as app:
        assert app.stdout is not None
        holder = 0
        members: list[int] = []
        while not holder or len(members) < 3:
            word, _, pid = app.stdout.readline().partition(" ")
            if word == "holder":
                holder = int(pid)
            elif word == "member":
                members.append(int(pid))

        app.kill()

        assert wait_gone(members) == set()
        os.kill(holder, signal.SIGKILL)


def test_ending_takes_all_descendants_along_and_removes_the_scratch_folder(tmp_path: Path, wait_gone: WaitGone) -> None:
    process, members = start_family(tmp_path / "scratch", FAMILY + STAY)

    process.end()

    assert process.ended.is_set()
    assert not process.is_alive
    assert wait_gone(members) == set()
    assert not (tmp_path / "scratch").exists()


def test_a_command_that_ignores_the_request_to_end_is_killed(tmp_path: Path, wait_gone: WaitGone) -> None:
    process, members = start_family(tmp_path / "scratch", STUBBORN + FAMILY + STAY)

    process.end()

    assert process.exit_status == -signal.SIGKILL
    assert wait_gone(members) == set()


def test_descendants_go_when_the_command_ends_by_itself(tmp_path: Path, wait_gone: WaitGone) -> None:
    process, members = start_family(tmp_path / "scratch", FAMILY + LEAVE)

    assert process.ended.wait(PATIENCE_S)

    assert process.exit_status == 7
    assert wait_gone(members) == set()


def test_the_family_goes_when_its_supervisor_is_killed(tmp_path: Path, wait_gone: WaitGone) -> None:
    """Except who fled into another session: no one is left to find it. vLLM's processes do not flee."""
    process, _ = start_family(tmp_path / "scratch", (FAMILY + STAY).replace("os.setsid()", "pass"))
    assert process.pid is not None
    supervisor_pid = int(Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[1])

    os.kill(supervisor_pid, signal.SIGKILL)

    assert process.ended.wait(PATIENCE_S)
    assert wait_gone([process.pid]) == set()
    assert not (tmp_path / "scratch").exists()


def test_lines_arrive_as_a_terminal_would_show_them(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    lines: list[str] = []
    source = r"import os; os.write(1, b'one\n 0%\r100%\n\xff\nno end')"

    process = SupervisedProcess([sys.executable, "-c", source], os.environ, tmp_path / "scratch", lines.append)

    assert process.ended.wait(PATIENCE_S)
    assert lines == ["one", "100%", "\ufffd", "no end"]
    assert process.exit_status == 0


def test_a_program_that_does_not_exist_ends_with_a_log(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    lines: list[str] = []

    process = SupervisedProcess(["/no/such/program"], os.environ, tmp_path / "scratch", lines.append)

    assert process.ended.wait(PATIENCE_S)
    assert "FileNotFoundError" in "\n".join(lines)
    assert not (tmp_path / "scratch").exists()


@pytest.mark.skipif(not Path("/proc/self/oom_score_adj").exists(), reason="Linux alone chooses what it ends")
def test_where_memory_runs_out_the_command_goes_before_the_program(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    lines: list[str] = []

    process = SupervisedProcess(["cat", "/proc/self/oom_score_adj"], os.environ, tmp_path / "scratch", lines.append)

    assert process.ended.wait(PATIENCE_S)
    assert lines == ["1000"]
