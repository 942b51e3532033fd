"""The modules that a plugin holds are found no matter who asks at the same time."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from prompt_debugger.core.tools.plugin.write import modules_needed

NAMES = ("prompt_debugger.core.formats.kimi_k2", "prompt_debugger.core.tools.plugin.inside.vllm_parsers")


@pytest.fixture
def busy() -> Iterator[None]:
    """Let threads change often, also while a tree is built: collections run code in between."""
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()

    def work(*_reported: object) -> None:
        for _number in range(20):
            pass

    sys.setswitchinterval(1e-6)
    gc.callbacks.append(work)
    gc.set_threshold(50)
    yield
    gc.set_threshold(*thresholds)
    gc.callbacks.remove(work)
    sys.setswitchinterval(interval)


def needed_from(depth: int) -> list[str]:
    return [*modules_needed(NAMES)] if depth == 0 else needed_from(depth - 1)


@pytest.mark.slow
@pytest.mark.usefixtures("busy")
def test_threads_get_the_same_modules() -> None:
    """CPython 3.11 raised `SystemError: AST constructor recursion depth mismatch` where two built a tree at once."""
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(needed_from, [number * 7 for number in range(8)]))

    assert all(one == found[0] for one in found)
    assert set(NAMES) <= set(found[0])
