"""A folder to serve, and a way to look at processes."""

from __future__ import annotations

import os
import select
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

WaitGone = Callable[[Iterable[int]], set[int]]

_PATIENCE_MS = 60_000


@pytest.fixture(scope="session")
def tokenizer_dir(lab_model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of tokenizer files alone: no config, no weights."""
    folder = tmp_path_factory.mktemp("tokenizer-only")
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        shutil.copy(lab_model_dir / name, folder / name)
    return folder


@pytest.fixture(scope="session")
def wait_gone() -> WaitGone:
    """A function that waits for processes to end and returns those that live on."""

    def wait(pids: Iterable[int]) -> set[int]:
        return {pid for pid in pids if not _ends(pid)}

    return wait


def _ends(pid: int) -> bool:
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(_PATIENCE_MS))
    finally:
        os.close(handle)
