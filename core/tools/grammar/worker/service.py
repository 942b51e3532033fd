"""XGrammar, loaded once and then forked into helpers: questions in, answers out, one at a time."""

from __future__ import annotations

import base64
import functools
import gc
import importlib
import importlib.util
import json
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import BinaryIO

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.sandbox.lock import Memory, allow_cpu, lock_in
from prompt_debugger.core.tools.grammar.worker.explore import walk
from prompt_debugger.core.tools.grammar.worker.native import Matcher, XGrammar

_SOURCE_PLACE = re.compile(r"^(\[[\d:]+\] )?\S+\.(?:cc|h):\d+: ")
_MAX_MESSAGE = 400


def load() -> Callable[[BinaryIO, BinaryIO], None]:
    """Load XGrammar, and return the main function of a forked helper: answer `questions` until there are no more."""
    library: XGrammar | None = None
    hello: JSONObject = {"ready": False, "missing": "xgrammar"}
    if importlib.util.find_spec("xgrammar") is not None:
        try:
            library = XGrammar()
            _warm_up(library)
            hello = {"ready": True, "version": library.version}
        except Exception as error:  # noqa: BLE001 - a library that cannot be loaded may fail in any way
            library, hello = None, {"ready": False, "error": plain_error(error)}
    gc.collect()
    gc.freeze()  # helpers share what is there now, as long as no one writes to it
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
        except Exception as error:  # noqa: BLE001 - pasted input may fail in any way, the service continues
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


def _warm_up(library: XGrammar) -> None:
    """Do everything once: libraries read files late, and nothing can be read once the process is locked."""
    from prompt_debugger.core.tools.grammar.worker.opinions import (
        opinions,  # another library, which may be missing, too
    )

    schema: JSONObject = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^a$"}}}
    opinions(schema, '{"a": "a"}')
    constraints: dict[str, JSON] = {"schema": schema, "regex": "a+", "grammar": 'root ::= "a"', "choice": ["a"]}
    for kind, value in constraints.items():
        compile_constraint(library, kind, value)
    tools: list[JSON] = [{"type": "function", "function": {"name": "f", "parameters": schema}}]
    with suppress(Exception):  # a release may give its formats other names: what it reads late it will be refused
        walk(library.compile_constraint("tag", library.model_tag("llama", tools, "auto")), b"a", explore=True)


def _write(answers: BinaryIO, answer: JSONObject) -> None:
    answers.write(json.dumps(answer).encode("ascii") + b"\n")
    answers.flush()


# Some grammars take long to compile. Others compile quickly, and each byte of an answer costs more than the one before:
# nested repetitions can be read in a number of ways that grows with the text. So each is followed for a while.
_MAX_BYTES = 1_500
_WALKS = 4  # every other one sticks to its last byte
_QUIET = False  # no tracing
_USUAL = tuple(b'a0"e1,}]n:{[')
_BLANKS = tuple(b" \n\t\r")  # many formats allow any number of them
_OTHERS = tuple(sorted({*range(256)} - {*_BLANKS}))


def compile_constraint(library: XGrammar, kind: str, value: JSON) -> JSONObject:
    """Compile a constraint with XGrammar and follow it; also with LLGuidance, which vLLM asks where XGrammar cannot.

    Args:
        library: XGrammar.
        kind: `schema`, `regex`, `grammar`, `choice` or `tag`.
        value: The constraint.

    Returns:
        What XGrammar said against it, which is for the server to say again.
    """
    answer: JSONObject = {}
    try:
        for number in range(_WALKS):
            _follow(library.compile_constraint(kind, value), random.Random(number), is_sticky=number % 2 == 0)
    except Exception as error:  # noqa: BLE001 - pasted input may fail in any way
        answer = {"refused": str(error)[:200]}
    if kind in ("schema", "regex") or (kind == "grammar" and answer):
        with suppress(ImportError, ValueError, TypeError):
            _ask_llguidance(kind, value)
    return answer


def _follow(matcher: Matcher, choice: random.Random, *, is_sticky: bool) -> None:
    """Take one of the texts that a grammar allows, byte after byte; a sticky one repeats its last byte while it may."""
    last, taken = _USUAL[0], 0
    while taken < _MAX_BYTES:
        for value in _candidates(last if is_sticky and last not in _BLANKS else None, choice):
            if matcher.accept_string(bytes([value]), _QUIET):
                last, taken = value, taken + 1
                break
        else:
            return


def _candidates(first: int | None, choice: random.Random) -> Iterator[int]:
    if first is not None:
        yield first
    yield from choice.sample(_USUAL, len(_USUAL))
    yield from choice.sample(_OTHERS, len(_OTHERS))
    yield from _BLANKS


def _ask_llguidance(kind: str, value: JSON) -> None:
    library = importlib.import_module("llguidance")
    if kind == "schema":
        grammar = library.LLMatcher.grammar_from_json_schema(value if isinstance(value, str) else json.dumps(value))
    elif kind == "regex":
        grammar = library.LLMatcher.grammar_from_regex(str(value))
    else:
        grammar = library.grammar_from("grammar", str(value))
    library.LLMatcher.validate_grammar(grammar, library.LLTokenizer("byte"))
