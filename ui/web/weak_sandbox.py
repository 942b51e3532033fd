"""What the page reports at startup if this system cannot lock the sandbox completely."""

from __future__ import annotations

from collections.abc import Mapping

from prompt_debugger.core.base.errors import SandboxError

# What is not locked, and what code could do that took over a process in which a stranger's text is read.
_PARTS = {
    "calls": ("system calls", "compiled code that is exploited by a hostile text could open files and start programs"),
    "files": ("files", "compiled code in the helper with vLLM's parsers could read what this user may read"),
    "memory": ("memory", "another process of this user could read that of the sandbox's processes"),
    "privileges": ("privileges", "a program that changes users could be started with more rights"),
}


def unlocked_lines(unlocked: Mapping[str, str]) -> tuple[str, ...]:
    """Return one line for each part of the lock that is missing, with why this system lacks it."""
    return tuple(
        f"Warning: the sandbox does not lock {_PARTS[part][0]} ({reason}): {_PARTS[part][1]}."
        for part, reason in unlocked.items()
    )


def refuse_weak_sandbox(unlocked: Mapping[str, str]) -> None:
    """Refuse to serve untrusted users from a sandbox that is incomplete.

    Raises:
        SandboxError: A part is missing.
    """
    if unlocked:
        named = ", ".join(_PARTS[part][0] for part in unlocked)
        raise SandboxError(
            f"The page is not served to untrusted visitors: on this system, the sandbox does not lock {named}.",
            "Serve it from Linux 5.13 or later, in a container that allows seccomp and Landlock. To serve "
            "it anyway, add --accept-weak-sandbox (docs/security.md).",
            limit="start",
        )
