"""XGrammar loaded once; helpers split off from there: questions in, answers out, one at a time."""

from __future__ import annotations

import base64
import functools
import gc
import importlib.util
import json
import re
import time
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.sandbox.lock import Memory, allow_cpu, lock_in
from prompt_debugger.core.tools.grammar.worker.compiling import compile_constraint
from prompt_debugger.core.tools.grammar.worker.explore import walk
from prompt_debugger.core.tools.grammar.worker.native import XGrammar

_SOURCE_PLACE = re.compile(r"^(\[[\d:]+\] )?\S+\.(?:cc|h):\d+: ")
_MAX_MESSAGE = 400


def load() -> Callable[[BinaryIO, BinaryIO], None]:
    """Load XGrammar, and return what a helper does that splits off now: answer `questions` until there are no more."""
    library: XGrammar | None = None
    hello: JSONObject = {"ready": False, "missing": "xgrammar"}
    if importlib.util.find_spec("xgrammar") is not None:
        try:
            library = XGrammar()
            _rehearse(library)
            hello = {"ready": True, "version": library.version}
        except Exception as error:  # noqa: BLE001 - a library that cannot be loaded may fail in any way
            library, hello = None, {"ready": False, "error": plain_error(error)}
    gc.collect()
    gc.freeze()  # helpers share what is there now, as long as nobody writes to it
    return functools.partial(_serve, library, hello)


def _serve(library: XGrammar | None, hello: JSONObject, questions: BinaryIO, answers: BinaryIO) -> None:
    if library is None:
        _write(answers, hello)
        return
    memory = Memory()
    lock_in(has_threads=True)
    _write(answers, hello)
    for line in questions:
        question = json.loads(line)
        memory.allow(int(question.get("memory_mb", 0)))
        begun_s = time.process_time()
        allow_cpu(float(question.get("cpu_s", 0)))
        try:
            answer = _answer(library, question)
        except Exception as error:  # noqa: BLE001 - pasted input may fail in any way, the service goes on
            answer = {"refused": plain_error(error)}
        allow_cpu(0)
        _write(answers, answer | {"used_s": time.process_time() - begun_s})


def plain_error(error: BaseException) -> str:
    """Return an exception as one line, the library's own source place cut off."""
    text = _SOURCE_PLACE.sub("", " ".join(str(error).split()))
    return (text or type(error).__name__)[:_MAX_MESSAGE]


def _answer(library: XGrammar, question: JSONObject) -> JSONObject:
    if question.get("ask") == "tag":
        return {"tag": library.model_tag(str(question["name"]), question["tools"], question["tool_choice"])}
    if question.get("ask") == "compile":
        return compile_constraint(library, str(question["kind"]), question["value"])
    if question.get("ask") == "opinions":
        from prompt_debugger.core.tools.grammar.worker.opinions import opinions

        return opinions(question["schema"], str(question["arguments"]))
    data = base64.b64decode(str(question["data"]))
    matcher = library.compile_constraint(str(question["kind"]), question["value"])
    return walk(matcher, data, explore=question.get("explore") is True)


def _rehearse(library: XGrammar) -> None:
    """Do everything once: libraries read files late, and nothing can be read once the door is locked."""
    from prompt_debugger.core.tools.grammar.worker.opinions import (
        opinions,  # another library, which may be missing, too
    )

    schema: JSONObject = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^a$"}}}
    opinions(schema, '{"a": "a"}')
    constraints: dict[str, JSON] = {"schema": schema, "regex": "a+", "grammar": 'root ::= "a"', "choice": ["a"]}
    for kind, value in constraints.items():
        compile_constraint(library, kind, value)
    tools: list[JSON] = [{"type": "function", "function": {"name": "f", "parameters": schema}}]
    with suppress(Exception):  # a release may call its formats otherwise: what it reads late it will be refused
        walk(library.compile_constraint("tag", library.model_tag("llama", tools, "auto")), b"a", explore=True)


def _write(answers: BinaryIO, answer: JSONObject) -> None:
    answers.write(json.dumps(answer).encode("ascii") + b"\n")
    answers.flush()
