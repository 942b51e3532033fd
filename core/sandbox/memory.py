"""Whether this machine, or the container we are in, has memory for one more process."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_NEEDED_BYTES = 1536 << 20
_MACHINE = Path("/proc/meminfo")
_CONTAINER = Path("/sys/fs/cgroup")


def has_memory_for_another(machine: Path = _MACHINE, container: Path = _CONTAINER) -> bool:
    """Return whether a process may be started on top of those that are there; yes where the system does not tell.

    Args:
        machine: What the system says of its memory.
        container: The folder of the control group.
    """
    return all(free >= _NEEDED_BYTES for free in (_free_of_machine(machine), _free_of_container(container)))


def _free_of_machine(file: Path) -> float:
    with suppress(OSError, ValueError, IndexError):
        for line in file.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    return float("inf")


def _free_of_container(folder: Path) -> float:
    with suppress(OSError, ValueError, StopIteration):
        most = int((folder / "memory.max").read_text())  # "max" where there is no limit
        used = int((folder / "memory.current").read_text())
        lines = (folder / "memory.stat").read_text().splitlines()
        cache = next(int(line.split()[1]) for line in lines if line.startswith("inactive_file "))
        return most - used + cache
    return float("inf")
