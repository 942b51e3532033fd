"""Bodies of other APIs (Responses, Messages, Gemini, Converse, Ollama), by their shape, as chat completion bodies.

What a chat completion has no place for is left out and said, one notice for each; nothing goes silently.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from prompt_debugger.core.base.json_values import objects_in
from prompt_debugger.core.base.types import Api, JSONObject, Notice
from prompt_debugger.core.request.anthropic_body import convert_anthropic, is_anthropic_body
from prompt_debugger.core.request.bedrock_body import convert_converse, is_converse_body
from prompt_debugger.core.request.body_work import BodyWork
from prompt_debugger.core.request.gemini_body import convert_gemini, is_gemini_body
from prompt_debugger.core.request.ollama_body import convert_ollama, is_ollama_body
from prompt_debugger.core.request.responses_body import convert_responses, is_responses_body

MODEL_LEFT_OUT = "The model's name is not in the snippet: it is left out, and a run uses the target's model."


class Converted(NamedTuple):
    """A body of another API as one of chat completions.

    Attributes:
        body: The chat completion body.
        notices: What was changed or left out.
        api: The API that the body was of, where this program asks servers by it.
        origins: By path of `body`, where in the other body that comes from, as far as it was followed.
    """

    body: JSONObject
    notices: tuple[Notice, ...]
    api: Api = Api.CHAT
    origins: Mapping[str, str] = MappingProxyType({})

    def place_of(self, field: str) -> str:
        """Return where in the other body a field of `body` is; the field itself where that was not followed."""
        return place_in(self.origins, field) or field


def place_in(places: Mapping[str, str], field: str) -> str | None:
    """Return where a field is by the places of what it is part of; `None` if they do not show it.

    >>> place_in({"messages[1]": "input[4]"}, "messages[1].content")
    'input[4].content'
    """
    known = [path for path in places if field == path or field.startswith((f"{path}.", f"{path}["))]
    longest = max(known, key=len, default=None)
    return None if longest is None else places[longest] + field[len(longest) :]


def convert_body(value: JSONObject) -> Converted | None:
    """Return a body of another API as a chat completion body; `None` if it is of no other API that is known."""
    if is_responses_body(value):
        return _converted("OpenAI Responses", value, convert_responses)._replace(api=Api.RESPONSES)
    if is_converse_body(value):
        return _converted("Bedrock's Converse API", value, convert_converse)
    if is_anthropic_body(value):
        return _converted("Anthropic Messages", value, convert_anthropic)._replace(api=Api.MESSAGES)
    if is_gemini_body(value):
        return _converted("Gemini's generateContent", value, convert_gemini)._replace(api=Api.GEMINI)
    if is_ollama_body(value):
        return _converted("Ollama's own API", value, convert_ollama)
    return None


def convert_as(api: Api | None, value: JSONObject) -> Converted | None:
    """Return the same of a body that is known by its address or its call; `None` if it is known to be of another."""
    converted = convert_body(value)
    if converted is not None or api is not Api.MESSAGES or _is_of_chat(value):
        return converted
    return _converted("Anthropic Messages", value, convert_anthropic)._replace(api=api)


def _is_of_chat(value: JSONObject) -> bool:
    """Return whether a body has what only chat completions have; one without can be of Messages as well."""
    messages = objects_in(value.get("messages"))
    has_roles = any(one.get("role") not in ("user", "assistant") or "tool_calls" in one for one in messages)
    return not messages or has_roles or any("function" in tool for tool in objects_in(value.get("tools")))


def _converted(api: str, value: JSONObject, convert: Callable[[JSONObject, BodyWork], None]) -> Converted:
    work = BodyWork()
    convert(value, work)
    body: JSONObject = {}
    if "model" in value:
        body["model"] = value["model"]
    body = {**body, "messages": work.messages, **work.body}
    lost = "nothing was left out" if not work.lost else "what does not exist there is listed below"
    notice = Notice("", f"This is a body of {api}; it was read as a chat completion: {lost}.")
    return Converted(body, (notice, *work.lost), origins=work.origins)
