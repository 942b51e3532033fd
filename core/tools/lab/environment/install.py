"""One installation: a virtual environment, pip in batches, a try, the marker. Blocking; from any thread.

A kill at any moment costs at most the batch that pip was at: what is installed is found again by its records, what was
downloaded by pip's cache. The marker is written last, so an environment counts only once it is complete. One installer
works in a folder at a time: it holds a lock that the kernel releases when it dies.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.base.file_locks import lock_if_free
from prompt_debugger.core.base.interpreter import MARKER_NAME, VLLM_VERSION, LabEnvironment, find_environment, python_in
from prompt_debugger.core.tools.lab.environment.packages import Package, batches, drop_halves, installed_keys
from prompt_debugger.core.tools.lab.environment.plan import OWNER_NAME, InstallPlan
from prompt_debugger.core.tools.lab.process import SupervisedProcess

# PyTorch's CPU build is on no general package index: pip as configured is asked first, then PyTorch's own.
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"

DEFAULT_CHECK: Sequence[str] = ("import vllm",)
_MADE_NAME = ".environment-made"  # the environment has its pip
_WATCH_S = 0.25
_TAIL_LINES = 30
_INSTALLING = re.compile(r"Installing collected packages")
_PIP = (
    "-m", "pip", "install", "--no-deps", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check",
    "--no-warn-script-location", "--progress-bar", "off",
)  # fmt: skip
_DROPPED_VARIABLES = frozenset({"PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_ROOT", "PIP_REQUIRE_HASHES"})
_SECRET_ENDINGS = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
_CREATION_SHARE, _CHECK_SHARE = 0.02, 0.03  # of the whole: making the environment, trying vLLM
_DOWNLOAD_SHARE = 0.75  # of a batch: its download


@dataclass(frozen=True, slots=True)
class InstallProgress:
    """How far an installation is.

    Attributes:
        sentence: What it is doing, for people.
        fraction: Part done, 0 to 1.
        elapsed_s: Seconds since it began.
    """

    sentence: str
    fraction: float
    elapsed_s: float = 0.0


Report = Callable[[InstallProgress], None]


class Installation:
    """The making of a lab's environment."""

    def __init__(self, plan: InstallPlan, *, check: Sequence[str] = ()) -> None:
        """Do nothing yet; `check` has statements that the new environment must be able to run."""
        self.plan = plan
        self.progress = InstallProgress("About to install the lab", 0.0)
        self._check = "; ".join(check or DEFAULT_CHECK)
        self._cancelled = threading.Event()
        self._process: SupervisedProcess | None = None
        self._lock = threading.Lock()
        self._report: Report = lambda _: None
        self._began_s = 0.0

    def run(self, report: Report | None = None) -> LabEnvironment:
        """Make the environment, or what is missing of it, and return it.

        `report` is called a few times a second, in this thread.

        Raises:
            LabError: It could not be made, or was cancelled; the next run continues where this one ended.
        """
        self._report = report or self._report
        self._began_s = time.monotonic()
        home = self.plan.home
        if self.plan.environment is None:
            _own(home)
            with _only_installer(home):
                self._make(home)
        found = find_environment(home)
        assert found is not None
        self._announce("The lab is installed", 1.0)
        return found

    def cancel(self) -> None:
        """End it soon; what is done stays."""
        self._cancelled.set()
        with self._lock:
            if self._process is not None:
                self._process.request_end()

    @property
    def is_cancelled(self) -> bool:
        """Whether it was asked to end."""
        return self._cancelled.is_set()

    def _make(self, home: Path) -> None:
        (home / MARKER_NAME).unlink(missing_ok=True)  # of an older list
        self._announce("Creating the environment", 0.0)
        python = python_in(home)
        if not (home / _MADE_NAME).is_file() or not python.exists():
            for left in ("bin", "lib"):
                shutil.rmtree(home / left, ignore_errors=True)
            self._call([self.plan.base_python, "-m", "venv", str(home)], failure="the environment could not be created")
            (home / _MADE_NAME).touch()
        self._install(home, python)
        self._announce(f"Trying vLLM {VLLM_VERSION}", 1.0 - _CHECK_SHARE)
        self._call([str(python), "-c", self._check], failure="the installed vLLM does not start")
        shutil.rmtree(home / "downloads", ignore_errors=True)
        _write_marker(home, self.plan)

    def _install(self, home: Path, python: Path) -> None:
        drop_halves(home)
        there = installed_keys(home)
        missing = [package for package in self.plan.packages if package.key not in there]
        total_mb = sum(package.size_mb for package in self.plan.packages) or 1.0
        done_mb = total_mb - sum(package.size_mb for package in missing)
        for batch in batches(missing):
            size_mb = sum(package.size_mb for package in batch)
            watch = _BatchWatch(_words(batch, len(there), len(self.plan.packages)), done_mb, size_mb, total_mb)
            self._pip(home, python, batch, watch)
            done_mb += size_mb
            there = installed_keys(home)

    def _pip(self, home: Path, python: Path, batch: Sequence[Package], watch: _BatchWatch) -> None:
        wanted = [package.requirement for package in batch]
        cache = ["--cache-dir", str(home / "downloads")] if os.environ.get("PIP_NO_CACHE_DIR") else []
        command = [str(python), *_PIP, *cache]
        try:
            self._call([*command, *wanted], watch)
        except _CommandError:
            if not any(package.name == "torch" for package in batch):
                raise
            self._call([*command, "--index-url", TORCH_INDEX, *wanted], watch)

    def _call(self, command: Sequence[str], watch: _BatchWatch | None = None, failure: str = "") -> None:
        """Run a command to its end.

        Raises:
            LabError: It failed, or the installation was cancelled.
        """
        tail: deque[str] = deque(maxlen=_TAIL_LINES)

        def take(line: str) -> None:
            tail.append(line)
            if watch is not None:
                watch.take_line(line)

        scratch = Path(tempfile.mkdtemp(prefix=".pip-", dir=self.plan.home))
        with self._lock:
            if self.is_cancelled:
                shutil.rmtree(scratch, ignore_errors=True)
                raise _cancelled()
            self._process = process = SupervisedProcess(command, _environment(scratch), scratch, take)
        try:
            while not process.ended.wait(_WATCH_S):
                if watch is not None:
                    self._announce(watch.sentence, watch.measure(scratch))
        finally:
            process.end()
        if self.is_cancelled:
            raise _cancelled()
        if process.exit_status != 0:
            raise _CommandError(failure or "the lab's packages could not be installed", tail)

    def _announce(self, sentence: str, fraction: float) -> None:
        self.progress = InstallProgress(sentence, fraction, time.monotonic() - self._began_s)
        self._report(self.progress)


class _CommandError(LabError):
    """A command of the installation failed; says what it said."""

    def __init__(self, failure: str, tail: Sequence[str]) -> None:
        lines = [_mask_addresses(line) for line in tail]
        errors = [line for line in lines if line.startswith("ERROR:") or re.match(r"[\w.]*Error\b", line)]
        reason = f": {(errors or lines or ['it gave no reason'])[-1].removeprefix('ERROR:').strip()[:240]}"
        hint = (
            "What is installed so far is kept: run the same command again to continue. Check the network, and "
            "`pip config list`."
        )
        super().__init__(failure + reason, hint, log_tail="\n".join(lines))


class _BatchWatch:
    """How far pip is with one batch: by what is in its scratch folder, then by what it says."""

    def __init__(self, sentence: str, before_mb: float, size_mb: float, total_mb: float) -> None:
        self.sentence = sentence
        self._before_mb = before_mb
        self._size_mb = size_mb
        self._total_mb = total_mb
        self._is_installing = False
        self._done_share = 0.0

    def take_line(self, line: str) -> None:
        """Take a line of pip's output."""
        self._is_installing = self._is_installing or _INSTALLING.search(line) is not None

    def measure(self, scratch: Path) -> float:
        """Return the part done of the whole installation; never less than before."""
        if self._is_installing:
            self._done_share = _DOWNLOAD_SHARE
        else:
            # A wheel is about half as big as what it unpacks to; the guess stops short of the end.
            share = _bytes_in(scratch) / 1e6 / max(self._size_mb * 0.5, 1.0)
            self._done_share = max(self._done_share, min(share, 0.95) * _DOWNLOAD_SHARE)
        done = (self._before_mb + self._size_mb * self._done_share) / self._total_mb
        return _CREATION_SHARE + done * (1.0 - _CREATION_SHARE - _CHECK_SHARE)


def _words(batch: Sequence[Package], there: int, total: int) -> str:
    biggest = batch[0]
    more = f" and {len(batch) - 1} more" if len(batch) > 1 else ""
    return f"Installing {biggest.name} {biggest.version}{more} ({there} of {total} packages are installed)"


def _bytes_in(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size
        except OSError:  # pip has moved it meanwhile
            continue
    return total


def _environment(scratch: Path) -> dict[str, str]:
    """Return our own environment without what would lead pip elsewhere, and without keys."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTHON") and name not in _DROPPED_VARIABLES and not name.endswith(_SECRET_ENDINGS)
    }
    return kept | {"TMPDIR": str(scratch), "NO_COLOR": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}


def _own(home: Path) -> None:
    """Make the folder, with a file that says whose it is.

    Raises:
        LabError: It cannot be written.
    """
    try:
        home.mkdir(parents=True, exist_ok=True)
        (home / OWNER_NAME).write_text(
            "The lab of Prompt Debugger: an environment with vLLM. `prompt-debugger lab --uninstall` removes it.\n"
        )
    except OSError as error:
        raise LabError(f"{home} cannot be written: {error.strerror or error}", "Give another folder.") from None


@contextmanager
def _only_installer(home: Path) -> Iterator[None]:
    with (home / ".lock").open("w") as lock:
        if not lock_if_free(lock.fileno()):
            raise LabError(f"Another process is installing into {home}.", "Wait for the other installation to finish.")
        for left in home.glob(".pip-*"):  # of one that was killed
            shutil.rmtree(left, ignore_errors=True)
        yield


def _write_marker(home: Path, plan: InstallPlan) -> None:
    facts: Mapping[str, str] = {
        "vllm": VLLM_VERSION,
        "requirements": plan.digest,
        "made_on": datetime.now(UTC).date().isoformat(),
    }
    part = home / f"{MARKER_NAME}.part"
    part.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    part.replace(home / MARKER_NAME)


def _mask_addresses(line: str) -> str:
    """Return a line without addresses: they may hold someone's password."""
    return re.sub(r"\b\w+://\S+", "(address)", line)


def _cancelled() -> LabError:
    return LabError(
        "The installation of the lab was cancelled.",
        "What is installed so far is kept: run the same command again to continue.",
    )
