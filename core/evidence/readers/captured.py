"""What `capture` wrote of a stream that broke off: the request, and the answer as far as it came.

    {"id": 3, "captured": {"streamed": true, "error": "…: the answer broke off", …}, "request": {…}, "partial": {…}}

A client that leaves before the end is no fault of the server: then only the request is judged, and a note says so.
"""

from __future__ import annotations

from dataclasses import replace

from prompt_debugger.core.base.errors import shorten
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import ChatResult, JSONObject
from prompt_debugger.core.evidence.answers.read import read_answer
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import add_answer
from prompt_debugger.core.request import body_text, read_request

_MAX_BEGUN = 200  # characters of an event that was cut
_OF_CLIENT = "the client disconnected"
_LEFT = "The client disconnected before the end of the answer, which is therefore not judged."


def _finds(paste: Paste) -> float:
    value = as_object(paste.value)
    facts = as_object(value.get("captured"))
    is_cut = facts.get("streamed") is True and bool(_text_in(facts, "error") or _text_in(facts, "answer_excerpt"))
    return 0.97 if is_cut and isinstance(value.get("request"), dict) and "response" not in value else 0.0


def _read(paste: Paste) -> Evidence:
    value = as_object(paste.value)
    facts = as_object(value.get("captured"))
    error, seconds = _text_in(facts, "error"), facts.get("duration_s")
    request = read_request(body_text(as_object(value.get("request"))))
    asked = Evidence(Form.EXCHANGE, "a captured request", request=request)
    begun_event = _begun_in(facts)
    if error.startswith(_OF_CLIENT):
        return replace(asked, form=Form.REQUEST, notes=(_LEFT, *begun_event))
    if not error:
        return replace(asked, form=Form.REQUEST, notes=begun_event)
    partial = value.get("partial")
    begun = add_answer(asked, read_answer(partial)) if isinstance(partial, dict) and partial else asked
    message: JSONObject = {}
    chat = begun.chat or ChatResult(message, None)
    elapsed_s = float(seconds) if isinstance(seconds, int | float) else 0.0
    chat = replace(chat, finish_reason=None, error=". ".join((error, *begun_event)), elapsed_s=elapsed_s)
    words = "a captured request and an answer that broke off"
    return replace(begun, words=words, chat=chat, finish_reason=None, notes=begun_event)


def _text_in(facts: JSONObject, key: str) -> str:
    value = facts.get(key)
    return value if isinstance(value, str) else ""


def _begun_in(facts: JSONObject) -> tuple[str, ...]:
    """Return as a note what came of a stream without a complete event."""
    begun = _text_in(facts, "answer_excerpt")
    return (f"No event of the stream is whole; it begins with: {shorten(begun, _MAX_BEGUN)}",) if begun else ()


READER = Reader(Form.EXCHANGE, _finds, _read)
