"""A collection that Postman exports: saved requests with the responses that were saved beside them.

    {"info": {"schema": "https://schema.getpostman.com/json/collection/…"},
     "item": [{"request": {"body": {"mode": "raw", "raw": "{…}"}}, "response": [{"code": 200, "body": "{…}"}]},
              {"name": "a folder", "item": […]}]}

A response may keep the request that it answered (`originalRequest`), which may differ from the one that is saved now.

Source: https://schema.postman.com/collection/json/v2.1.0/draft-07/docs/index.html, as of 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object, as_text, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader, checked_row
from prompt_debugger.core.evidence.recognise import is_request
from prompt_debugger.core.evidence.taking import exchange_of
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.request import body_text, read_request

_MAX_ITEMS = 5_000
_MAX_OTHERS = 10


def _finds(paste: Paste) -> float:
    value = as_object(paste.value)
    info = as_object(value.get("info"))
    is_collection = "_postman_id" in info or "postman" in (as_text(info.get("schema")) or "")
    return 0.96 if is_collection and isinstance(value.get("item"), list) else 0.0


def _read(paste: Paste) -> Evidence:
    found = list(_exchanges(as_object(paste.value)))
    if not found:
        raise RequestError(
            "The collection contains no request with `messages` or `input`.",
            "Save a response as an example beside the request, then export again.",
        )
    evidence = _read_one(found, checked_row(paste.row, len(found)))
    if paste.row > 1:
        return evidence
    others: list[Evidence] = []
    for row in range(2, min(len(found), _MAX_OTHERS + 1) + 1):
        with suppress(RequestError):
            others.append(_read_one(found, row))
    return replace(evidence, others=tuple(others))


def _read_one(found: list[tuple[JSONObject, str]], row: int) -> Evidence:
    body, answer = found[row - 1]
    if answer:
        evidence = exchange_of(Form.EXCHANGE, body, answer)
    else:
        evidence = Evidence(Form.EXCHANGE, "a request without its response", request=read_request(body_text(body)))
    words = f"a collection of Postman, {row} of {len(found):,}: {evidence.words}"
    return replace(evidence, words=words, row=row, rows=len(found))


def _exchanges(collection: JSONObject) -> Iterator[tuple[JSONObject, str]]:
    """Yield the chat requests of a collection and its folders, each with a response; "" where none was saved."""
    stack = list(reversed(objects_in(collection.get("item"))))
    for _ in range(_MAX_ITEMS):
        if not stack:
            return
        item = stack.pop()
        stack.extend(reversed(objects_in(item.get("item"))))
        saved = _body(item.get("request"))
        answers = objects_in(item.get("response"))
        for answer in answers:
            body = _body(answer.get("originalRequest")) or saved
            if body is not None:
                yield body, as_text(answer.get("body")) or ""
        if saved is not None and not answers:
            yield saved, ""


def _body(request: JSON) -> JSONObject | None:
    """Return the body of a saved request, if it is a chat request; else `None`."""
    written = as_object(as_object(request).get("body")).get("raw")
    body = json_of(written) if isinstance(written, str) else None
    return body if isinstance(body, dict) and is_request(body) else None


READER = Reader(Form.EXCHANGE, _finds, _read)
