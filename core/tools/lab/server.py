"""One lab server: reserve a port, boot, watch, stop. Blocking; `pool.py` makes it asynchronous and shared."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing, suppress

from prompt_debugger.core.base.egress import open_egress
from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.base.interpreter import vllm_python
from prompt_debugger.core.base.keys import environment_with
from prompt_debugger.core.base.scratch import drop_scratch, new_scratch
from prompt_debugger.core.tools.lab.failures import TAIL_LINES, explain_failure
from prompt_debugger.core.tools.lab.installation import require_vllm
from prompt_debugger.core.tools.lab.launch import HOST, HUB_TOKENS, build_command, build_environment, prepare_model
from prompt_debugger.core.tools.lab.process import SupervisedProcess
from prompt_debugger.core.tools.lab.progress import BootMeter, LabProgress, LabState
from prompt_debugger.core.tools.lab.spec import LabSpec, check_spec
from prompt_debugger.core.tools.lab.watch import LOOK_S, Judge, Look, cpu_of, memory_of, tokens_of

_LOG_LINES = 500
_BOOT_TIMEOUT_S = 900.0
_POLL_S = 0.2
_MAX_BYTES = 4 << 20  # of what it says of itself


class Lab:
    """A vLLM server of ours.

    Attributes:
        spec: What it serves.
        port: Its port on 127.0.0.1; 0 until it starts.
        progress: The latest report on its boot.
        error: Why it failed; `None` if it did not.
    """

    def __init__(self, spec: LabSpec) -> None:
        self.spec = spec
        self.port = 0
        self.progress = LabProgress(LabState.STARTING, "The lab is about to start", 0.0, 0.0)
        self.error: LabError | None = None
        self._log: deque[str] = deque(maxlen=_LOG_LINES)
        self._meter = BootMeter(spec.kind)
        self._process: SupervisedProcess | None = None
        self._reservation: socket.socket | None = None
        self._stop_requested = threading.Event()
        self._start_lock = threading.RLock()  # reentrant: a signal handler may stop the lab while it starts
        self._is_ready = False
        self._has_died = False
        self._began_s = 0.0

    @property
    def base_url(self) -> str:
        """Address up to and including `/v1`."""
        return f"http://{HOST}:{self.port}/v1"

    @property
    def model(self) -> str:
        """Name that requests use."""
        return self.spec.model

    @property
    def pid(self) -> int | None:
        """Process id of the vLLM server, `None` before it runs."""
        return self._process.pid if self._process is not None else None

    @property
    def is_alive(self) -> bool:
        """Whether its process runs and is meant to."""
        return self._process is not None and self._process.is_alive and not self._stop_requested.is_set()

    @property
    def state(self) -> LabState:
        """Where it is in its life."""
        if self._stop_requested.is_set() and not self._has_died:
            return LabState.STOPPED
        if self.error is not None or (self._is_ready and not self.is_alive):
            return LabState.FAILED
        return LabState.READY if self._is_ready else LabState.STARTING

    def log_tail(self, lines: int = TAIL_LINES) -> str:
        """Return the last lines of its log, newest last."""
        return "\n".join(list(self._log)[-lines:])

    def boot(self, on_progress: Callable[[LabProgress], None] | None = None) -> None:
        """Start it and return when it answers; `on_progress` is called a few times per second, in this thread.

        Raises:
            LabError: It cannot be started, ended before it was ready, or was stopped meanwhile.
        """
        report = on_progress or (lambda _: None)
        self._began_s = time.monotonic()
        try:
            check_spec(self.spec)
            require_vllm(self.spec.python or vllm_python())
            self._start()
            self._await_ready(report)
        except LabError as error:
            self._end_process()
            self.error = error
            self._report(report, LabProgress(self.state, error.message, self.progress.fraction, self._elapsed_s()))
            raise
        self._is_ready = True
        self._report(report, LabProgress(LabState.READY, "The lab is ready", 1.0, self._elapsed_s()))
        threading.Thread(target=self._watch, name="lab-watch", daemon=True).start()

    def request_stop(self) -> None:
        """Tell it to stop, without waiting."""
        with self._start_lock:
            self.failure()  # if it is dead already, say so and not that we stopped it
            self._stop_requested.set()
            if self._process is not None:
                self._process.request_end()

    def stop(self) -> None:
        """Stop it, and return when none of its processes lives."""
        self.request_stop()
        self._end_process()

    def wait(self, timeout_s: float) -> bool:
        """Wait for its end; return whether it came within `timeout_s`."""
        return self._process is None or self._process.ended.wait(timeout_s)

    def is_healthy(self) -> bool:
        """Ask the server itself; a slow answer counts as a good one, a refused connection or an error does not."""
        try:
            return self.is_alive and self._health_status() == http.client.OK
        except TimeoutError:
            return self.is_alive  # one that was killed may take connections until the kernel has freed its memory
        except (OSError, http.client.HTTPException):
            return False

    def failure(self) -> LabError | None:
        """Return why it is not running; `None` while it runs or if it was stopped on purpose."""
        if self.error is None and self.state is LabState.FAILED and self._process is not None:
            self._has_died = True
            cause = explain_failure(tuple(self._log), self._process.exit_status, self.spec, self.port)
            self.error = LabError(cause.message, "It is restarted with the next run.", log_tail=cause.log_tail)
        return self.error

    def _watch(self) -> None:
        """Look at it now and then until it ends; end it if it hangs, so that the next run finds another."""
        judge = Judge(self._look(), is_small=self.spec.is_lab_model)
        while not self.wait(LOOK_S) and self.is_alive:
            if wrong := judge.verdict(self._look()):
                with self._start_lock:
                    self.error = self.error or LabError(
                        f"The lab was ended: {wrong}.",
                        "It is restarted with the next run.",
                        log_tail=self.log_tail(),
                    )
                    self._has_died = True
                self.request_stop()
                return

    def _look(self) -> Look:
        is_answering, tokens = False, None
        with suppress(OSError, http.client.HTTPException):
            is_answering = self._ask("/health")[0] == http.client.OK
            status, metrics = self._ask("/metrics")
            tokens = tokens_of(metrics) if status == http.client.OK else None
        return Look(time.monotonic(), is_answering, cpu_of(self.pid), tokens, memory_of(self.pid))

    def _start(self) -> None:
        with self._start_lock:
            if self._stop_requested.is_set():
                raise LabError("The lab was stopped before it started.")
            self._reservation = _reserve_port(self.spec.port)
            self.port = self._reservation.getsockname()[1]
            self._meter = BootMeter(self.spec.kind)
            scratch = new_scratch("lab")
            try:
                command = build_command(self.spec, prepare_model(self.spec, scratch), self.port)
                environment = build_environment(self.spec, environment_with(HUB_TOKENS), scratch)
                self._process = SupervisedProcess(command, environment, scratch, self._take_line)
            except BaseException:
                drop_scratch(scratch)
                raise

    def _await_ready(self, report: Callable[[LabProgress], None]) -> None:
        assert self._process is not None
        while not self._process.ended.wait(_POLL_S):
            if self._stop_requested.is_set():
                self._process.request_end()
            elif self._is_answering():
                return
            elif self._elapsed_s() > _BOOT_TIMEOUT_S:
                raise explain_failure(tuple(self._log), None, self.spec, self.port)
            else:
                self._report(report, self._meter.measure(self._elapsed_s()))
        if self._stop_requested.is_set():
            raise LabError("The lab was stopped while it started.", log_tail=self.log_tail())
        raise explain_failure(tuple(self._log), self._process.exit_status, self.spec, self.port)

    def _report(self, report: Callable[[LabProgress], None], progress: LabProgress) -> None:
        self.progress = progress
        report(progress)

    def _take_line(self, line: str) -> None:
        # vLLM lists its routes, sixty lines that tell nothing about a failure.
        if "Route: /" not in line:
            self._log.append(line)
            self._meter.read_line(line, self._elapsed_s())

    def _elapsed_s(self) -> float:
        return time.monotonic() - self._began_s

    def _is_answering(self) -> bool:
        try:
            return self._health_status() == http.client.OK
        except (OSError, http.client.HTTPException):
            return False

    def _health_status(self) -> int:
        return self._ask("/health")[0]

    def _ask(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection(HOST, self.port, timeout=2.0)
        with closing(connection), open_egress("lab", HOST, port=self.port):
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read(_MAX_BYTES).decode("utf-8", "replace")

    def _end_process(self) -> None:
        if self._process is not None:
            self._process.end()
        reservation, self._reservation = self._reservation, None
        if reservation is not None:
            reservation.close()


def _reserve_port(port: int | None) -> socket.socket:
    """Bind a port and keep it, without listening, so that no one else gets it before vLLM does.

    Linux lets a second socket with `SO_REUSEADDR`, as vLLM's, bind the same port as long as the first does not
    listen, and gives the port to no one who asks for any free one.
    """
    reservation = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        reservation.bind((HOST, port or 0))
    except OSError as error:
        reservation.close()
        raise LabError(
            f"Port {port} on {HOST} cannot be used: {error.strerror}",
            "Stop the program that uses it, or choose another port.",
        ) from None
    return reservation
