"""A fragment of JSON: begun inside an object, cut, or with `...` where something was left out.

...
"tool_calls": [{"id": "0", "type": "function", "function": {"name": "f", "arguments": {}}}],
...
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.answers.read import events_in_list, is_answer, read_answer, refusal_of
from prompt_debugger.core.evidence.answers.shapes import is_called_function
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.recognise import MARKER, answer_in, request_in
from prompt_debugger.core.evidence.taking import add_answer, as_part
from prompt_debugger.core.evidence.values.json_fragment import Recovered, begins_inside, recover
from prompt_debugger.core.evidence.values.json_of import json_lines, json_of, lenient_json_of
from prompt_debugger.core.request import body_text, read_request

_SHORTENED = re.compile(r'"(?:\.{3}|…)"|[\[{,:]\s{0,9}(?:\.{3}|…)')
_IN_MESSAGE = ("tool_calls", "content", "reasoning", "reasoning_content", "message", "finish_reason")


def _finds(paste: Paste) -> float:
    return 0.0 if paste.value is not None or _read_of(paste.text) is None else 0.5


def _read(paste: Paste) -> Evidence:
    evidence = _read_of(paste.text)
    if evidence is None:
        raise RequestError(
            "The fragment contains nothing that was recognized.", "Copy a whole message, answer or request."
        )
    return evidence


@lru_cache(maxsize=4)
def _read_of(text: str) -> Evidence | None:
    start = text.lstrip("\ufeff \t\r\n\u200b")
    is_inside = begins_inside(start)
    if not is_inside and not start.startswith(("{", "[", "...", "…")):
        return None
    if start.startswith("data:"):
        return None  # an event of a stream
    if not is_inside and (json_lines(text) or lenient_json_of(text) is not None):
        return None
    if not is_inside and MARKER.match(start) is not None:
        return None  # an output, one of whose arguments has such a name
    if is_inside and (calls := _lone_calls(start)) is not None:
        return calls
    found = recover(start)
    if found is None:
        return None
    try:
        return _evidence_of(found)
    except RequestError:
        return None


def _lone_calls(text: str) -> Evidence | None:
    """Return the calls of a message, of which nothing else was copied: they are whole."""
    value = as_object(json_of("{" + text.strip().rstrip(",") + "}")) if text.startswith('"tool_calls"') else {}
    calls = value.get("tool_calls")
    if value.keys() != {"tool_calls"} or not isinstance(calls, list) or _SHORTENED.search(text) is not None:
        return None
    if not calls or not all(isinstance(as_object(call).get("function"), dict) for call in calls):
        return None
    whole = Evidence(Form.FRAGMENT, "the calls of a message", notes=("Only the calls of the message were copied.",))
    return add_answer(whole, as_part(read_answer({"role": "assistant", **value})))


def _evidence_of(found: Recovered) -> Evidence | None:
    value = _reshape(_unwrapped(found.value))
    whole = Evidence(Form.FRAGMENT, "a fragment of JSON", notes=found.notes)
    if isinstance(value, list) and events_in_list(value) is not None:
        return add_answer(replace(whole, words="a fragment of a stream"), as_part(read_answer(value)))
    if is_answer(value):
        return add_answer(replace(whole, words="a fragment of an answer"), as_part(read_answer(value)))
    is_error = isinstance(value, dict) and value.get("error") and not isinstance(value["error"], bool)
    if is_error and isinstance(value, dict) and found.is_begun_inside:
        return replace(whole, words="a fragment of an error", error=refusal_of(value))
    is_request = isinstance(value, dict) and isinstance(value.get("messages"), list) and value["messages"]
    if is_request and isinstance(value, dict) and (found.is_begun_inside or found.has_elisions):
        body = _drop_halves(value) if found.has_elisions else value
        return replace(whole, words="a fragment of a request", request=read_request(body_text(body)))
    return None


def _unwrapped(value: JSON) -> JSON:
    """Return the answer in an object that contains nothing else of a run: `{"response": {…}}`."""
    inner = answer_in(value) if isinstance(value, dict) and request_in(value) is None else None
    return value if inner is None else inner


def _reshape(value: JSON) -> JSON:
    """Return a fragment as what it most likely is a part of; what is none of that stays as it is."""
    if isinstance(value, list):
        objects = [item for item in value if isinstance(item, dict) and not is_called_function(item)]
        shaped = next((item for item in objects if is_answer(_reshape(item))), None)
        return value if shaped is None or events_in_list(value) is not None else _reshape(shaped)
    parts = value.get("content") if isinstance(value, dict) else None
    if isinstance(value, dict) and isinstance(parts, list):
        value = {**value, "content": [part for part in parts if not _is_half_call(part)]}
    if not isinstance(value, dict) or is_answer(value) or "messages" in value:
        return value
    if value.get("role", "assistant") not in ("assistant", "model", None):
        return value  # a message that was sent
    for name, item in value.items():
        if name.lower().endswith("messages") and isinstance(item, list) and item and is_answer(item[-1]):
            return _reshape(item[-1])
    known: JSONObject = {name: value[name] for name in _IN_MESSAGE if name in value}
    if isinstance(known.get("message"), dict):
        return {"choices": known}
    if {"tool_calls", "content", "reasoning_content"} & known.keys():
        return {"role": "assistant", **known}
    return value


def _drop_halves(body: JSONObject) -> JSONObject:
    """Return a request without tools that lost their names, and without a history whose calls lost a part."""
    body = dict(body)
    if not all(as_object(as_object(tool).get("function")).get("name") for tool in objects_in(body.get("tools"))):
        del body["tools"]
    messages = objects_in(body.get("messages"))
    calls = [call for message in messages for call in objects_in(message.get("tool_calls"))]
    if not all("arguments" in as_object(call.get("function")) for call in calls):
        body["messages"] = [one for one in messages if one.get("role") in ("system", "developer", "user")]
    return body


def _is_half_call(part: JSON) -> bool:
    return isinstance(part, dict) and part.get("type") == "tool_use" and "input" not in part


READER = Reader(Form.FRAGMENT, _finds, _read)
