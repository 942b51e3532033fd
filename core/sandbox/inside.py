"""Whether this process runs inside a sandbox: a job that asks for another job then runs it in place."""

from __future__ import annotations

from prompt_debugger.core.sandbox.lock import allow_cpu

_INSIDE: list[bool] = []


def enter() -> None:
    """Say that this process is one of a sandbox, from now on."""
    _INSIDE.append(True)


def is_inside() -> bool:
    """Return whether this process is one of a sandbox."""
    return bool(_INSIDE)


def limit_cpu(seconds: float) -> None:
    """Inside a sandbox: give the work from here to the job's next step so much processor time, and no more."""
    if is_inside():
        allow_cpu(seconds)
