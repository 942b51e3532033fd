"""The parts of a stream as Vercel's AI SDK hands them on (`fullStream`, UI messages), one object a line or in a list.

    {"type": "text-delta", "text": "Hi"}
    {"type": "tool-input-start", "id": "a", "toolName": "f"}     {"type": "tool-input-delta", "id": "a", "delta": "{"}
    {"type": "tool-call", "toolCallId": "a", "toolName": "f", "input": {}}
    {"type": "finish-step", "finishReason": "tool-calls"}

Source: https://ai-sdk.dev/docs/ai-sdk-core/generating-text#fullstream-property, as of 2026-11; older names as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import ChatResult, JSONObject
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.values.chat_messages import assistant_of, call_of
from prompt_debugger.core.evidence.values.framework_messages import REASONS
from prompt_debugger.core.evidence.values.json_of import json_lines, json_of

_OF_CALL = ("tool-call", "tool-input-start", "tool-input-delta", "tool-call-streaming-start", "tool-call-delta")
_OF_CALL_READY = ("tool-call", "tool-input-available")
_FINISH = ("finish-step", "finish", "step-finish")
_TEXT = ("text-delta", "text")
_NOTE = "The parts of the stream are those of Vercel's AI SDK, not the events that the server sent."


def _parts(paste: Paste) -> list[JSONObject]:
    values = paste.value if isinstance(paste.value, list) else [json_of(line) for line in json_lines(paste.text)]
    parts = [as_object(value) for value in values]
    return [as_object(part.get("part")) if part.get("type") == "part" else part for part in parts]


def _finds(paste: Paste) -> float:
    if isinstance(paste.value, dict):
        return 0.0
    parts = _parts(paste)
    kinds = [str(part.get("type", "")) for part in parts]
    if any(isinstance(part.get("delta"), dict) for part in parts):
        return 0.0  # an event of Cohere's, whose types have the same names
    is_stream = any(kind in _OF_CALL or kind in ("finish-step", "text-delta") for kind in kinds)
    return 0.9 if is_stream and all(kinds) else 0.0


def _read(paste: Paste) -> Evidence:
    parts = _parts(paste)
    message = assistant_of(_text(parts) or None, _calls(parts))
    reasons = [REASONS.get(str(part.get("finishReason"))) for part in parts if part.get("type") in _FINISH]
    if not message.get("tool_calls") and not message["content"] and not reasons:
        raise RequestError("The parts of the stream contain neither text nor a call.", "Paste all of them.")
    chat = ChatResult(message, reasons[0] if reasons else None)
    return Evidence(Form.ANSWER, "a stream as Vercel's AI SDK passes it on", chat=chat, notes=(_NOTE,))


def _text(parts: Sequence[JSONObject]) -> str:
    deltas = [part.get("text", part.get("delta", part.get("textDelta"))) for part in parts if part.get("type") in _TEXT]
    return "".join(one for one in deltas if isinstance(one, str))


def _calls(parts: Sequence[JSONObject]) -> list[JSONObject]:
    """Return the calls, of those that were never handed on whole what had come."""
    names: dict[str, str] = {}
    written: dict[str, str] = {}
    whole: dict[str, JSONObject] = {}
    for part in parts:
        kind, call_id = part.get("type"), str(part.get("toolCallId", part.get("id")))
        if kind in _OF_CALL_READY:
            names.setdefault(call_id, str(part.get("toolName")))
            whole[call_id] = call_of(part.get("toolName"), part.get("input", part.get("args")), call_id)
        elif kind in _OF_CALL:
            if part.get("toolName"):
                names.setdefault(call_id, str(part["toolName"]))
            delta = part.get("delta", part.get("inputTextDelta", part.get("argsTextDelta")))
            written[call_id] = written.get(call_id, "") + (delta if isinstance(delta, str) else "")
    return [whole.get(one) or call_of(name, written.get(one, ""), one) for one, name in names.items()]


READER = Reader(Form.ANSWER, _finds, _read)
