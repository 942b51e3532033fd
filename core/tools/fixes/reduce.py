"""Make a request as small as it goes while a question about it keeps its answer: delta debugging.

Messages first, then tools, then the properties of tools, then other fields, then texts. Where
leaving out half of a list loses the answer, smaller parts are tried.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

from prompt_debugger.core.base.json_values import as_object, replace_at
from prompt_debugger.core.base.types import JSON, JSONObject

Question = Callable[[JSONObject], Awaitable[bool]]
_T = TypeVar("_T")
_NEEDED = frozenset({"messages", "model", "seed", "temperature"})  # the last two make runs alike, or as unlike
_MIN_TEXT = 16  # characters that are not worth a question


def size_of(body: JSONObject) -> int:
    """Return how many characters a request has as JSON."""
    return len(json.dumps(body, ensure_ascii=False))


async def reduce_request(body: JSONObject, holds: Question) -> JSONObject:
    """Return a smaller request for which the question is still answered yes; the request itself if nothing can go.

    The question may say no whenever it has been asked enough.
    """
    while True:
        before = size_of(body)
        body = await _reduce_list(body, ("messages",), holds)
        body = await _reduce_list(body, ("tools",), holds)
        for path in list(_property_places(body)):
            body = await _reduce_keys(body, path, holds)
        body = await _reduce_keys(body, (), holds)
        for path in list(_texts(body)):
            body = await _reduce_text(body, path, holds)
        if size_of(body) >= before:
            return body


async def _reduce_list(body: JSONObject, path: tuple[str | int, ...], holds: Question) -> JSONObject:
    items = _at(body, path)
    if not isinstance(items, list) or not items:
        return body

    async def ask(kept: list[JSON]) -> bool:
        return bool(kept or path != ("messages",)) and await holds(_replace_at(body, path, list(kept)))

    kept = await least(items, ask)
    return _replace_at(body, path, list(kept)) if len(kept) < len(items) else body


async def _reduce_keys(body: JSONObject, path: tuple[str | int, ...], holds: Question) -> JSONObject:
    place = _at(body, path)
    if not isinstance(place, dict):
        return body
    fixed = _NEEDED if not path else frozenset()
    free = [key for key in place if key not in fixed]

    def made(keys: list[str]) -> JSONObject:
        return _replace_at(body, path, {key: value for key, value in place.items() if key in fixed or key in keys})

    async def ask(keys: list[str]) -> bool:
        return await holds(made(keys))

    kept = await least(free, ask)
    return made(kept) if len(kept) < len(free) else body


async def _reduce_text(body: JSONObject, path: tuple[str | int, ...], holds: Question) -> JSONObject:
    text = _at(body, path)
    while isinstance(text, str) and len(text) > _MIN_TEXT:
        shorter = text[: len(text) // 4]
        if not await holds(_replace_at(body, path, shorter)):
            shorter = text[: len(text) // 2]
            if not await holds(_replace_at(body, path, shorter)):
                break
        body, text = _replace_at(body, path, shorter), shorter
    return body


async def least(items: list[_T], holds: Callable[[list[_T]], Awaitable[bool]]) -> list[_T]:
    """Return some of the items for which `holds` is still true, and not without any one of them."""
    if not items or await holds([]):
        return []
    parts = 2
    while len(items) > 1:
        size = -(-len(items) // parts)
        for start in range(0, len(items), size):
            rest = items[:start] + items[start + size :]
            if rest and await holds(rest):
                items, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                return items
            parts = min(parts * 2, len(items))
    return items


def _property_places(body: JSONObject) -> Iterator[tuple[str | int, ...]]:
    tools = body.get("tools")
    for index in range(len(tools)) if isinstance(tools, list) else ():
        yield ("tools", index, "function", "parameters", "properties")
        yield ("tools", index, "function", "parameters")
        yield ("tools", index, "function")


def _texts(value: JSON, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the places of contents and descriptions."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str) and key in ("content", "text", "description"):
                yield (*path, key)
            else:
                yield from _texts(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, (*path, index))


def _at(value: JSON, path: tuple[str | int, ...]) -> JSON:
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _replace_at(body: JSONObject, path: tuple[str | int, ...], new: JSON) -> JSONObject:
    return as_object(replace_at(body, path, new))
