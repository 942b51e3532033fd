"""A HAR, what a browser's developer tools or a proxy save of the traffic → the `Evidence` of one chat request in it."""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import checked_row
from prompt_debugger.core.evidence.recognise import is_request
from prompt_debugger.core.evidence.taking import exchange_of
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.request import body_text, read_request


def read_har(text: str, row: int) -> Evidence:
    """Read one of the chat requests that a HAR recorded, with its answer.

    Args:
        text: The HAR, or entries of one.
        row: Which of its chat requests, from 1; other traffic is not counted.

    Raises:
        RequestError: It has no chat request, or none with this number.
    """
    value = json_of(text)
    log = value.get("log") if isinstance(value, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else value if isinstance(value, list) else [value]
    found = [one for entry in (entries if isinstance(entries, list) else []) if (one := _har_entry(entry)) is not None]
    if not found:
        raise RequestError(
            "The HAR contains no request with `messages` or `input`.", "Record the call itself, then save again."
        )
    body, answer = found[checked_row(row, len(found)) - 1]
    if answer:
        evidence = exchange_of(Form.HAR, body, answer)
    else:
        request = read_request(body_text(body))
        evidence = Evidence(Form.HAR, "a request without its response", request=request)
    return replace(evidence, form=Form.HAR, words=f"a HAR, {evidence.words}", row=row, rows=len(found))


def _har_entry(entry: JSON) -> tuple[JSONObject, str] | None:
    """Return body and answer of a recorded chat request, the answer "" if none was kept; `None` of other traffic."""
    asked, answered = (as_object(as_object(entry).get(name)) for name in ("request", "response"))
    posted = as_object(asked.get("postData")).get("text")
    body = json_of(posted) if isinstance(posted, str) else None
    if not isinstance(body, dict) or not is_request(body):
        return None
    content = as_object(answered.get("content"))
    text = content.get("text")
    answer = text if isinstance(text, str) else ""
    if content.get("encoding") == "base64":
        try:
            answer = base64.b64decode(answer).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            answer = ""
    return body, answer
