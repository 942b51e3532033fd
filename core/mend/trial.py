"""Run a test for vLLM at once, in the installed release, and say how it ended.

It runs in a process of its own, which ends with the visitor's turn, and with the program.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from prompt_debugger.core.errors import RoomError
from prompt_debugger.core.interpreter import vllm_python
from prompt_debugger.core.room.turns import TURN

_LIMIT_S = 300
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "LD_PRELOAD", "VIRTUAL_ENV")
_SET = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_NO_USAGE_STATS": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "VLLM_TARGET_DEVICE": "cpu",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
# The first lines let the kernel end it with the thread that waits for it (Linux), and in any case after so much work.
_RUNS = """
import ctypes, os, resource, runpy, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != int(sys.argv[2]):
        sys.exit(1)
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[3]),) * 2)
import vllm
print("vllm", vllm.__version__)
tests = {name: made for name, made in runpy.run_path(sys.argv[1]).items() if name.startswith("test_")}
for name, test in tests.items():
    try:
        test()
    except AssertionError as error:
        print("fails", str(error).splitlines()[0])
        sys.exit(0)
print("passes")
"""


@dataclass(frozen=True, slots=True)
class Trial:
    """How a test ended.

    Attributes:
        version: Version of the vLLM that ran it; `None` if none did.
        fails: Whether an assertion of it failed; `None` if it could not be run.
        told: The assertion's words, or why it could not be run.
    """

    version: str | None
    fails: bool | None
    told: str


def try_in_vllm(file: str | Path) -> Trial:
    """Run the tests of a file in the installed vLLM.

    Args:
        file: A test file that `write_upstream_test` wrote for vLLM.

    Raises:
        RoomError: The visitor's turn has ended, and the test with it.
    """
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | _SET
    command = [str(vllm_python()), "-c", _RUNS, str(file), str(os.getpid()), str(_LIMIT_S)]
    try:
        done = _run(command, environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Trial(None, None, f"it could not be run: {type(error).__name__}")
    lines = done.stdout.splitlines()
    version = next((line.split()[1] for line in lines if line.startswith("vllm ")), None)
    last = lines[-1] if lines else ""
    if done.returncode == 0 and last == "passes":
        return Trial(version, fails=False, told="")
    if done.returncode == 0 and last.startswith("fails "):
        return Trial(version, fails=True, told=last.removeprefix("fails "))
    why = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
    return Trial(version, None, f"it could not be run: {why[:300]}")


def _run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Wait for a program, until the visitor's turn or its time is over, and leave nothing of it behind."""
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    is_stopped: list[bool] = []

    def end() -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)

    def stop() -> None:
        is_stopped.append(True)
        end()

    turn = TURN.get()
    with process, nullcontext() if turn is None else turn.also_ending(stop):
        try:
            out, errors = process.communicate(timeout=_LIMIT_S)
        finally:
            end()
    if is_stopped:
        raise RoomError("the work was stopped", limit="stopped")
    return subprocess.CompletedProcess(command, process.returncode, out, errors)
