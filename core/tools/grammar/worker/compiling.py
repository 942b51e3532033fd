"""What a constraint of a request costs: compiled and followed as a server would, in a process that may die of it.

Some grammars take long to compile. Others are compiled at once, and cost more with each byte of an answer: repetitions
within repetitions can be read in a number of ways that grows with the text. So each is followed for a while.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import random
from collections.abc import Iterator
from contextlib import suppress

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.tools.grammar.worker.native import Matcher, XGrammar

_MOST_BYTES = 1_500
_WALKS = 4  # every other one sticks to its last byte
_QUIET = False  # no tracing
_USUAL = tuple(b'a0"e1,}]n:{[')
_BLANKS = tuple(b" \n\t\r")  # of which many formats allow any number
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
    """Take one of the texts that a grammar allows, byte after byte.

    Args:
        matcher: At its start.
        choice: Decides where several bytes may come.
        is_sticky: Whether the last byte comes again as long as it may: that is where repetitions are many.
    """
    last, taken = _USUAL[0], 0
    while taken < _MOST_BYTES:
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
