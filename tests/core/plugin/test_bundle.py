"""The modules that a plugin holds are found whoever asks at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from prompt_debugger.core.plugin.bundle import modules_needed

NAMES = ("prompt_debugger.core.formats.kimi_k2", "prompt_debugger.core.plugin.inside.vllm_parsers")


def test_many_threads_get_the_same_modules() -> None:
    """CPython 3.11 raised `SystemError: AST constructor recursion depth mismatch` where two built a tree at once."""
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: [*modules_needed(NAMES)], range(24)))

    assert all(one == found[0] for one in found)
    assert set(NAMES) <= set(found[0])
