r"""Messages that were copied out of a list without its brackets, or one with the comma after it.

    {"role": "assistant", …},                    {
    {"role": "tool", …}                              role: 'tool',
                                                     tool_call_id: 'call_1',
                                                 },

They are the middle of a conversation: what came before and after them is unknown.
"""

from __future__ import annotations

from prompt_debugger.core.base.comparable import REQUEST_GAP
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_list, as_object
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.values.json_of import json_values, lenient_json_of
from prompt_debugger.core.request import body_text, read_request

_MAX_CHARS = 200_000
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_NOTE = "These are messages from the middle of a conversation; the others were not copied."

_WITHOUT_FUNCTION = "A call without the field `function` was read as one with an empty name."


def _finds(paste: Paste) -> float:
    return 0.75 if paste.value is None and _messages(paste.text) else 0.0


def _messages(text: str) -> list[JSON]:
    """Return the messages that a text is; none where it is anything else, or messages of one role alone."""
    text = text.strip()
    is_ended = text.endswith(",")
    inner = text.rstrip(", \t\r\n")
    if len(text) > _MAX_CHARS or not inner.startswith("{") or not inner.endswith("}") or "role" not in inner:
        return []
    values = json_values(inner)
    if not values and is_ended:
        found = lenient_json_of(f"[{inner}]")
        values = found[0] if found is not None and isinstance(found[0], list) else []
    roles = {str(value.get("role")) if isinstance(value, dict) else None for value in values}
    are_messages = bool(values) and all(isinstance(role, str) and role in _ROLES for role in roles)
    is_several = len(roles) > 1 or (len(values) == 1 and is_ended and roles != {"assistant"})
    return values if are_messages and is_several else []


def _read(paste: Paste) -> Evidence:
    messages = _messages(paste.text)
    if not messages:
        raise RequestError("The text contains no messages.", "Paste the list of messages, or the request's body.")
    notes = [REQUEST_GAP, _NOTE] if as_object(messages[0]).get("role") == "tool" else [_NOTE]
    for message in messages:
        for call in as_list(as_object(message).get("tool_calls")):
            if isinstance(call, dict) and not isinstance(call.get("function"), dict):
                call["function"] = {"name": "", "arguments": ""}
                notes.append(_WITHOUT_FUNCTION)
    request = read_request(body_text({"messages": messages}))
    return Evidence(Form.REQUEST, "messages of a conversation", request=request, notes=tuple(dict.fromkeys(notes)))


READER = Reader(Form.REQUEST, _finds, _read)
