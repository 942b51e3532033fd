"""Bodies of /v1/completions, of Ollama's raw /api/generate and of servers' own APIs: the prompt itself is sent."""

from __future__ import annotations

from prompt_debugger.core.base.json_values import as_text
from prompt_debugger.core.base.types import JSON, JSONObject, Request
from prompt_debugger.core.evidence.answers.native import prompt_of
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.request import body_text


def is_completions_body(value: JSONObject) -> bool:
    """Return whether a body has a prompt that the model reads as it is."""
    if "messages" in value or "input" in value or "contents" in value:
        return False
    if prompt_of(value) is not None:
        return True
    prompt = value.get("prompt")
    if "raw" in value or "template" in value or "system" in value:
        return value.get("raw") is True and isinstance(prompt, str)  # Ollama: else a template is put around it
    return isinstance(prompt, str | list) and not _is_ollama(value)


def _is_ollama(value: JSONObject) -> bool:
    return isinstance(value.get("options"), dict) or "keep_alive" in value or "think" in value


def completions_request(value: JSONObject) -> Evidence:
    """Return the evidence in such a body: the prompt, and the rest of the body as the request."""
    native = prompt_of(value)
    name_of_prompt = "prompt" if native is None else native[1]
    prompt, notes = _prompt_of(value.get(name_of_prompt))
    body: JSONObject = {name: item for name, item in value.items() if name != name_of_prompt}
    notes = ("A body of plain completions has a prompt instead of messages, so no chat template is rendered.", *notes)
    request = Request(body, body_text(body))
    return Evidence(Form.REQUEST, "a request for plain completions", request=request, prompt=prompt, notes=notes)


def _prompt_of(prompt: JSON) -> tuple[str | None, tuple[str, ...]]:
    if isinstance(prompt, str):
        return prompt, ()
    items = prompt if isinstance(prompt, list) else []
    if items and isinstance(items[0], str):
        return as_text(items[0]), (f"Only the first of {len(items)} prompts was read.",) if len(items) > 1 else ()
    return None, ("The prompt is a list of token ids; without the model's tokenizer its text is unknown.",)
