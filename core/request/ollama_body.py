"""Bodies of Ollama's /api/chat and /api/generate as chat completion bodies.

Source: https://docs.ollama.com/api, as of 2026-10.
"""

from __future__ import annotations

from prompt_debugger.core.base.json_values import as_object, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.request.body_work import BodyWork, CallIds

_OWN = ("options", "keep_alive", "think", "format")
_OF_GENERATE = (*_OWN, "system", "template", "raw", "context", "suffix")
_OF_OTHERS = (
    *("input", "contents", "response_format", "max_tokens", "max_completion_tokens", "temperature", "top_p", "seed"),
    *("tool_choice", "n", "logprobs", "chat_template_kwargs", "extra_body", "stop", "stop_token_ids"),
)
_OPTIONS = {
    "num_predict": "max_tokens",
    "repeat_penalty": "repetition_penalty",
    **{name: name for name in ("temperature", "top_p", "top_k", "min_p", "seed", "stop")},
    **{name: name for name in ("presence_penalty", "frequency_penalty")},
}


def is_ollama_body(value: JSONObject) -> bool:
    """Return whether a body is for Ollama's own API: it has a field or a message as only that has."""
    if any(name in value for name in _OF_OTHERS):
        return False
    messages = value.get("messages")
    if not isinstance(messages, list):
        return isinstance(value.get("prompt"), str) and any(name in value for name in _OF_GENERATE)
    if isinstance(value.get("options"), dict) or any(name in value for name in ("keep_alive", "think", "format")):
        return True
    return any("tool_name" in message or isinstance(message.get("images"), list) for message in objects_in(messages))


def convert_ollama(value: JSONObject, work: BodyWork) -> None:
    """Make a chat completion body of a body of Ollama's."""
    if isinstance(value.get("messages"), list):
        _messages(value["messages"], work)
    else:
        if isinstance(value.get("system"), str):
            work.add_message("system", value["system"])
        work.add_message("user", value.get("prompt"))
    for name, option in value.items():
        if name not in ("model", "messages", "prompt", "system"):
            _field(name, option, work)


def _messages(messages: JSON, work: BodyWork) -> None:
    ids = CallIds()
    for index, message in enumerate(objects_in(messages)):
        role, content = str(message.get("role", "user")), message.get("content")
        if role == "tool":
            call_id = ids.of_result(message.get("tool_name") or message.get("name"), message.get("tool_call_id"))
            work.messages.append({"role": "tool", "tool_call_id": call_id, "content": content})
            continue
        work.add_message(role, _add_images(content, message, index, work))
        if isinstance(message.get("thinking"), str) and isinstance(work.messages[-1], dict):
            work.messages[-1]["reasoning"] = message["thinking"]
        for call in objects_in(message.get("tool_calls")):
            function = as_object(call.get("function"))
            call_id = ids.of_call(function.get("name"), call.get("id"))
            work.add_call(call_id, function.get("name"), function.get("arguments", {}))
    if ids.made:
        work.note_loss("messages", "Ollama's calls have no ids; `call_0`, `call_1` … were added, in order.")


def _add_images(content: JSON, message: JSONObject, index: int, work: BodyWork) -> JSON:
    images = message.get("images")
    if not isinstance(images, list) or not images:
        return content
    work.note_loss(f"messages[{index}].images", "Images were read as content parts.")
    parts: list[JSON] = [{"type": "text", "text": content}] if content else []
    for image in images:
        url: JSONObject = {"url": f"data:image/png;base64,{image}"}
        parts.append({"type": "image_url", "image_url": url})
    return parts


def _field(name: str, option: JSON, work: BodyWork) -> None:
    if name == "format" and option:
        work.note_loss(name, "`format` was read as `response_format`.")
    match name:
        case "options":
            _options(as_object(option), work)
        case "tools" | "stream":
            work.body[name] = option
        case "format" if option == "json":
            work.body["response_format"] = {"type": "json_object"}
        case "format" if isinstance(option, dict):
            schema: JSONObject = {"name": "answer", "schema": option}
            work.body["response_format"] = {"type": "json_schema", "json_schema": schema}
        case "format" if isinstance(option, str) and option.lstrip().startswith("{"):
            schema = {"name": "answer", "schema": option}  # a schema as a text, which a rule reports
            work.body["response_format"] = {"type": "json_schema", "json_schema": schema}
        case "think":
            work.body["chat_template_kwargs"] = {"enable_thinking": bool(option)}
            work.note_loss("think", "`think` was read as the template's `enable_thinking`; some name it differently.")
        case _ if option not in (None, "", False, []):
            work.note_no_place(name, f"`{name}`")
        case _:
            pass


def _options(options: JSONObject, work: BodyWork) -> None:
    for name, value in options.items():
        if name in _OPTIONS:
            work.body[_OPTIONS[name]] = value
        elif name == "num_ctx":
            work.note_loss("options.num_ctx", f"`num_ctx`, a context of {value} tokens, is a setting of the server.")
        else:
            work.note_no_place(f"options.{name}", f"`{name[:40]}`")
