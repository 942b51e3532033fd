# ruff: noqa: ANN401 - the objects of vLLM and transformers are untyped
"""Requests in, outcomes out, one at a time; nothing that a parser does ends the service.

vLLM is imported once, without starting a thread; helpers are forked from there, and only they see a request. Before its
first one a helper locks itself as a sandbox's process does: no socket, process or written file. It can read the
libraries, parts of which are imported when first asked for, and what the client names: plug-ins and the folder of a
tokenizer. The first request tells the kernel which those are; a request that names others needs another helper.
"""

from __future__ import annotations

import functools
import gc
import importlib
import importlib.util
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from prompt_debugger.core.parse.engines.vllm_worker.errors import plain_error
from prompt_debugger.core.sandbox.lock import Memory, Readable, allow_cpu, lock_in


def load() -> Callable[[BinaryIO, BinaryIO], None]:
    """Import vLLM, and return the main function of a forked helper: answer `source` on `sink` until it ends."""
    began = time.perf_counter()
    outcomes: Any = None
    if importlib.util.find_spec("vllm") is None:
        hello: dict[str, Any] = {"ready": False, "missing": "vllm"}
    else:
        try:
            outcomes = importlib.import_module("prompt_debugger.core.parse.engines.vllm_worker.outcomes")
            hello = {"ready": True, **outcomes.describe(), "elapsed_s": time.perf_counter() - began}
            outcomes.import_parsers()
        except Exception as error:  # noqa: BLE001 - a vLLM that cannot be imported may fail in any way
            hello = {"ready": False, "error": plain_error(error)}
    gc.collect()
    gc.freeze()  # helpers share the memory in use now, as long as nothing writes to it
    return functools.partial(serve, functools.partial(_answer, outcomes), hello)


def serve(
    answer_to: Callable[[dict[str, Any]], dict[str, Any]], hello: dict[str, Any], source: BinaryIO, sink: BinaryIO
) -> None:
    """Say hello, lock this process in, and answer one order after the other until `source` ends."""
    _write(sink, hello)
    if hello["ready"] is not True:
        return
    memory, readable = Memory(), Readable()
    lock = lock_in(has_threads=True, readable=readable, learns=True)
    for line in source:
        order = json.loads(line)
        if not lock.let_read(_files_of(order)):
            _write(sink, {"spent": True})  # another helper may still learn of these files
            return
        memory.allow(order["memory_mb"])
        begun_s = time.process_time()
        allow_cpu(order["cpu_s"])
        answer = answer_to(order)
        allow_cpu(0)
        _write(sink, answer | {"used_s": time.process_time() - begun_s})


def _answer(outcomes: Any, order: dict[str, Any]) -> dict[str, Any]:
    try:
        if "bodies" in order:
            prompts = importlib.import_module("prompt_debugger.core.parse.engines.vllm_worker.prompts")
            return {"id": order.get("id"), "prompts": prompts.render_all(order)}
        if "architectures" in order:
            renderers = importlib.import_module("prompt_debugger.core.parse.engines.vllm_worker.renderers")
            return {"id": order.get("id"), "renderer": renderers.renderer_of(order)}
        return {"id": order.get("id"), "outcomes": outcomes.parse_with_all(order)}
    except Exception as error:  # noqa: BLE001 - whatever it was, the next request must find the service running
        return {"id": order.get("id"), "error": plain_error(error)}


def _files_of(order: dict[str, Any]) -> list[str]:
    """Return what the client, not the text, lets be read: plug-ins with what they import, and a tokenizer."""
    found = [str(Path(file).parent) for file in order.get("plugins", ())]
    found += order.get("readable", ())
    if folder := order.get("tokenizer"):
        found.append(folder if Path(folder).is_dir() else _hub_cache())
    return found


def _hub_cache() -> str:
    """Return where models lie that were fetched by name."""
    home = os.environ.get("HF_HOME") or str(Path.home() / ".cache" / "huggingface")
    return os.environ.get("HF_HUB_CACHE") or str(Path(home, "hub"))


def _write(sink: BinaryIO, answer: dict[str, Any]) -> None:
    sink.write(json.dumps(answer).encode("ascii") + b"\n")
    sink.flush()
