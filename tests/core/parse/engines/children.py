"""Helpers that need no library: children of a forkserver that run what a test says."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[4]
_STEM = f"""
import os, socket, sys
sys.path.insert(0, {str(_ROOT)!r})
from prompt_debugger.core.sandbox.fork_loop import ForkLoop
orders = socket.socket(fileno=os.dup(0))
ForkLoop(orders, lambda: exec(sys.argv[1], {{}})).run()
"""


def program_of(code: str) -> list[str]:
    """Return the program of a forkserver whose children run this code."""
    return [sys.executable, "-c", _STEM, code]


def environment() -> dict[str, str]:
    """Return what a child needs."""
    return {"PATH": os.environ["PATH"], "PYTHONUNBUFFERED": "1"}


def is_alive(pid: int) -> bool:
    """Say whether a process runs."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def children_of(pid: int) -> list[int]:
    """Return the processes that a process, or one of those, has begun."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        try:
            own = [int(one) for one in (task / "children").read_text().split()]
        except OSError:
            continue
        found += [one for child in own for one in (child, *children_of(child))]
    return found
