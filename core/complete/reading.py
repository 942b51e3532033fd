"""Reads answers of servers: short ones in this process, long ones in the sandbox, by the same functions.

The event loop, which a page shares with all its tabs, reads only what takes no time. A sandbox's limits bound the rest,
and who stops waiting ends the reading itself.
"""

from __future__ import annotations

from typing import ParamSpec, TypeVar

from prompt_debugger.core.base.errors import BackendError, SandboxError
from prompt_debugger.core.sandbox import Job, Limits, sandbox_of

P = ParamSpec("P")
T = TypeVar("T")

IN_PLACE_CHARS = 65_536  # of the worst text are read in a few milliseconds
READING = Limits(cpu_s=6.0, wall_s=60.0, memory_mb=2048)
NOT_JSON = "not-json"

_TOO_MUCH = frozenset({"cpu", "wall", "memory", "answer", "crash"})


async def read(size: int, job: Job[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what a job reads in a text.

    Args:
        size: Length of the text; it decides where the job runs.
        job: Reads it.
        args: For the job.
        kwargs: For the job.

    Raises:
        BackendError: The job raised it, or took more than it may (kind `too-large`).
        SandboxError: All workers are busy, or it was closed.
    """
    if size <= IN_PLACE_CHARS:
        return job(*args, **kwargs)
    try:
        return await sandbox_of().run(job, *args, **kwargs)
    except SandboxError as error:
        if error.limit not in _TOO_MUCH:
            raise
        message = f"The answer was not read to its end: {error.message}"
        raise BackendError(
            message, "Ask for fewer tokens or fewer logprobs.", kind="too-large", unread="too-much"
        ) from None
