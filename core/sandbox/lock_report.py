"""What a process of the sandbox could not lock, shown to anyone who starts a page."""

from __future__ import annotations

from prompt_debugger.core.sandbox.jobs import Limits, job
from prompt_debugger.core.sandbox.lock import unlocked_here


@job("reporting what is locked", Limits(cpu_s=2.0))
def report_unlocked() -> dict[str, str]:
    """Return the parts of the lock that this system does not offer, each with why not."""
    return {missing.part: missing.reason for missing in unlocked_here()}
