"""Questions in, answers out, one at a time."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import re
import resource
from typing import BinaryIO

from prompt_debugger.core.grammar.worker.explore import walk
from prompt_debugger.core.grammar.worker.native import XGrammar
from prompt_debugger.core.types import JSON, JSONObject

_SOURCE_PLACE = re.compile(r"^(\[[\d:]+\] )?\S+\.(?:cc|h):\d+: ")
_MAX_MESSAGE = 400


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer every line of `questions` on `answers` until there are no more."""
    if importlib.util.find_spec("xgrammar") is None:
        _write(answers, {"ready": False, "missing": "xgrammar"})
        return
    try:
        library = XGrammar()
    except Exception as error:  # noqa: BLE001 - a library that cannot be loaded may fail in any way
        _write(answers, {"ready": False, "error": plain_error(error)})
        return
    _write(answers, {"ready": True, "version": library.version})
    for line in questions:
        question = json.loads(line)
        _limit_memory(question.get("memory_growth_bytes"))
        try:
            answer = _answer(library, question)
        except Exception as error:  # noqa: BLE001 - pasted input may fail in any way, the service goes on
            answer = {"refused": plain_error(error)}
        _write(answers, answer)


def plain_error(error: BaseException) -> str:
    """Return an exception as one line, the library's own source place cut off."""
    text = _SOURCE_PLACE.sub("", " ".join(str(error).split()))
    return (text or type(error).__name__)[:_MAX_MESSAGE]


def _answer(library: XGrammar, question: JSONObject) -> JSONObject:
    if question.get("ask") == "tag":
        return {"tag": library.model_tag(str(question["name"]), question["tools"], question["tool_choice"])}
    if question.get("ask") == "opinions":
        from prompt_debugger.core.grammar.worker.opinions import (
            opinions,  # costs a tenth of a second, and is not always wanted
        )

        return opinions(question["schema"], str(question["arguments"]))
    data = base64.b64decode(str(question["data"]))
    return walk(library.compile(question["tag"]), data, explore=question.get("explore") is True)


def _limit_memory(growth_bytes: JSON) -> None:
    """Allow the address space to grow by so much from here, once and for all."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if not isinstance(growth_bytes, int) or soft != resource.RLIM_INFINITY or not os.path.exists("/proc/self/statm"):  # noqa: PTH110 - no file to speak of
        return
    with open("/proc/self/statm", encoding="ascii") as status:  # noqa: PTH123 - no file to speak of
        size_bytes = int(status.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size_bytes + growth_bytes, hard))


def _write(answers: BinaryIO, answer: JSONObject) -> None:
    answers.write(json.dumps(answer).encode("ascii") + b"\n")
    answers.flush()
