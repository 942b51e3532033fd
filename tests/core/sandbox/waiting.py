"""Waiting for processes of a sandbox, and for the errors of its jobs."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import SandboxError
from prompt_debugger.core.sandbox import Sandbox
from tests.patience import PATIENCE_S


def until(is_so: Callable[[], object]) -> None:
    """Wait for something that comes, with a bound far above what it takes."""
    end_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end_s
        threading.Event().wait(0.01)


def error_of(sandbox: Sandbox, job, *args) -> SandboxError:
    with pytest.raises(SandboxError) as raised:
        sandbox.call(job, *args)
    return raised.value


def is_gone(pid: int) -> bool:
    """Wait for the end of a process that was killed."""

    def lives() -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True

    until(lambda: not lives())
    return True


def wait_until_busy(pid: int) -> None:
    """Wait until a process has used processor time for its job; only where the system tells."""
    if not Path("/proc/self/stat").exists():
        return
    before = cpu_ticks(pid)
    until(lambda: cpu_ticks(pid) > before + 2)


def cpu_ticks(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])
    except OSError:
        return 0
