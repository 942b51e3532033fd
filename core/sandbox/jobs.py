"""What a sandbox may be asked: our own functions that are marked as jobs, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

COMMON = "common"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one job may use; far more than normal use needs, far less than would hold up others.

    Attributes:
        cpu_s: Processor time, counted again after each step of a job that answers in steps.
        wall_s: Time until a job is given up although the machine hardly let it run; for each step.
        memory_mb: Address space beyond what the imports need.
        answer_mb: Longest answer.
    """

    cpu_s: float = 5.0
    wall_s: float = 60.0
    memory_mb: int = 1024
    answer_mb: int = 256


@dataclass(frozen=True, slots=True)
class Job(Generic[P, T]):
    """A function that runs in a sandbox; called directly, it runs in this process.

    Attributes:
        function: Defined at the top of a module; its arguments and results are values that `core.sandbox.values` knows.
        what: What it does, in words, as in "reading the output took more than 5 s".
        limits: What it may use.
        warm_up: Run once in each process before it is locked, to do imports that a job would do late.
        hint: What to look for if a limit was hit.
    """

    function: Callable[P, T]
    what: str
    limits: Limits
    warm_up: Callable[[], None] | None = None
    hint: str = ""

    @property
    def name(self) -> str:
        """Where a process finds it."""
        return f"{self.function.__module__}:{self.function.__qualname__}"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run it here."""
        return self.function(*args, **kwargs)


# Modules that define jobs, by sandbox: what a process must have imported before it is locked.
_MODULES: dict[str, dict[str, None]] = {}


def job(
    what: str,
    limits: Limits | None = None,
    *,
    sandbox: str = COMMON,
    warm_up: Callable[[], None] | None = None,
    hint: str = "",
) -> Callable[[Callable[P, T]], Job[P, T]]:
    """Mark a function as a job of a sandbox."""

    def mark(function: Callable[P, T]) -> Job[P, T]:
        _MODULES.setdefault(sandbox, {})[function.__module__] = None
        return Job(function, what, limits or Limits(), warm_up, hint)

    return mark


def modules_of(sandbox: str) -> tuple[str, ...]:
    """Return the modules with jobs of a sandbox, as far as they have been imported here."""
    return tuple(_MODULES.get(sandbox, ()))
