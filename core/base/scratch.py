"""Temporary folders of a process, removed when it ends; those of a killed one are removed by the next that needs any.

A folder holds a file that its process keeps locked. The system gives the lock up however the process ends, so a folder
whose file can be locked is no one's any more.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from prompt_debugger.core.base.file_locks import lock_if_free

MOST_KEPT = 10  # of results that someone was shown, after the program has ended
_PREFIX = "prompt-debugger"
_MARK = ".in-use"
_ANY = "?" * 8  # what `mkdtemp` puts behind a prefix

_held: dict[Path, int] = {}
_going: dict[Path, int] = {}  # and the process that they go with: a fork of it ends, too


@contextmanager
def scratch(kind: str) -> Iterator[Path]:
    """Give a folder that goes at the end of the block.

    Args:
        kind: What it is for, as its name says.
    """
    folder = new_scratch(kind)
    try:
        yield folder
    finally:
        drop_scratch(folder)


def new_scratch(kind: str, *, most_kept: int = 0) -> Path:
    """Return a folder of this process, after those that no process uses any more were removed.

    Args:
        kind: What it is for, as its name says.
        most_kept: How many folders of this kind stay that no process uses, the newest: what someone was shown. Where
            none does, the folder goes with this process.
    """
    _sweep(kind, most_kept)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}-{kind}-"))
        mark = os.open(folder / _MARK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        if lock_if_free(mark) and (folder / _MARK).exists():  # else another process swept it in this moment
            break
        os.close(mark)
    _held[folder] = mark
    if not most_kept:
        _going[folder] = os.getpid()
    return folder


def drop_scratch(folder: Path) -> None:
    """Remove a folder of this process, unless it is gone."""
    _going.pop(folder, None)
    shutil.rmtree(folder, ignore_errors=True)
    mark = _held.pop(folder, None)
    if mark is not None:
        os.close(mark)


def _sweep(kind: str, most_kept: int) -> None:
    """Remove the folders of a kind that no process uses, but for the newest."""
    unused = []
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}-{kind}-{_ANY}"):
        with suppress(OSError):
            found = folder.lstat()
            if folder.is_symlink() or found.st_uid != os.getuid() or folder in _held:
                continue
            mark = os.open(folder / _MARK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            if lock_if_free(mark):
                unused.append((found.st_mtime_ns, folder, mark))
            else:
                os.close(mark)
    unused.sort(reverse=True)
    for number, (_, folder, mark) in enumerate(unused):
        if number >= most_kept:
            shutil.rmtree(folder, ignore_errors=True)
        os.close(mark)


@atexit.register
def _drop_all() -> None:
    """Remove what goes with this process."""
    for folder, process_id in tuple(_going.items()):
        if process_id == os.getpid():
            drop_scratch(folder)
