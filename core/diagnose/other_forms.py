"""Answers that are whole in the form of another API: a body of Anthropic, Ollama, Gemini, or one in a wrapper."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.diagnose.fields import decode_json

_WRAPPERS = ("result", "data", "response", "body", "output")
_MOST_LINES = 20


def other_form(body: str) -> str | None:
    """Return what a body is that is no chat completion, in words; `None` if it is one, an error, or nothing known.

    >>> other_form('{"type": "message", "content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn"}')
    "an answer of Anthropic's Messages API"
    >>> other_form('{"result": {"choices": []}, "success": true}')
    'a chat completion inside `result`'
    """
    values = [as_object(decode_json(body))]
    if not values[0]:
        lines = [line.strip().removeprefix("data:") for line in body.splitlines()[:_MOST_LINES]]
        values = [as_object(decode_json(line)) for line in lines if line.strip().startswith("{")]
    return next((form for value in values if (form := _form_of(value)) is not None), None)


def _form_of(value: JSONObject) -> str | None:
    if not value or value.get("error") or "choices" in value:
        return None
    name = next((name for name, is_it in _FORMS.items() if is_it(value)), None)
    if name is not None:
        return name
    wrapper = next((key for key in _WRAPPERS if isinstance(as_object(value.get(key)).get("choices"), list)), None)
    return None if wrapper is None else f"a chat completion inside `{wrapper}`"


def _is_anthropic(value: JSONObject) -> bool:
    is_whole = value.get("type") == "message" and isinstance(value.get("content"), list)
    return is_whole or (value.get("type") == "message_start" and isinstance(value.get("message"), dict))


def _is_ollama(value: JSONObject) -> bool:
    has_text = isinstance(value.get("message"), dict) or isinstance(value.get("response"), str)
    return has_text and isinstance(value.get("done"), bool)


def _is_responses(value: JSONObject) -> bool:
    is_event = _starts(value.get("type"), "response.") and isinstance(value.get("response"), dict)
    return is_event or (value.get("object") == "response" and isinstance(value.get("output"), list))


def _is_gemini(value: JSONObject) -> bool:
    candidates = value.get("candidates")
    return isinstance(candidates, list) and any(isinstance(one, dict) and "content" in one for one in candidates)


def _starts(value: JSON, prefix: str) -> bool:
    return isinstance(value, str) and value.startswith(prefix)


_FORMS: Mapping[str, Callable[[JSONObject], bool]] = {
    "an answer of Anthropic's Messages API": _is_anthropic,
    "an answer of Ollama's own API": _is_ollama,
    "an answer of OpenAI's Responses API": _is_responses,
    "an answer of Gemini's generateContent": _is_gemini,
}
