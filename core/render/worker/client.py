"""Templates in the render sandbox: what goes wrong there, in the words of templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from prompt_debugger.core.base.errors import RenderError, SandboxError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.render.job import RenderJob, RenderOutcome, outcome_from_json, unattributed
from prompt_debugger.core.render.worker.jobs import LIMITS, SANDBOX, inspect, outcomes_of, render_in_steps
from prompt_debugger.core.sandbox import Limits, Sandbox, is_inside, sandbox_of

_HINT = "Check the template for loops over large ranges, repeated doubling, or huge widths."
_TOO_LONG = "tracing it took too long"
_FAILED = "tracing it failed"
_DOUBTS = {
    "cpu": _TOO_LONG,
    "wall": _TOO_LONG,
    "memory": "tracing it took too much memory",
    "busy": "tracing it was ended after a moment, because others who used less were waiting",
}


class RenderWorker:
    """Runs templates in a sandbox; safe to call from several threads.

    Args:
        limits: What one render may use.
        is_shared: Whether it uses the processes that everything in this program shares, or has one of its own.
    """

    def __init__(self, limits: Limits = LIMITS, *, is_shared: bool = False) -> None:
        self._own = None if is_shared else Sandbox(SANDBOX, most=1)
        self._render = replace(render_in_steps, limits=limits)

    @property
    def _sandbox(self) -> Sandbox:
        return self._own or sandbox_of(SANDBOX)

    @property
    def process_id(self) -> int | None:
        """Id of a running process; `None` before the first job."""
        return next(iter(self._sandbox.pids), None)

    def warm_up(self) -> None:
        """Start the process without waiting for it."""
        self._sandbox.warm_up()

    def render(self, job: RenderJob) -> RenderOutcome:
        """Run one job.

        Raises:
            RenderError: The template used more than it may.
            SandboxError: No process can be started, or the work was stopped.
        """
        if is_inside():  # nothing has to travel
            return _believable([*outcomes_of(job)])
        steps: list[JSONObject] = []
        try:
            self._sandbox.follow(self._render, steps.append, job.to_json())
        except SandboxError as error:
            if error.limit in ("start", "stopped") or (error.limit == "busy" and not steps):
                raise
            if not steps:
                raise _as_render_error(error, self._render.limits) from None
            return unattributed(str(steps[0]["text"]), _DOUBTS.get(error.limit, _FAILED))
        return _believable([outcome_from_json(step) for step in steps])

    def inspect(self, template: str) -> JSONObject:
        """Return what can be seen in a template without running it; errors as `render`."""
        try:
            return self._sandbox.call(inspect, template)
        except SandboxError as error:
            if error.limit in ("start", "stopped", "busy"):
                raise
            raise _as_render_error(error, LIMITS) from None

    def close(self) -> None:
        """End the process."""
        self._sandbox.close()


@cache
def shared_worker() -> RenderWorker:
    """Return the worker that everything in this process shares; it starts with its first job."""
    return RenderWorker(is_shared=True)


def _believable(steps: Sequence[RenderOutcome]) -> RenderOutcome:
    """Return the last outcome, or the plain one if tracing failed behind it."""
    if len(steps) > 1 and steps[-1].fault is not None:
        return unattributed(steps[0].text, _TOO_LONG)
    return steps[-1]


def _as_render_error(error: SandboxError, limits: Limits) -> RenderError:
    """Return the error of a render that ended its process."""
    if error.limit in ("cpu", "wall"):
        return RenderError(f"The template ran for more than {limits.cpu_s:g} s without ending.", _HINT)
    if error.limit == "memory":
        return RenderError("The template needs more memory than allowed.", _HINT)
    if error.limit == "value":
        return RenderError(f"The request cannot be sent to the sandbox: {error.message}")
    return RenderError(f"The template failed: {error.message}", _HINT)
