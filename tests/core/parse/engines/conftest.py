"""One warm helper for all tests that do not break it, and older releases where they can be had."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.parse.engines import EngineLimits, VllmEngine, VllmReleases, fetch_release
from tests.patience import PATIENCE_S

PLUGIN = Path(__file__).parent / "plugins" / "misbehaving.py"


@pytest.fixture(scope="session")
def engine() -> Iterator[VllmEngine]:
    with_limits = VllmEngine()
    yield with_limits
    with_limits.close()


@pytest.fixture(scope="session")
def fragile_engine() -> Iterator[VllmEngine]:
    """A helper with parsers that misbehave, and little processor time for each."""
    limits = EngineLimits(request_s=PATIENCE_S, parser_s=1.0)
    engine = VllmEngine(plugins=[PLUGIN], limits=limits)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def releases() -> Iterator[VllmReleases]:
    """The parsers of any release that is installed or in the cache."""
    several = VllmReleases(max_warm=4)
    yield several
    several.close()


@pytest.fixture(scope="session")
def need_release() -> Callable[[str], str]:
    """Return a version once that release is in the user's cache; skip the test if it cannot be had."""
    refused: dict[str, str] = {}

    def need(version: str) -> str:
        if version not in refused:
            try:
                fetch_release(version)
            except EngineError as error:
                refused[version] = error.message
        if version in refused:
            pytest.skip(f"vLLM {version} is not in the cache: {refused[version]}")
        return version

    return need
