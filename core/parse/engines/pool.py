"""Helpers forked from one process that has imported a library: warm, few, shared fairly, killed at any moment.

Importing vLLM takes many seconds, forking a few milliseconds. So a question that is too much, or whose asker has
left, costs its helper, and the next finds another. Who gets one when is decided as in `core.sandbox.workers`:
no visitor holds them all, and what takes long gives way to everything else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from prompt_debugger.core.base.errors import EngineError, SandboxError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.parse.engines.process import HelperProcess, HelperSpentError
from prompt_debugger.core.sandbox.forkserver import Forkserver
from prompt_debugger.core.sandbox.turns import TURN, Turn, in_thread
from prompt_debugger.core.sandbox.worker import Worker
from prompt_debugger.core.sandbox.workers import Workers

T = TypeVar("T")

_USUAL = 2
_END_S = 2.0
_ANOTHER = "The next request starts another."


class HelperPool:
    """Helpers of one kind; asked from any thread or loop.

    Args:
        program: Returns the command of the forkserver, called again at each start.
        environment: Returns its whole environment.
        start_s: Seconds until a helper must have said its hello; longer while its imports go on on a busy machine.
        max_answer_bytes: An answer longer than this is a flood.
        most: How many helpers there are at all times, once they were needed.
    """

    def __init__(
        self,
        program: Callable[[], Sequence[str]],
        environment: Callable[[], Mapping[str, str]],
        *,
        start_s: float,
        max_answer_bytes: int,
        most: int = _USUAL,
    ) -> None:
        self._program = program
        self._environment = environment
        self._start_s = start_s
        self._max_answer_bytes = max_answer_bytes
        self._workers = Workers(self._fork, most)
        self._forkserver: Forkserver | None = None
        self._is_up = False  # whether the forkserver has done its imports
        self._forking = threading.Lock()

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the helpers that run."""
        helpers = [worker.process for worker in self._workers.all]
        pids = [helper.pid for helper in helpers if helper is not None and helper.is_running]
        return tuple(pid for pid in pids if pid is not None)

    async def run(self, ask: Callable[[HelperProcess, JSONObject], T]) -> T:
        """Await what a helper makes of it; cancelling, or the end of the visitor's turn, ends that helper.

        Args:
            ask: Asks one helper, which has said this hello.

        Raises:
            EngineError: No helper can be started, it failed, or was ended.
        """
        return await in_thread(self.call, ask)

    def call(self, ask: Callable[[HelperProcess, JSONObject], T]) -> T:
        """Wait for what a helper makes of it, in a thread; otherwise as `run`."""
        turn = TURN.get() or Turn()
        try:
            worker = turn.wait_for_worker(self._workers)
            try:
                return self._work(worker, ask)
            finally:
                turn.leave(worker)
        except SandboxError as error:
            if error.limit == "stopped":
                raise EngineError("The work was stopped.") from None
            raise EngineError(error.message, error.hint) from error

    def close(self) -> None:
        """End all helpers; no others will be started."""
        self._workers.close()
        with self._forking:
            forkserver, self._forkserver = self._forkserver, None
        if forkserver is not None:
            forkserver.close(_END_S if self._is_up else 0.0)

    def _work(self, worker: Worker[HelperProcess], ask: Callable[[HelperProcess, JSONObject], T]) -> T:
        """Ask a worker's helper, and give the worker back with a helper that can go on."""
        is_good = is_there = False
        try:
            helper = worker.ready(())
            hello = helper.hello(self._start_s)
            is_there = self._is_up = hello.get("ready") is True
            if not is_there:
                self._forget_forkserver()
            try:
                answer = ask(helper, hello)
            except HelperSpentError:
                worker.drop()
                helper = worker.ready(())
                answer = ask(helper, helper.hello(self._start_s))
            worker.note_use(helper.used_s)
            is_good = is_there and not worker.is_aside() and helper.is_running
            return answer
        finally:
            if not is_good:
                worker.drop()
                if is_there and self._workers.keeps(worker):
                    worker.refill(())
            self._workers.give_back(worker)

    def _fork(self, is_slow: bool) -> HelperProcess:  # noqa: FBT001  # the one thing that workers say
        with self._forking:
            if self._forkserver is None or not self._forkserver.is_running:
                self._end_forkserver()
                try:
                    self._forkserver = Forkserver(self._program(), self._environment())
                except OSError as error:
                    reason = error.strerror or type(error).__name__
                    raise SandboxError(
                        f"The parser helper's Python cannot be started: {reason}.", limit="start"
                    ) from error
            try:
                child = self._forkserver.fork(is_slow=is_slow)
            except OSError as error:
                raise SandboxError("The parser helper ended during its start.", _ANOTHER, limit="start") from error
            forkserver = self._forkserver
            return HelperProcess(child, max_answer_bytes=self._max_answer_bytes, starting_s=lambda: forkserver.cpu_s)

    def _forget_forkserver(self) -> None:
        """Let the next helper come from a new process: what is missing now may be there then."""
        with self._forking:
            self._end_forkserver()

    def _end_forkserver(self) -> None:
        forkserver, self._forkserver, self._is_up = self._forkserver, None, False
        if forkserver is not None:
            forkserver.close(0.0)
