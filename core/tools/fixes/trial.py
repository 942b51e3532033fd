"""Run a test for maintainers at once, in the installed release, and say how it ended.

It runs in a process of its own, which ends with the visitor's turn, and with the program.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from prompt_debugger.core.base.errors import SandboxError
from prompt_debugger.core.base.interpreter import vllm_python
from prompt_debugger.core.sandbox.turns import TURN

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
import ctypes, importlib.metadata, importlib.util, os, resource, runpy, signal, sys, unittest
file, parent, limit, package = sys.argv[1:]
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != int(parent):
        sys.exit(1)
resource.setrlimit(resource.RLIMIT_CPU, (int(limit),) * 2)
if importlib.util.find_spec(package) is None:
    sys.exit(f"there is no {package} in {sys.executable}")
try:
    print("version", importlib.metadata.version(package))
except importlib.metadata.PackageNotFoundError:  # under another name, as builds of vLLM are
    print("version", getattr(importlib.import_module(package), "__version__", "unknown"))
made = runpy.run_path(file)
tests = [one for name, one in made.items() if name.startswith("test_")]
for case in made.values():
    if isinstance(case, type) and issubclass(case, unittest.TestCase):
        tests += [case(name).debug for name in unittest.TestLoader().getTestCaseNames(case)]
for test in tests:
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
        version: Version of the package that ran it; `None` if none did.
        fails: Whether an assertion of it failed; `None` if it could not be run.
        told: The assertion's words, or why it could not be run.
    """

    version: str | None
    fails: bool | None
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamTest:
    """A test for maintainers, and how it ended here.

    Attributes:
        engine: Whose parser it is for.
        test: Its source.
        run: Whether it was run here.
        version: Release that ran it; `null` if none did.
        fails: Whether its assertion failed; `null` if it was not run.
        told: The assertion's words, or why it could not be run.
    """

    engine: str
    test: str
    run: bool
    version: str | None
    fails: bool | None
    told: str


def try_in_vllm(file: str | Path) -> Trial:
    """Run the tests of a file in the installed vLLM.

    Args:
        file: A test file that `write_upstream_test` wrote for vLLM.

    Raises:
        SandboxError: The visitor's turn has ended, and the test with it.
    """
    return try_test(file, "vllm", vllm_python())


def try_test(file: str | Path, package: str, python: str | Path) -> Trial:
    """Run the tests of a file.

    Args:
        file: A test file that `write_upstream_test` wrote.
        package: What it tests.
        python: Interpreter that has it.
    """
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | _SET
    command = [str(python), "-c", _RUNS, str(file), str(os.getpid()), str(_LIMIT_S), package]
    try:
        done = _run(command, environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Trial(None, None, f"it could not be run: {type(error).__name__}")
    lines = done.stdout.splitlines()
    version = next((line.split()[1] for line in lines if line.startswith("version ")), None)
    last = lines[-1] if lines else ""
    if done.returncode == 0 and last == "passes":
        return Trial(version, fails=False, told="")
    if done.returncode == 0 and last.startswith("fails "):
        return Trial(version, fails=True, told=last.removeprefix("fails "))
    why = (done.stderr.strip().splitlines() or ["it ended without output"])[-1]
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
        raise SandboxError("The work was stopped.", limit="stopped")
    return subprocess.CompletedProcess(command, process.returncode, out, errors)
