"""What every test of a check needs: a template as a model, and what it makes of an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from prompt_debugger.core.parse.engines import EngineLimits, VllmEngine
from prompt_debugger.core.render.traced_render import run_job
from prompt_debugger.core.tools.check.answers import ANSWERS
from prompt_debugger.core.tools.check.ideal import Ideal, Writer
from prompt_debugger.core.tools.check.model import CheckedModel


@pytest.fixture(scope="session")
def engine() -> Iterator[VllmEngine]:
    """vLLM's parsers in one warm helper; patient, for machines that are busy."""
    one = VllmEngine(limits=EngineLimits(request_s=600.0, parser_s=30.0))
    yield one
    one.close()


@pytest.fixture
def write() -> Callable[..., Ideal]:
    """Return what gives the ideal output of an answer, by the names of both."""

    def write(template: str, *names: str) -> Ideal:
        writer = Writer(CheckedModel("test", template).renderer(run_job))
        wanted = {answer.name: answer for answer in ANSWERS}
        return [writer.write(wanted[name]) for name in ("one-call", *names)][-1]

    return write
