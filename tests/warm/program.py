"""Forks the commands and pages of a run from one process that has imported our program, gradio included."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.warm.labs import forkserver_when_asked

PROGRAM = "PROMPT_DEBUGGER_TESTS_PROGRAM"
ADDRESS = "PROMPT_DEBUGGER_TESTS_PROGRAM_STEM"


@contextmanager
def warm_program() -> Iterator[None]:
    """Meanwhile `warm_environment` is one in which `app.py` takes the short way; see `warm_labs`."""
    if ADDRESS in os.environ:
        yield
        return
    with forkserver_when_asked("program", lambda _: os.environ) as address:
        os.environ[ADDRESS] = f"{sys.prefix}:{address}"
        try:
            yield
        finally:
            os.environ.pop(ADDRESS, None)


def cold_environment() -> dict[str, str]:
    """Return an environment in which whatever is started is a process of its own, its helpers, too."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PROMPT_DEBUGGER_TESTS")}


def warm_environment(**more: str) -> dict[str, str]:
    """Return an environment for `python app.py …` that is started without its imports.

    Not for a test of how the program starts, nor for one that looks at its processes: what is started stays as the
    process that was asked for, and passes signals on to the one that does the work.
    """
    shown = {PROGRAM: os.environ[ADDRESS]} if ADDRESS in os.environ else {}
    return {**os.environ, **shown, **more}
