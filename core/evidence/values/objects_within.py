"""Whether a stretch of a text is an object of an answer, or Python, and where it ends: whole, cut or shortened."""

from __future__ import annotations

import ast
import re
import warnings

from prompt_debugger.core.base.json_values import begins_as_object, is_json

MAX_OF_SCRIPT = 40_000  # characters

# Keys of what a label names; below other labels, such as arguments, is a piece that a script printed.
_LABELLED = {"choices", "role", "tool_calls", "message", "messages", "error", "candidates", "output", "content", "text"}
_BRACKET = re.compile(r'[{}\[\]]|"(?:[^"\\]|\\.)*+"?')
_MAX_OF_SHORTENED = 40_000  # characters


def is_labelled(value: object) -> bool:
    """Return whether a label names a value as a whole: an answer, a message, or a list of tools or messages."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, dict) and {"function", "role"} & one.keys() for one in value)
    if not isinstance(value, dict):
        return False
    inner = value.get("data", value.get("response"))  # as gateways wrap an answer
    return bool(_LABELLED & value.keys()) or (isinstance(inner, dict) and bool(_LABELLED & inner.keys()))


def is_bare_call(value: object) -> bool:
    """Return whether a value is a tool call as some models write it: a name and arguments, nothing around.

    Arguments are an object, or a text that begins as one: of a person or a command, `arguments` are words.
    """
    if not isinstance(value, dict) or len(value) > 3 or {"description", "input_schema"} & value.keys():
        return False
    arguments = value.get("arguments", value.get("parameters"))
    return isinstance(value.get("name"), str) and (isinstance(arguments, dict) or begins_as_object(arguments))


def are_bare_calls(value: object) -> bool:
    """Return whether a value is one such call, or a list of nothing else."""
    return all(map(is_bare_call, value)) if isinstance(value, list) and value else is_bare_call(value)


def is_printed(text: str, *, is_said: bool = False) -> bool:
    """Return whether a text is a dict of Python that an answer is made of, or, where a model said it, its calls."""
    if not text.endswith(("}", "}]") if is_said else "}"):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(text) if len(text) <= MAX_OF_SCRIPT else None
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return False
    return (isinstance(value, dict) and is_labelled(value)) or (is_said and are_bare_calls(value))


def ends_in_an_event(text: str) -> bool:
    """Return whether a stream ends within the JSON of an event: nothing may follow it, or it counts as whole."""
    last = text.rstrip().rpartition("\n")[2].strip().removeprefix("data:").strip()
    return last.startswith(("{", "[{")) and not is_json(last)


def end_of_json(text: str, start: int) -> int:
    """Return where the bracket at a place is closed, or where looking for that ends."""
    depth, end = 0, min(len(text), start + _MAX_OF_SHORTENED)
    for found in _BRACKET.finditer(text, start, end):
        depth += (found[0] in "{[") - (found[0] in "}]") if len(found[0]) == 1 else 0
        if depth == 0:
            return found.end()
    return end


def closed(text: str) -> str:
    """Return a JSON text with the brackets that it leaves open closed."""
    is_open: list[str] = []
    for found in _BRACKET.finditer(text):
        mark = found.group()
        if mark in "{[":
            is_open.append("}" if mark == "{" else "]")
        elif mark in "}]" and is_open:
            is_open.pop()
    return text + "".join(reversed(is_open))


def line_of_no_python(text: str) -> int | None:
    """Return 0 if a text is Python, otherwise the line, from 1, where it stops being Python; `None` if unknown."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return error.lineno
    except (ValueError, RecursionError, MemoryError):
        return None
    return 0
