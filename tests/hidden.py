"""Processes that the system shows to no one but root: those of the sandbox, and the helpers."""

from __future__ import annotations

from pathlib import Path

import pytest


def home_of(pid: int | None) -> Path:
    """Return where the system tells of a process; skips the test for users who may not look there."""
    home = Path(f"/proc/{pid}")
    try:
        (home / "environ").read_bytes()
        list((home / "fd").iterdir())
    except PermissionError:
        pytest.skip("processes that are locked are shown to root alone")
    return home


def kernel_lock_of(pid: int | None) -> tuple[str, str]:
    """Return what the kernel says of a process: whether it may gain rights, and how its system calls are judged."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    shown = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return shown["NoNewPrivs"], shown["Seccomp"]


KEPT_BY_KERNEL = ("1", "2")  # it may not, and by a filter
