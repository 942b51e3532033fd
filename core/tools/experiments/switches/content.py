"""Switches for the content of messages: "" or null, text or parts, and whitespace at its edges."""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.tools.experiments.switches.switch import Edit, Switch, Topic, on_messages
from prompt_debugger.core.tools.experiments.variant import Variant

_TARGET = "content"


def content_switches(variant: Variant) -> Iterator[Switch]:
    """Yield other ways to say the same content; those that do not apply included."""
    del variant
    yield _switch("content-null", 'passes every content "" as null', _emptied_to_null)
    yield _switch("content-empty", 'passes every content null as ""', _null_to_empty)
    yield _switch("content-as-parts", "passes every content as a list with one text part", _text_to_parts)
    yield _switch("content-as-text", "joins the text parts of every content with line breaks", _parts_to_text)
    yield _switch("content-trimmed", "removes whitespace from both ends of every content", _trimmed)


def _switch(name: str, change: str, edit: Edit) -> Switch:
    return Switch(name, Topic.CONTENT, _TARGET, change, on_messages(edit))


def _emptied_to_null(message: JSONObject) -> JSONObject:
    return {**message, "content": None} if message.get("content") == "" else message


def _null_to_empty(message: JSONObject) -> JSONObject:
    return {**message, "content": ""} if "content" in message and message["content"] is None else message


def _text_to_parts(message: JSONObject) -> JSONObject:
    content = message.get("content")
    return {**message, "content": [{"type": "text", "text": content}]} if isinstance(content, str) else message


def _parts_to_text(message: JSONObject) -> JSONObject:
    content = message.get("content")
    texts = [_part_text(part) for part in content] if isinstance(content, list) else []
    known = [text for text in texts if text is not None]
    return {**message, "content": "\n".join(known)} if known and len(known) == len(texts) else message


def _part_text(part: JSON) -> str | None:
    if isinstance(part, str):
        return part
    text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
    return text if isinstance(text, str) else None


def _trimmed(message: JSONObject) -> JSONObject:
    content = message.get("content")
    return {**message, "content": content.strip()} if isinstance(content, str) else message
