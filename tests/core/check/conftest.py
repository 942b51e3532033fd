"""What every test of a check needs: a template as a model, and what it makes of an answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from prompt_debugger.core.check.answers import ANSWERS
from prompt_debugger.core.check.ideal import Ideal, Writer
from prompt_debugger.core.check.model import CheckedModel
from prompt_debugger.core.render.engine import run_job


@pytest.fixture
def write() -> Callable[..., Ideal]:
    """Return what gives the ideal output of an answer, by the names of both."""

    def write(template: str, *names: str) -> Ideal:
        writer = Writer(CheckedModel("test", template).renderer(run_job))
        wanted = {answer.name: answer for answer in ANSWERS}
        return [writer.write(wanted[name]) for name in ("one-call", *names)][-1]

    return write
