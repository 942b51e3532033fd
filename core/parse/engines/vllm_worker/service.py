# ruff: noqa: ANN401 - the objects of vLLM and transformers are untyped
"""Requests in, outcomes out, one at a time; nothing that a parser does ends the service."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import resource
import time
from typing import Any, BinaryIO

_PATH = re.compile(r"(?<![\w:/])(?:/[\w.@+~-]+)+/([\w.@+~-]+)")


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer every line of `source` on `sink` until `source` ends."""
    began = time.perf_counter()
    if importlib.util.find_spec("vllm") is None:
        _write(sink, {"ready": False, "missing": "vllm"})
        return
    try:
        outcomes = importlib.import_module("prompt_debugger.core.parse.engines.vllm_worker.outcomes")
        hello = outcomes.describe()
    except Exception as error:  # noqa: BLE001 - a vLLM that cannot be imported may fail in any way
        _write(sink, {"ready": False, "error": plain_error(error)})
        return
    _write(sink, {"ready": True, "elapsed_s": time.perf_counter() - began, **hello})
    for line in source:
        order = json.loads(line)
        _limit_memory(order.get("memory_growth_bytes"))
        _write(sink, _answer(outcomes, order))


def plain_error(error: BaseException) -> str:
    """Return an exception as one line, folders cut from the paths in it."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return _PATH.sub(r"\1", " ".join(text.split()))[:600]


def _answer(outcomes: Any, order: dict[str, Any]) -> dict[str, Any]:
    try:
        if "bodies" in order:
            prompts = importlib.import_module("prompt_debugger.core.parse.engines.vllm_worker.prompts")
            return {"id": order.get("id"), "prompts": prompts.render_all(order)}
        return {"id": order.get("id"), "outcomes": outcomes.parse_with_all(order)}
    except Exception as error:  # noqa: BLE001 - whatever it was, the next request must find the service running
        return {"id": order.get("id"), "error": plain_error(error)}


def _limit_memory(growth_bytes: int | None) -> None:
    """Allow the address space to grow by so much from here, once and for all."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if growth_bytes is None or soft != resource.RLIM_INFINITY:
        return
    with open("/proc/self/statm", encoding="ascii") as status:  # noqa: PTH123 - no file to speak of
        size_bytes = int(status.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size_bytes + growth_bytes, hard))


def _write(sink: BinaryIO, answer: dict[str, Any]) -> None:
    sink.write(json.dumps(answer).encode("ascii") + b"\n")
    sink.flush()
