"""Locks of files between processes. The system gives a lock up however its process ends."""

from __future__ import annotations

import fcntl


def lock_if_free(file: int) -> bool:
    """Lock an open file for this process, and return whether that succeeded: another may have it locked."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
