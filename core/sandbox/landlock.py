"""Landlock, by which a process of Linux gives up files, TCP ports and signals to others, without any rights.

A process that restricts itself keeps the files that are open, and opens others only where a rule allows. It may do so
again, and has then what all of them allow.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_ASK_VERSION: Final = 1
_PATH_BENEATH: Final = 1

_READ_FILE: Final = 1 << 2
_READ_FOLDER: Final = 1 << 3
# Rights over files that a version knows: all up to this bit.
_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_PORTS: Final = 0b11  # to listen and to connect, from version 4
_OTHERS: Final = 0b11  # abstract sockets and signals outside, from version 6
_OPEN_FLAGS: Final = 0o10000000 | 0o2000000  # the path alone, and not for what is started


class Landlock:
    """Landlock of this kernel.

    Args:
        libc: The C library; `None` where the system is another.

    Attributes:
        version: What the kernel has; 0 for nothing.
        why: Why it is nothing.
    """

    def __init__(self, libc: ctypes.CDLL | None) -> None:
        self._libc = libc
        self._given_up: frozenset[str] | None = None
        self.version = max(0, self._call(_CREATE_RULESET, None, 0, _ASK_VERSION)) if libc is not None else 0
        self.why = "" if self.version else f"the kernel has no Landlock ({os.strerror(ctypes.get_errno())})"

    def holds(self, readable: Sequence[str]) -> bool:
        """Say whether all of these may be read still."""
        if self._given_up is None:
            return True
        return all(_is_beneath(path, self._given_up) for path in readable)

    def restrict(self, readable: Sequence[str]) -> str:
        """Give up all but reading these files and folders; return why not, "" if it is done."""
        if not self.version:
            return self.why
        rights = (1 << _RIGHTS.get(self.version, 16)) - 1
        wanted = [rights]
        wanted += [_PORTS] if self.version >= 4 else []
        wanted += [_OTHERS] if self.version >= 6 else []
        attributes = struct.pack(f"{len(wanted)}Q", *wanted)
        rules = self._call(_CREATE_RULESET, attributes, len(attributes), 0)
        if rules < 0:
            return f"Landlock: {os.strerror(ctypes.get_errno())}"
        try:
            for path in readable:
                self._allow(rules, path)
            if self._call(_RESTRICT_SELF, rules, 0):
                return f"Landlock: {os.strerror(ctypes.get_errno())}"
        finally:
            os.close(rules)
        self._given_up = frozenset(map(os.path.realpath, readable))
        return ""

    def _allow(self, rules: int, path: str) -> None:
        """Let a file, or a folder with all in it, be read; what is not there cannot be."""
        assert self._libc is not None
        number = self._libc.open(path.encode(), _OPEN_FLAGS)
        if number < 0:
            return
        try:
            right = _READ_FILE | _READ_FOLDER if Path(path).is_dir() else _READ_FILE
            self._call(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", right, number), 0)
        finally:
            os.close(number)

    def _call(self, number: int, *arguments: int | bytes | None) -> int:
        assert self._libc is not None
        words = [ctypes.c_long(value) if isinstance(value, int) else ctypes.c_char_p(value) for value in arguments]
        return int(self._libc.syscall(ctypes.c_long(number), *words))


def _is_beneath(path: str, folders: frozenset[str]) -> bool:
    whole = os.path.realpath(path)
    return any(whole == folder or whole.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)
