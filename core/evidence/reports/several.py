"""Two requests in one paste: how much of their beginning they share."""

from __future__ import annotations

from prompt_debugger.core.base.types import JSON, JSONObject


def note_on_second(first: JSON, second: JSON) -> str | None:
    """Return how far two requests agree, as one sentence; `None` if one of them is not a request."""
    requests = [value for one in (first, second) if (value := _request_of(one)) is not None]
    return shared_prefix(requests[0], requests[1]) if len(requests) == 2 else None


def _request_of(value: JSON) -> JSONObject | None:
    if not isinstance(value, dict):
        return None
    for found in (value, value.get("body")):
        if isinstance(found, dict) and isinstance(found.get("messages"), list):
            return found
    return None


def shared_prefix(first: JSONObject, second: JSONObject) -> str:
    """Return how far two requests agree, as one sentence: a prefix cache may serve the second one up to there."""
    ours, theirs = first.get("messages"), second.get("messages")
    ours, theirs = ours if isinstance(ours, list) else [], theirs if isinstance(theirs, list) else []
    shared = next(
        (at for at, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs))
    )
    tools = ""
    if first.get("tools") != second.get("tools"):
        tools = " Their `tools` differ, which most templates write before the messages."
    if shared == len(ours) == len(theirs):
        return f"The paste contains two requests with the same {shared} messages.{tools}"
    where = f"`messages[{shared}]`"
    if shared < min(len(ours), len(theirs)):
        where = _place_in(shared, ours[shared], theirs[shared])
    counted = f"their first {shared} message{'' if shared == 1 else 's'}" if shared else "no message"
    return f"The paste contains two requests; they share {counted} and differ from {where} on.{tools}"


def _place_in(index: int, first: JSON, second: JSON) -> str:
    if not isinstance(first, dict) or not isinstance(second, dict):
        return f"`messages[{index}]`"
    names = [name for name in {**first, **second} if first.get(name) != second.get(name)]
    name = names[0] if names else "content"
    ours, theirs = first.get(name), second.get(name)
    if isinstance(ours, str) and isinstance(theirs, str):
        pairs = enumerate(zip(ours, theirs, strict=False))
        at = next((place for place, (a, b) in pairs if a != b), min(len(ours), len(theirs)))
        return f"`messages[{index}].{name}`, character {at},"
    return f"`messages[{index}].{name}`"
