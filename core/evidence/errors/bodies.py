r"""Bodies of errors within other words, as JSON or as Python prints them.

API request failed with status 500: {"error": {…}}
[400]: {'object': 'error', 'message': …}
{"level": "error", "msg": "{\"error\": …}"}         the text of a string
"""

from __future__ import annotations

import json
import re

from prompt_debugger.core.base.types import Refusal, Stage
from prompt_debugger.core.evidence.errors.cut_body import BODY, MAX_STARTS, cut_body_in
from prompt_debugger.core.evidence.errors.found import FoundError
from prompt_debugger.core.evidence.errors.in_strings import error_in_string
from prompt_debugger.core.evidence.errors.sentences import MAX_ALONE, status_in
from prompt_debugger.core.evidence.errors.unknown import is_about_chat
from prompt_debugger.core.evidence.errors.values import error_of_value, is_of_other_data
from prompt_debugger.core.evidence.no_errors.programs import below_source, is_source
from prompt_debugger.core.evidence.values.printed_values import as_utf8, python_value_at, value_at
from prompt_debugger.core.known_errors import recognise_error

_MAX_HEAD = 600  # characters in which a status is looked for
_STATUS_FIRST = re.compile(r"\s*+\[[45]\d\d\]: ?(?=\S)")  # `[400]: {"error": …`
_DATA_START = re.compile(r"\s*+(?:\{|\[\s*+[\[{\"'\]\d-])")


def body_in(text: str, whole: str = "") -> Refusal | None:
    """Return the first body of an error within a text, as JSON or as Python prints it.

    Args:
        text: The text.
        whole: The text with what is before it, which may show that a list of faults is of other data than chats.
    """
    for index, start in enumerate(BODY.finditer(text)):
        if index >= MAX_STARTS:
            return None
        value = value_at(text, start.start())
        found = error_of_value(value)
        if found is not None and not (is_of_other_data(value) and not _may_be_of_chat(whole or text)):
            return found
    return None


def read_body_within(text: str) -> FoundError | None:
    """Read a body that follows words, as in `API request failed with status 500: {…}`."""
    if len(text) > MAX_ALONE * 10 or _begins_with_other_json(text):
        return None
    if is_source(text):
        text = below_source(text)  # what the program printed
    body = _body_at_start(text) if _DATA_START.match(text) else body_in(text)
    body = body or cut_body_in(text)
    if body is not None and body.status is None and _is_said_of_an_answer(text):
        return None  # what a client lists as faults of the model's answer
    if body is None or ('"messages"' in text and "messages" not in body.message):
        return None  # there is more in it than an error: its blocks are read one by one
    return FoundError(name_error(body, status_in(text), None), 0.85)


def read_body_in_string(text: str) -> FoundError | None:
    """Read a body that is the text of a string, as the fields of a log's entry have it."""
    found = None if '"messages' in text or is_source(text) else error_in_string(text)
    return None if found is None else FoundError(name_error(found, status_in(text), None), 0.85)


def name_error(refusal: Refusal, status: int | None, name: str | None) -> Refusal:
    """Return an error with the status and the name that the words around it give, and its words as UTF-8."""
    status = refusal.status if refusal.status is not None else status
    return Refusal(status, as_utf8(refusal.message), refusal.field, refusal.code or name, refusal.output)


def _body_at_start(text: str) -> Refusal | None:
    """Return the body of an error that Python printed, with words or a traceback below it."""
    first = text.lstrip().partition("\n\n")[0]
    return error_of_value(python_value_at(first, 0)) if first.startswith("{'") else None


def _begins_with_other_json(text: str) -> bool:
    """Return whether a text begins with a whole JSON value that is not an error; errors that it quotes do not count."""
    if not text.lstrip().startswith(("{", "[")) or _STATUS_FIRST.match(text) is not None:
        return False
    try:
        value, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return False
    return bool(value) and error_of_value(value) is None


def _is_said_of_an_answer(text: str) -> bool:
    """Return whether a text says a sentence that is one client's alone, about what the model wrote."""
    known = recognise_error(text)
    return known is not None and known.error.is_distinctive and known.error.stage is Stage.CONTRACT


def _may_be_of_chat(text: str) -> bool:
    return status_in(text[:_MAX_HEAD]) is not None or "API" in text or is_about_chat(text)
