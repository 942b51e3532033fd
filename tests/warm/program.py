"""Lets the commands and pages of a run split off from one process that has imported our program, gradio included."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.warm.labs import stem_when_asked

PROGRAM = "PROMPT_DEBUGGER_TESTS_PROGRAM"
_addresses: list[str] = []


@contextmanager
def warm_program() -> Iterator[None]:
    """Meanwhile `warm_environment` is one in which `app.py` takes the short way."""
    with stem_when_asked("program", lambda _: os.environ) as address:
        _addresses.append(address)
        try:
            yield
        finally:
            _addresses.remove(address)


def warm_environment(**more: str) -> dict[str, str]:
    """Return an environment for `python app.py …` that is started without its imports.

    Not for a test of how the program starts, nor for one that looks at its processes: what is started stays as the
    process that was asked for, and passes signals on to the one that does the work.
    """
    told = {PROGRAM: f"{sys.prefix}:{_addresses[-1]}"} if _addresses else {}
    return {**os.environ, **told, **more}
