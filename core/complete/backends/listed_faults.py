r"""Faults of a request that a validator found, as the texts list them in which servers pass them on → JSON.

    [{'type': …, 'loc': ('body', 'messages'), 'msg': …}]      as Python prints them (vLLM)
    2 validation errors for X\nplace\n  words [type=…]         as pydantic writes them
    2 validation errors:\n  {'type': …, 'loc': (…)}           one per line (vLLM, FastAPI 0.116 on)

A copy may end within such a list; the faults before its end count.
"""

from __future__ import annotations

import ast
import re

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete.backends.union_faults import is_of_whole_member, note_forms_left_out

_VALIDATION = re.compile(r"\b\d{1,4} validation errors? for \S")
_LIST_START = re.compile(r"\[\s{0,9}\{'type': ")
# What is left of a fault where the copy ends within the value that it is about.
_BEGUN = re.compile(
    r"\s{0,9}\{'type': '\w{1,60}', 'loc': \([^()\n]{1,300}\), 'msg': (?:'[^'\\\n]{1,300}'|\"[^\"\\\n]{1,300}\")"
)
# What pydantic prints: a line with the place, one with the words, one with an address.
_VALIDATION_FAULT = re.compile(
    r"(?m)^([A-Za-z_](?:[\w.\[\](),|=-]|(?<=,) ){0,6000})\n[ \t]{1,8}(\S[^\n]{0,400}?) \[type=\w{1,60}, "
    r"input_value=(?:'([^'\n]{1,80})', input_type=str|(\{[^\n]{0,80}))?"
)
_OLD_FAULT = re.compile(  # as pydantic 1 prints it
    r"(?m)^([A-Za-z_](?:\w| -> ){0,400})\n[ \t]{1,8}(\S[^\n]{0,400}?) \(type=[\w.]{1,80}(?:; [^\n]{0,200})?\)[ \t]*$"
)
_FAULTS_BELOW = re.compile(r"\b(\d{1,4}) validation errors?:\s{0,4}\n(?=[ \t]{0,8}\{'type': ')")
MAX_LISTED = 60_000  # characters
_MAX_LINES = 4_000_000  # characters of errors that are listed one per line
# One of them; vLLM 0.32 joins the steps of the place and leaves out what is long.
_LINE_FAULT = re.compile(
    r"[ \t]{0,8}\{'type': '\w{1,60}', 'loc': (?:\(([^\n]{1,6000}?)\)|'([^'\n]{1,6000})'), 'msg': "
    r"""(?:'((?:[^'\\\n]|\\.){1,600})'|"((?:[^"\\\n]|\\.){1,600})")"""
    r"(?:, 'input': (?:'([^'\\\n]{1,200})'(?=[,}])|(\{[^\n]{0,200})))?"
)
_PYTHON_STEP = re.compile(r"'([^']*)'|(\d+)")


def faults_in(text: str) -> list[JSON]:
    """Return the errors that a text lists, as Python prints pydantic's or as pydantic writes them; none if it does not.

    >>> faults_in("[{'type': 'missing', 'loc': ('body', 'messages'), 'msg': 'Field required'}]")
    [{'loc': ['body', 'messages'], 'msg': 'Field required'}]
    >>> faults_in("[{'type': 'missing', 'loc': ('body', 'messages'), 'msg': 'Field required', 'input': {'a")
    [{'loc': ['body', 'messages'], 'msg': 'Field required'}]
    """
    listed = _closed(text.strip())
    if listed.startswith("[{") and listed.endswith("}]") and "'loc':" in listed and len(listed) <= MAX_LISTED:
        return _faults_of_python(listed)
    below = _FAULTS_BELOW.search(text)
    if below is not None:
        return _faults_of_lines(text[below.end() : below.end() + _MAX_LINES], int(below[1]))
    if _VALIDATION.search(text) is None:
        return []
    found: list[JSON] = []
    for match in _VALIDATION_FAULT.finditer(text[:_MAX_LINES]):
        found.append({"loc": _steps_of_dotted(match[1]), "msg": match[2], **_given(match[3] or match[4])})
    for match in () if found else _OLD_FAULT.finditer(text[:_MAX_LINES]):
        found.append({"loc": _steps_of_dotted(match[1].replace(" -> ", ".")), "msg": match[2]})
    return found


def steps_of_tuple(text: str) -> list[JSON]:
    """Return the steps of a path as Python prints it, without its brackets: `'body', 'tools', 0`."""
    return [int(number) if number else name for name, number in _PYTHON_STEP.findall(text)]


def _closed(listed: str) -> str:
    """Return a list that Python printed, up to its last entry where the copy of it was cut, in one line."""
    if _LIST_START.match(listed) is None:
        return listed
    listed = _LIST_START.sub("[{'type': ", listed, count=1)
    if listed.endswith("}]"):
        return listed
    last = max(listed.rfind(end) for end in ("}, {'type': ", "},\n{'type': "))
    begun = _BEGUN.match(listed, last + 2 if last >= 0 else 1)
    whole = listed[: last + 1] + ", " if last >= 0 else "["
    return f"{whole}{begun[0].strip()}}}]" if begun is not None else f"{whole.removesuffix(', ')}]"


def _given(value: str | None) -> JSONObject:
    """Return the value that an error is about as a part of it; nothing where the error does not show it."""
    return {} if value is None else {"input": value}


def _steps_of_dotted(path: str) -> list[JSON]:
    """Return the steps of a path that is joined with dots.

    >>> _steps_of_dotted("body.input.1.Message.type")
    ['body', 'input', 1, 'Message', 'type']
    """
    return [int(step) if step.isdecimal() else step for step in path.split(".")]


def _faults_of_lines(text: str, count: int) -> list[JSON]:
    """Return the errors of lines; where they were cut, and none of those left is of what was meant, their place."""
    found: list[JSON] = []
    for line in text.split("\n"):
        fault = _LINE_FAULT.match(line)
        if fault is None:
            break
        steps = steps_of_tuple(fault[1]) if fault[1] else _steps_of_dotted(fault[2])
        says = fault[3] or fault[4]
        found.append({"loc": steps, "msg": _unescaped(says), **_given(fault[5] or fault[6])})
    first = as_object(found[0]).get("loc") if found else None
    if len(found) == count or not isinstance(first, list):
        return found
    if not all(map(is_of_whole_member, found)):
        return note_forms_left_out(found)
    return [{"loc": first[:-1], "msg": f"{count} validation errors"}]


def _unescaped(text: str) -> str:
    return re.sub(r"\\(['\"\\])", r"\1", text)


def _faults_of_python(text: str) -> list[JSON]:
    try:
        listed: object = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return []
    found: list[JSON] = []
    for fault in listed if isinstance(listed, list) else []:
        loc, message = (fault.get("loc"), fault.get("msg")) if isinstance(fault, dict) else (None, None)
        if not isinstance(loc, tuple | list) or not isinstance(message, str):
            return []
        steps: list[JSON] = [step for step in loc if isinstance(step, str | int)]
        found.append({"loc": steps, "msg": message, **_given_in(fault)})
    return found


def _given_in(fault: object) -> JSONObject:
    """Return the value that a printed error is about, if it is a text, or the kind of an object."""
    given: object = fault.get("input") if isinstance(fault, dict) else None
    if isinstance(given, dict):
        return {"input": {key: text for key in ("type", "role") if isinstance(text := given.get(key), str)}}
    return {"input": given} if isinstance(given, str) else {}
