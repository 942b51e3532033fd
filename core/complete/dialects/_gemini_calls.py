"""Gemini's calls in a stream, each of them whole or in pieces that say where in the arguments a value belongs."""

from __future__ import annotations

import re

from prompt_debugger.core.base.json_values import as_object, as_text, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete.dialects.base import StreamDraft

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)*)'\]")
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")
_MAX_STEPS = 40
_MAX_GAP = 1_000  # entries that a list may lack before the one that is set


class CallsInPieces:
    """The calls of one stream; `count` is how many have begun."""

    def __init__(self) -> None:
        self.count = 0
        self._begun: JSONObject | None = None
        self._arguments: JSON = {}

    def take(self, call: JSONObject, draft: StreamDraft) -> None:
        """Take a `functionCall`: a whole call, or the first, a further or the last piece of one."""
        goes_on = _field(call, "willContinue") is True
        pieces = objects_in(_field(call, "partialArgs"))
        if call.get("name") is not None or (self._begun is None and not pieces):
            self.finish(draft)
            if not goes_on and not pieces:
                self._put(call, call.get("args") or {}, draft)
                return
            self._begun, self._arguments = call, {}
        for piece in pieces:
            self._arguments = _set(self._arguments, _steps(as_text(_field(piece, "jsonPath")) or ""), _value_of(piece))
        if not goes_on and self._begun is not None:
            self.finish(draft)

    def finish(self, draft: StreamDraft) -> None:
        """Put down the call that has begun, if one has."""
        if self._begun is not None:
            begun, self._begun = self._begun, None
            self._put(begun, self._arguments, draft)

    def _put(self, call: JSONObject, arguments: JSON, draft: StreamDraft) -> None:
        draft.call(self.count, call.get("id"), call.get("name"), arguments)
        self.count += 1


def _field(value: JSONObject, camel: str) -> JSON:
    snake = re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", camel)
    return value[camel] if camel in value else value.get(snake)


def _value_of(piece: JSONObject) -> JSON:
    given = next((name for name in _VALUES if _field(piece, name) is not None), None)
    return None if given in (None, "nullValue") else _field(piece, str(given))


def _steps(path: str) -> list[str | int]:
    """Return the steps of a path such as `$.recipe.steps[0]`; without any, where it is written in another way."""
    steps: list[str | int] = []
    at = 1
    while (step := _STEP.match(path, at)) is not None and len(steps) < _MAX_STEPS:
        name, number, quoted = step.groups()
        steps.append(int(number) if number is not None else name if name is not None else quoted)
        at = step.end()
    return steps if at == len(path) else []


def _set(within: JSON, steps: list[str | int], value: JSON) -> JSON:
    """Return a value with a part set; a piece of a text is appended to the text that is there."""
    if not steps:
        return within + value if isinstance(within, str) and isinstance(value, str) else value
    first, rest = steps[0], steps[1:]
    if isinstance(first, str):
        fields = as_object(within)
        return {**fields, first: _set(fields.get(first), rest, value)}
    entries = [*within] if isinstance(within, list) else []
    if first - len(entries) > _MAX_GAP:
        return within
    entries += [None] * (first + 1 - len(entries))
    entries[first] = _set(entries[first], rest, value)
    return entries
