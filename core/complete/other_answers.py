"""Where the parts of a message are in the answer of another API that it was read from."""

from __future__ import annotations

from collections import Counter

from prompt_debugger.core.base.json_values import as_count, as_object, as_text, objects_in
from prompt_debugger.core.base.types import Api, JSONObject
from prompt_debugger.core.complete.dialects._received import objects_of_stream
from prompt_debugger.core.complete.shapes import parse_object

_PARTS = {  # by kind of item or block: the part of the message, where it is in the item, and its arguments
    "message": ("content", ".content[0].text"),
    "reasoning": ("reasoning", ".content[0].text"),
    "text": ("content", ".text"),
    "thinking": ("reasoning", ".thinking"),
}
_CALLS = {"function_call": "arguments", "custom_tool_call": "input", "tool_use": "input"}


def answer_paths(api: Api, body: str) -> dict[str, str]:
    """Return, by path of the message, where that is in the answer of another API, whole or streamed."""
    if api is Api.GEMINI:
        return _gemini_paths(body)
    holder = "output" if api is Api.RESPONSES else "content"
    answer = parse_object(body) if body.lstrip().startswith("{") else _read_stream(body, holder)
    paths: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for index, item in enumerate(objects_in(answer.get(holder))):
        kind, place = as_text(item.get("type")) or "", f"{holder}[{index}]"
        if kind in _CALLS:
            at = f"tool_calls[{seen['call']}]"
            seen["call"] += 1
            paths |= {at: place, f"{at}.function": place, f"{at}.function.arguments": f"{place}.{_CALLS[kind]}"}
        elif kind in _PARTS:
            part, within = _PARTS[kind]
            paths.setdefault(part, place + within)
    return paths


def _gemini_paths(body: str) -> dict[str, str]:
    """Return the same of Gemini's parts; a stream has its parts in several answers, which have no common places."""
    candidates = objects_in(parse_object(body).get("candidates")) if body.lstrip().startswith("{") else ()
    parts = objects_in(as_object(candidates[0].get("content")).get("parts")) if candidates else ()
    paths: dict[str, str] = {}
    count = 0
    for index, part in enumerate(parts):
        place = f"candidates[0].content.parts[{index}]"
        if "functionCall" in part:
            at, call = f"tool_calls[{count}]", f"{place}.functionCall"
            count += 1
            paths |= {at: call, f"{at}.function": call, f"{at}.function.arguments": f"{call}.args"}
        elif "text" in part:
            paths.setdefault("reasoning" if part.get("thought") is True else "content", f"{place}.text")
    return paths


def _read_stream(text: str, holder: str) -> JSONObject:
    """Return the answer that a stream ends with, or its blocks as they began."""
    blocks: dict[int, JSONObject] = {}
    for value in objects_of_stream(text):
        response = as_object(value.get("response"))
        if response.get(holder):
            return response
        if (block := as_object(value.get("content_block"))) and (index := as_count(value.get("index"))) is not None:
            blocks[index] = block
    return {holder: [blocks[index] for index in sorted(blocks)]}
