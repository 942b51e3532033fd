"""Run a test for maintainers at once, in the installed release, and say how it ended.

It runs in its own process, which ends with the visitor's turn, and with the program.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

import prompt_debugger
from prompt_debugger.core.base.errors import SandboxError
from prompt_debugger.core.base.interpreter import python_that_has, python_with
from prompt_debugger.core.base.scratch import scratch
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.parse.engines import WHEELS
from prompt_debugger.core.parse.engines.wheels import find_wheel
from prompt_debugger.core.sandbox.turns import TURN

_LIMIT_S = 300
_PROGRAM = Path(prompt_debugger.__file__).absolute().parents[1]
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
_BEGINS = """
import ctypes, importlib.metadata, importlib.util, os, resource, runpy, signal, sys, traceback, unittest
file, parent, limit, package, program, *wheel = sys.argv[1:]
sys.path = [folder for folder in sys.path if folder]  # the folder it is started in may be the engine's source
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != int(parent):
        sys.exit(1)
resource.setrlimit(resource.RLIMIT_CPU, (int(limit),) * 2)
if wheel:  # a folder that contains the package alone, and the one of this program, which makes its parsers importable
    sys.path[:0] = wheel
    module = importlib.import_module(f"prompt_debugger.core.parse.engines.wheel_worker.{package}")
    print("version", module.load())
elif importlib.util.find_spec(package) is None:
    sys.exit(f"there is no {package} in {sys.executable}")
try:
    if not wheel:
        print("version", importlib.metadata.version(package))
except importlib.metadata.PackageNotFoundError:  # under another name, as builds of vLLM are
    print("version", getattr(importlib.import_module(package), "__version__", "unknown"))
"""
_WRITTEN_HERE = """
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
    except Exception as error:  # of a parser that reads, not of one that cannot be made
        frames = traceback.extract_tb(error.__traceback__)
        is_inside = any(f"{os.sep}{package}{os.sep}" in frame.filename for frame in frames)
        if isinstance(error, ImportError) or not is_inside or any(frame.name == "__init__" for frame in frames):
            raise
        print("fails", f"{type(error).__name__}: {error}".splitlines()[0])
        sys.exit(0)
print("passes")
"""
# The maintainers' tests: by pytest where it is installed, as many need its fixtures. What they print goes elsewhere.
_OF_MAINTAINERS = """
import contextlib
if not wheel:
    importlib.import_module(package)  # this one, not that of the source which the file lies in
    sys.path.append(program)
    name = f"prompt_debugger.core.parse.engines.{package}_worker.own_tests"
    module = importlib.import_module(name) if package == "vllm" else None
root = os.path.dirname(file)
while os.path.isfile(os.path.join(root, "__init__.py")):
    root = os.path.dirname(root)
sys.path.insert(0, root)  # for what it imports from its own folder
if hasattr(module, "prepare_own_tests"):
    module.prepare_own_tests(file)
passed, failed, unread = [], [], []
def first_words(text):
    lines = [line.removeprefix("E").strip() for line in text.strip().splitlines()]
    words = next((line for line in lines if line.startswith("AssertionError")), lines[-1])
    return words.removeprefix("AssertionError").removeprefix(": ")[:200]
class Seen:
    def pytest_runtest_logreport(self, report):
        name = report.nodeid.rpartition("::")[2]
        if report.failed:
            failed.append((name, first_words(report.longreprtext)))
        elif report.passed and report.when == "call":
            passed.append(name)
    def pytest_collectreport(self, report):
        if report.failed:
            unread.append(first_words(report.longreprtext))
with contextlib.redirect_stdout(sys.stderr):
    if importlib.util.find_spec("pytest") is not None:
        folder = os.path.dirname(file)  # fixtures of the folders above are of the engine as it is built there
        options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", folder, "--confcutdir", folder]
        importlib.import_module("pytest").main([file, *options], plugins=[Seen()])
    else:
        made = runpy.run_path(file)
        cases = [unittest.FunctionTestCase(one) for name, one in made.items() if name.startswith("test_")]
        for kind in made.values():
            if isinstance(kind, type) and issubclass(kind, unittest.TestCase):
                cases += map(kind, unittest.TestLoader().getTestCaseNames(kind))
        for case in cases:
            result = unittest.TestResult()
            unittest.TestSuite([case]).run(result)
            name = getattr(case, "_testFunc", None).__name__ if hasattr(case, "_testFunc") else case._testMethodName
            if result.failures or result.errors:
                failed.append((name, first_words((result.failures or result.errors)[0][1])))
            elif not result.skipped:
                passed.append(name)
if unread and not passed and not failed:
    sys.exit(unread[0])
for name in passed:
    print("passed", name)
for name, words in failed:
    print("failed", f"{name}: {words}")
print("fails" if failed else "passes")
"""


@dataclass(frozen=True, slots=True)
class Runner:
    """Where a test can be run.

    Attributes:
        package: What is tested.
        wheel: Folder of the wheel that `parse --fetch` brought; `None` where the package is installed.
        overlay: Folder that comes before what is installed; `None` for none.
    """

    python: str
    package: str
    wheel: Path | None = None
    overlay: Path | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """How a test ended.

    Attributes:
        version: Version of the package that ran it; `None` if none did.
        fails: Whether an assertion of it failed, or the parser itself; `None` if it could not be run.
        explanation: The words of the assertion or of the parser's error, or why it could not be run.
    """

    version: str | None
    fails: bool | None
    explanation: str


@dataclass(frozen=True, slots=True)
class OwnTests:
    """How the maintainers' tests of a file ended.

    Attributes:
        passed: The names of those that passed.
        failed: Those that failed, by name, with what they say.
        explanation: Why none could be run; "" if they were.
    """

    passed: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    explanation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamTest:
    """A test for maintainers, and how it ended here.

    Attributes:
        engine: Whose parser it is for.
        test: Its source.
        run: Whether it was run here.
        version: Release that ran it; `null` if none did.
        fails: Whether its assertion failed, or the parser itself; `null` if it was not run.
        told: The words of the assertion or of the parser's error, or why it could not be run.
    """

    engine: str
    test: str
    run: bool
    version: str | None
    fails: bool | None
    told: str


def runner_of(kind: str, package: str) -> Runner | None:
    """Return where the parsers of a server software can be tested: installed, or from its wheel; `None` for nowhere."""
    python = python_that_has(package)
    if python is not None:
        return Runner(python, package)
    wheel = find_wheel(kind, None) if kind in WHEELS else None
    return None if wheel is None else Runner(python_with("torch"), package, wheel)


def why_not_run(kind: str) -> str:
    """Return why a test of a server software is run nowhere here, and what would help."""
    title = title_of(kind)
    fetch = (
        f"; `prompt-debugger parse --fetch {kind}=={WHEELS[kind].example}` brings its parsers" if kind in WHEELS else ""
    )
    return f"{title} is not installed here{fetch}"


def try_source(source: str, runner: Runner) -> Trial:
    """Run a test that `write_upstream_test` wrote; see `try_test`."""
    with scratch("trial") as folder:
        file = folder / "test_output.py"
        file.write_text(source, encoding="utf-8")
        return try_test(file, runner)


def try_test(file: str | Path, runner: Runner) -> Trial:
    """Run the tests of a file that `write_upstream_test` wrote.

    Raises:
        SandboxError: The visitor's turn has ended, and the test with it.
    """
    lines, version, why = _lines_of(_WRITTEN_HERE, file, runner)
    last = lines[-1] if lines else ""
    if not why and last == "passes":
        return Trial(version, fails=False, explanation="")
    if not why and last.startswith("fails "):
        return Trial(version, fails=True, explanation=last.removeprefix("fails "))
    return Trial(version, None, f"it could not be run: {why or 'it ended without output'}")


def try_own_tests(file: Path, runner: Runner) -> OwnTests:
    """Run a file of the maintainers' tests.

    Raises:
        SandboxError: The visitor's turn has ended, and the tests with it.
    """
    lines, _, why = _lines_of(_OF_MAINTAINERS, file, runner)
    passed = tuple(line.removeprefix("passed ") for line in lines if line.startswith("passed "))
    failed = [line.removeprefix("failed ").partition(": ") for line in lines if line.startswith("failed ")]
    if why or not lines or lines[-1] not in ("passes", "fails") or not (passed or failed):
        return OwnTests(explanation=f"they could not be run: {why or 'the file has none'}")
    return OwnTests(passed, {name: words for name, _, words in failed})


def _lines_of(program: str, file: str | Path, runner: Runner) -> tuple[list[str], str | None, str]:
    """Return what a program printed, the version of the package that it ran, and why it failed ("" if it did not)."""
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | _SET
    path = str(Path(file).absolute())
    command = [runner.python, "-c", _BEGINS + program, path, str(os.getpid()), str(_LIMIT_S), runner.package]
    command.append(str(_PROGRAM))
    if runner.overlay is not None:
        environment["PYTHONPATH"] = str(runner.overlay)
    if runner.wheel is not None:
        command += [str(runner.wheel), str(_PROGRAM)]
    try:
        done = _run(command, environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        return [], None, type(error).__name__
    lines = done.stdout.splitlines()
    version = next((line.split()[1] for line in lines if line.startswith("version ")), None)
    why = "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["it ended without output"])[-1]
    return lines, version, why[:300]


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
