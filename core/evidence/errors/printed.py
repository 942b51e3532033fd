"""Errors that a client read as an answer and Python printed: the object has the class of an answer and no choices.

ChatCompletion(id=None, choices=None, …, object='error', code=400, message='…', type='BadRequestError')
id=None choices=None … object='error' code=400 message='…'       as `str()` prints it
"""

from __future__ import annotations

import ast
import re

from prompt_debugger.core.base.types import JSON, Refusal
from prompt_debugger.core.evidence.errors.values import error_of_value

_ERROR = re.compile(r"(?<![\w.])object=(?:'error'|\"error\")(?![\w'\"])")
_NO_ANSWER = re.compile(r"(?<![\w.])choices=(?!None\b)")
_FIELD = re.compile(
    r"(?<![\w.])(?P<name>message|code|param|type)="
    r"(?:(?P<number>\d{1,6})|(?P<text>'(?:[^'\\]|\\.){0,3000}+'|\"(?:[^\"\\]|\\.){0,3000}+\"))",
    re.DOTALL,
)
_MAX_AWAY = 3_000  # characters of the object before and behind its kind


def error_of_print(text: str) -> Refusal | None:
    """Return the error that a printed answer is; `None` if the text prints none.

    >>> error_of_print("Completion(choices=None, object='error', code=400, message='No such tool')").message
    'No such tool'
    """
    kind = _ERROR.search(text)
    if kind is None:
        return None
    start, stop = max(0, kind.start() - _MAX_AWAY), kind.end() + _MAX_AWAY
    if _NO_ANSWER.search(text, start, stop) is not None:
        return None
    body: dict[str, JSON] = {"object": "error"}
    for field in _FIELD.finditer(text, start, stop):  # names within words are none
        body.setdefault(field["name"], _value_of(field))
    return error_of_value(body) if isinstance(body.get("message"), str) else None


def _value_of(field: re.Match[str]) -> JSON:
    if field["number"] is not None:
        return int(field["number"])
    try:
        value: object = ast.literal_eval(field["text"].replace("\n", " "))
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, str) else None
