"""The parent's side: one warm worker, replaced when a template takes it down."""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import core
from core.errors import RenderError
from core.render.job import RenderJob, RenderOutcome, outcome_from_json, unattributed
from core.render.worker.wire import HEADER, pack, unpack
from core.types import JSONObject

_START_S = 60.0  # importing the reference library on a busy machine
_CHUNK = 1 << 20
# What an interpreter needs to start, and the clock; keys and tokens stay with the parent.
_ENVIRONMENT = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "PYTHONHOME",
    "VIRTUAL_ENV",
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one render may use.

    Attributes:
        memory_mb: Address space beyond what the imports need.
        cpu_s: CPU time of one job.
        wall_s: Time until a job that has used CPU time is given up.
        patience_s: Time until a job is given up although the machine hardly let it run.
    """

    memory_mb: int = 512
    cpu_s: float = 1.0
    wall_s: float = 1.5
    patience_s: float = 20.0


class RenderWorker:
    """Runs jobs in a process of its own, one at a time; safe to call from several threads."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ready = False

    @property
    def process_id(self) -> int | None:
        """Id of the running process; `None` before the first job."""
        return None if self._process is None else self._process.pid

    def warm_up(self) -> None:
        """Start the process without waiting for it."""
        with self._lock:
            self._ensure_started()

    def render(self, job: RenderJob) -> RenderOutcome:
        """Run one job.

        Raises:
            RenderError: The template used more time than it may, or no process can be started.
        """
        return outcome_from_json(self.ask(job.to_json()))

    def ask(self, question: JSONObject) -> JSONObject:
        """Send one question and return the answer.

        Raises:
            RenderError: As `render`.
        """
        try:
            frame = pack(question)
        except ValueError as error:
            raise RenderError(f"the request cannot be passed on: {error}") from error
        with self._lock:
            process = self._ready()
            try:
                answer = self._exchange(process, frame)
            except BaseException:
                self._replace()
                raise
            if answer.get("is_spent"):
                self._replace()
            return answer

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._drop()

    def _ready(self) -> subprocess.Popen[bytes]:
        process = self._ensure_started()
        if not self._is_ready:
            if _receive(process, time.monotonic() + _START_S, bytearray()) is None:
                self._drop()
                raise RenderError("the render process did not start", f"Try `{' '.join(_command(self._limits))}`.")
            self._is_ready = True
        return process

    def _ensure_started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._drop()
            self._process, self._is_ready = _start(self._limits), False
        return self._process

    def _replace(self) -> None:
        """End the process and start the next one at once, so that it is warm when it is needed."""
        self._drop()
        self._ensure_started()

    def _exchange(self, process: subprocess.Popen[bytes], frame: bytes) -> JSONObject:
        sender = threading.Thread(target=_send, args=(process, frame), daemon=True)
        sender.start()  # a job larger than the pipe must not keep us from reading
        data = bytearray()
        answer = self._await(process, data)
        if answer is None:
            raise self._overrun(process)
        if not answer.get("more"):
            return answer
        traced = self._await(process, data)
        if traced is not None and traced.get("fault") is None:
            return traced
        if traced is None:
            self._replace()
        return unattributed(str(answer["text"]), "tracing it took too long").to_json()

    def _await(self, process: subprocess.Popen[bytes], data: bytearray) -> JSONObject | None:
        """Return the next answer; `None` if the process ended or used its time."""
        started = time.monotonic()
        cpu_before = _cpu_seconds(process.pid)
        answer = _receive(process, started + self._limits.wall_s, data)
        if answer is None and process.poll() is None and self._was_starved(process.pid, cpu_before):
            answer = _receive(process, started + self._limits.patience_s, data)
        return answer

    def _was_starved(self, process_id: int, cpu_before: float) -> bool:
        return _cpu_seconds(process_id) - cpu_before < self._limits.cpu_s / 2

    def _overrun(self, process: subprocess.Popen[bytes]) -> RenderError:
        hint = "Look for loops over large ranges, repeated doubling, or huge widths in the template."
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
        if process.returncode is not None and process.returncode != -signal.SIGPROF:
            return RenderError(f"the template crashed its process (status {process.returncode})", hint)
        return RenderError(f"the template ran for more than {self._limits.cpu_s:g} s without an end", hint)

    def _drop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


@cache
def shared_worker() -> RenderWorker:
    """Return the worker that everything in this process shares; it starts with its first job."""
    worker = RenderWorker()
    atexit.register(worker.close)
    return worker


def _command(limits: Limits) -> list[str]:
    return [sys.executable, "-m", "core.render.worker.main", str(limits.memory_mb), str(limits.cpu_s)]


def _start(limits: Limits) -> subprocess.Popen[bytes]:
    root = str(Path(core.__file__).resolve().parents[1])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    return subprocess.Popen(
        _command(limits),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=kept | {"PYTHONPATH": os.pathsep.join(paths), "HF_HUB_OFFLINE": "1"},
        start_new_session=True,  # Ctrl-C is the parent's to handle
    )


def _send(process: subprocess.Popen[bytes], frame: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError, ValueError):  # the reader notices that the process died
        process.stdin.write(frame)
        process.stdin.flush()


def _receive(process: subprocess.Popen[bytes], deadline: float, data: bytearray) -> JSONObject | None:
    """Return the next frame; `None` if the process ended or the time is up.

    What has arrived beyond the frame, or before it is whole, stays in `data` for the next call.
    """
    assert process.stdout is not None
    while len(data) < HEADER or len(data) < _frame_size(data):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
            return None
        chunk = os.read(process.stdout.fileno(), _CHUNK)
        if not chunk:
            return None
        data += chunk
    size = _frame_size(data)
    frame = bytes(memoryview(data)[HEADER:size])
    del data[:size]
    return unpack(frame)


def _frame_size(data: bytearray) -> int:
    return HEADER + int.from_bytes(data[:HEADER], "big")


def _cpu_seconds(process_id: int) -> float:
    """Return the CPU time a process has used; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{process_id}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
