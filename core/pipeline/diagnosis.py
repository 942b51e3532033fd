"""Reading and checking a run in the sandbox, where a schema that never ends costs only its own check."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import TypeVar

from prompt_debugger.core.base.errors import SandboxError
from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.pipeline.reading import Checking, Diagnosis, check_run
from prompt_debugger.core.sandbox import sandbox_of

T = TypeVar("T")

# What a schema can do to the process that checks it.
_REASONS: Mapping[str, str] = {
    "cpu": "that took more than {:g} s of processor time",
    "wall": "that took too long",
    "memory": "that took too much memory",
    "crash": "that crashed the process it was done in",
}


async def checked_steps(
    steps: AsyncGenerator[T | Checking | Diagnosis, None], trace_so_far: Callable[[], Trace]
) -> AsyncGenerator[T | Diagnosis, None]:
    """Yield the steps of a job that ends with a diagnosis; where a schema ends it, the diagnosis is made without that.

    Args:
        steps: Of the job.
        trace_so_far: Returns the run with everything that was yielded.

    Raises:
        SandboxError: Something else took too much.
    """
    left_out: dict[str, str] = {}
    rest: AsyncGenerator[T | Checking | Diagnosis, None] | AsyncGenerator[Checking | Diagnosis, None] = steps
    while True:
        checking: Checking | None = None
        try:
            async with aclosing(rest):
                async for step in rest:
                    checking = step if isinstance(step, Checking) else None
                    if not isinstance(step, Checking):
                        yield step
            return
        except SandboxError as error:
            if checking is None or checking.field in left_out or error.limit not in _REASONS:
                raise
            left_out[checking.field] = _REASONS[error.limit].format(checking.cpu_s)
        rest = sandbox_of().stream(check_run, trace_so_far(), left_out)


async def check(trace: Trace) -> Diagnosis:
    """Return what is found in a run that was read, checked in the sandbox.

    Raises:
        SandboxError: A schema is not what takes too much.
    """
    steps = sandbox_of().stream(check_run, trace, {})
    async with aclosing(checked_steps(steps, lambda: trace)) as checked:
        async for step in checked:
            if isinstance(step, Diagnosis):
                return step
    raise AssertionError("a check ends with a diagnosis")
