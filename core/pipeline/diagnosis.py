"""Reading and checking a run in the sandbox, where a schema that never ends costs only its own check."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import TypeVar

from prompt_debugger.core.base.errors import SandboxError
from prompt_debugger.core.base.types import Parse, ParserOutcome, Trace
from prompt_debugger.core.pipeline.reading import Checking, Diagnosis, apply_step, check_run, read_run
from prompt_debugger.core.sandbox import sandbox_of

T = TypeVar("T")
S = TypeVar("S", Parse, dict[str, ParserOutcome])

# What a schema can do to the process that checks it.
_TRIES = 3  # of what was ended for others
_REASONS: Mapping[str, str] = {
    "cpu": "that took more than {:g} s of processor time",
    "wall": "that took too long",
    "memory": "that took too much memory",
    "busy": "that was ended after a moment, because others who used less were waiting",
    "crash": "that crashed the process it ran in",
}


async def checked_steps(
    steps: AsyncGenerator[T | Checking | Diagnosis, None], trace_so_far: Callable[[], Trace]
) -> AsyncGenerator[T | Diagnosis, None]:
    """Yield the steps of a job that ends with a diagnosis; where a schema ends it, the diagnosis is made without that.

    Raises:
        SandboxError: Something else took too much.
    """
    left_out: dict[str, str] = {}
    tries = _TRIES
    has_begun = False  # else the check alone would judge a run that was never read
    rest: AsyncGenerator[T | Checking | Diagnosis, None] | AsyncGenerator[Checking | Diagnosis, None] = steps
    while True:
        checking: Checking | None = None
        try:
            async with aclosing(rest):
                async for step in rest:
                    has_begun = True
                    checking = step if isinstance(step, Checking) else None
                    if not isinstance(step, Checking):
                        yield step
            return
        except SandboxError as error:
            if checking is None and error.limit == "busy" and has_begun and tries > 0:
                tries -= 1  # it goes on from where it was, when it is its turn again
            elif checking is None or checking.field in left_out or error.limit not in _REASONS:
                raise
            else:
                left_out[checking.field] = _REASONS[error.limit].format(checking.cpu_s)
        rest = sandbox_of().stream(check_run, trace_so_far(), left_out)


async def judged_steps(
    trace: Trace, steps: AsyncGenerator[S | Checking | Diagnosis, None]
) -> AsyncGenerator[Trace, None]:
    """Yield a run as a job of `core.pipeline.reading` reads and judges it, after each step.

    Raises:
        SandboxError: It takes too much, and no schema is why.
    """
    async with aclosing(checked_steps(steps, lambda: trace)) as checked:
        async for step in checked:
            trace = apply_step(trace, step)
            yield trace


async def read_trace(trace: Trace, special_texts: frozenset[str] = frozenset()) -> Trace:
    """Return a run whose answers are there with all that can be said of them; no server is asked.

    Raises:
        SandboxError: Reading it takes too much.
    """
    async with aclosing(judged_steps(trace, sandbox_of().stream(read_run, trace, special_texts))) as judged:
        async for one in judged:
            trace = one
    return trace


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
