"""Answers that are complete in the form of another API: a body of Anthropic, Ollama, Gemini, or one in a wrapper."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prompt_debugger.core.base.json_values import as_object, decode_json
from prompt_debugger.core.base.types import JSON, JSONObject

COMPLETION = "an answer of the raw completions API"
_WRAPPERS = ("result", "data", "response", "body", "output")
_MAX_LINES = 20


def other_form(body: str) -> str | None:
    """Return what a body is instead of a chat completion, in words; `None` if it is one, an error, or nothing known.

    >>> other_form('{"type": "message", "content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn"}')
    "an answer of Anthropic's Messages API"
    >>> other_form('{"result": {"choices": []}, "success": true}')
    'a chat completion inside `result`'
    >>> other_form('{"object": "text_completion", "choices": [{"index": 0, "text": "Hi."}]}')
    'an answer of the raw completions API'
    """
    values = [as_object(decode_json(body))]
    if not values[0]:
        lines = [line.strip().removeprefix("data:") for line in body.splitlines()[:_MAX_LINES]]
        values = [as_object(decode_json(line)) for line in lines if line.strip().startswith("{")]
    return next((form for value in values if (form := _form_of(value)) is not None), None)


def is_read_when_pasted(form: str) -> bool:
    """Return whether this program reads an answer of that form when it is pasted."""
    return form not in _UNREAD


def _form_of(value: JSONObject) -> str | None:
    if not value or value.get("error"):
        return None
    if "choices" in value:
        return COMPLETION if _is_completion(value) else None
    name = next((name for name, is_it in {**_FORMS, **_UNREAD}.items() if is_it(value)), None)
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


def _is_completion(value: JSONObject) -> bool:
    choices = value.get("choices")
    first = as_object(choices[0]) if isinstance(choices, list) and choices else {}
    return isinstance(first.get("text"), str) and "message" not in first and "delta" not in first


def _is_cohere(value: JSONObject) -> bool:
    is_begun = value.get("type") == "message-start" and "message" in as_object(value.get("delta"))
    return is_begun or (isinstance(value.get("message"), dict) and isinstance(value.get("finish_reason"), str))


def _is_first_cohere(value: JSONObject) -> bool:
    return "generation_id" in value and isinstance(value.get("text"), str)


def _is_converse(value: JSONObject) -> bool:
    return "message" in as_object(value.get("output")) and "stopReason" in value


def _is_workers_ai(value: JSONObject) -> bool:
    return "response" in as_object(value.get("result"))


def _is_sglang(value: JSONObject) -> bool:
    return "text" in value and isinstance(value.get("meta_info"), dict)


def _starts(value: JSON, prefix: str) -> bool:
    return isinstance(value, str) and value.startswith(prefix)


_FORMS: Mapping[str, Callable[[JSONObject], bool]] = {
    "an answer of Anthropic's Messages API": _is_anthropic,
    "an answer of Ollama's own API": _is_ollama,
    "an answer of OpenAI's Responses API": _is_responses,
    "an answer of Gemini's generateContent": _is_gemini,
    "an answer of Bedrock's Converse API": _is_converse,
    "an answer of Workers AI's own API": _is_workers_ai,
    "an answer of Cohere's chat API": _is_cohere,
}
_UNREAD: Mapping[str, Callable[[JSONObject], bool]] = {
    "an answer of the first version of Cohere's API": _is_first_cohere,
    "an answer of SGLang's own `/generate`": _is_sglang,
    "an answer of Triton's `generate`": lambda value: "text_output" in value,
}
