"""The JSON of answers, short or long; what it means is read elsewhere (`answers`, `backends`)."""

from __future__ import annotations

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.complete.backends.limits import MAX_ITEMS
from prompt_debugger.core.complete.reading import NOT_JSON, READING
from prompt_debugger.core.complete.shapes import parse_json
from prompt_debugger.core.sandbox import job


@job("reading the server's answer", READING)
def read_json(text: str) -> JSON:
    """Return the JSON of an answer that a server gives to one of our questions.

    Raises:
        BackendError: It is not JSON, or has more items than any such answer (kind `not-json`).
    """
    if text.count(",") > MAX_ITEMS:
        raise BackendError(f"More than {MAX_ITEMS:,} items.", kind=NOT_JSON)
    return json_of_text(text)


def json_of_text(text: str) -> JSON:
    """Return the JSON of an answer.

    Raises:
        BackendError: It is not JSON (kind `not-json`).
    """
    try:
        return parse_json(text)
    except ValueError as error:
        raise BackendError(str(error), kind=NOT_JSON) from None
