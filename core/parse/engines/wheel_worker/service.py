# ruff: noqa: ANN401 - the objects of engines are untyped
"""One engine imported from its wheel, then forked into helpers that are locked down like vLLM's."""

from __future__ import annotations

import functools
import gc
import importlib
import importlib.util
import time
from collections.abc import Callable
from typing import Any, BinaryIO

from prompt_debugger.core.parse.engines.vllm_worker.errors import plain_error
from prompt_debugger.core.parse.engines.vllm_worker.service import serve


def load(engine: str) -> Callable[[BinaryIO, BinaryIO], None]:
    """Import an engine's parsers, and return the main function of a forked helper.

    Args:
        engine: Name of a module of this package; the package of the engine bears the same name.
    """
    began = time.perf_counter()
    answer: Any = None
    if importlib.util.find_spec(engine) is None:
        hello: dict[str, Any] = {"ready": False, "missing": engine}
    else:
        try:
            outcomes = importlib.import_module("prompt_debugger.core.parse.engines.wheel_worker.outcomes")
            described = outcomes.describe(engine)
            answer = functools.partial(_answer, outcomes, engine)
            hello = {"ready": True, **described, "elapsed_s": time.perf_counter() - began}
        except Exception as error:  # noqa: BLE001 - an engine that cannot be imported may fail in any way
            hello = {"ready": False, "error": plain_error(error)}
    gc.collect()
    gc.freeze()  # helpers share the memory in use now, as long as nothing writes to it
    return functools.partial(serve, answer, hello)


def _answer(outcomes: Any, engine: str, order: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"outcomes": outcomes.parse_with_all(engine, order)}
    except Exception as error:  # noqa: BLE001 - whatever it was, the next request must find the service running
        return {"error": plain_error(error)}
