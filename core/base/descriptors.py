"""How many files and connections this process may have open at once."""

from __future__ import annotations

from typing import Final

from prompt_debugger.core.base.errors import MachineError

ENOUGH: Final = 4096
_MIN_OF_A_PAGE: Final = 128


def raise_descriptor_limit() -> int | None:
    """Raise the limit as far as this user may, at most to `ENOUGH`; return what it is then, `None` if unknown."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= ENOUGH:
        return None if soft == resource.RLIM_INFINITY else soft
    goal = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (goal, hard))
    except (ValueError, OSError):
        return soft
    return goal


def require_descriptors(least: int = _MIN_OF_A_PAGE) -> None:
    """Refuse to serve with so few descriptors that connections would be turned away without a word.

    Raises:
        MachineError: There are too few.
    """
    most = raise_descriptor_limit()
    if most is not None and most < least:
        raise MachineError(
            f"Only {most} files and connections may be open at once, and a page needs at least {least}.",
            "Raise the limit with `ulimit -n 4096`; in a container with `--ulimit nofile=4096`.",
            kind="descriptors",
        )
