"""The operator's keys, taken out of the environment of a process that others talk to.

The system keeps the environment a process was started with where every other process of the same user can read it, and
`os.environ.pop` leaves it there. So the values are overwritten in place; what needs one asks here.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Final

_KEY: Final = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|ACCESS_KEY_ID)$", re.IGNORECASE
)
_TAKEN: Final[dict[str, str]] = {}


def take_keys(others: Collection[str] = ()) -> tuple[str, ...]:
    """Take keys, and the variables `others`, out of this process's environment; return the variables' names."""
    names = [name for name in os.environ if _KEY.search(name) or name in others]
    for name in names:
        _TAKEN[name] = os.environ[name]
    with suppress(ValueError, OSError, AttributeError):  # a C library without `environ`
        _overwrite(frozenset(names))
    for name in names:
        del os.environ[name]
    return tuple(names)


def variable(name: str) -> str | None:
    """Return a variable of the environment that this program was started with."""
    return os.environ.get(name, _TAKEN.get(name))


def environment_with(names: Collection[str]) -> dict[str, str]:
    """Return the environment with some of the keys, for a child process that needs them."""
    return dict(os.environ) | {name: value for name, value in _TAKEN.items() if name in names}


def _overwrite(names: frozenset[str]) -> None:
    """Overwrite the values where the system keeps them."""
    if sys.platform == "win32":
        return
    for address in _entries():
        entry = ctypes.string_at(address)
        name, sign, value = entry.partition(b"=")
        if sign and os.fsdecode(name) in names:
            ctypes.memset(address + len(name) + 1, 0, len(value))


def _entries() -> Iterator[int]:
    entries = ctypes.POINTER(ctypes.c_void_p).in_dll(ctypes.CDLL(None), "environ")
    index = 0
    while address := entries[index]:
        yield address
        index += 1
