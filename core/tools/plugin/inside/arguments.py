r"""The arguments of a call as the client gets them: JSON, as it was written where it was JSON.

Written as JSON, they are passed on as they come, character by character; only a control
character inside a string is escaped, which is not JSON otherwise:

    {"text": "a⏎b"}   →   {"text": "a\nb"}

Written in tags or otherwise, they are given parameter by parameter, each once it is complete.
"""

from __future__ import annotations

import json
import re

from prompt_debugger.core.base.types import JSONObject, ToolCallAttempt

_BEGINS_AS_JSON = re.compile(r"\s*\{\s*(?:\"|\}\s*\Z)")
_STEP = re.compile(r"[\"\\{}\[\]\x00-\x1f]")
_IN_STRING = re.compile(r"[\"\\\x00-\x1f]")


class JSONTail:
    """Follows one JSON object as it is written; knows where it ends."""

    def __init__(self) -> None:
        self.is_done = False
        self._depth = 0
        self._in_string = False
        self._escaped = False

    def feed(self, text: str) -> tuple[str, str]:
        """Take the next characters; return them as JSON, and what is after the object."""
        made: list[str] = []
        position = 0
        while position < len(text) and not self.is_done:
            position = self._step(text, position, made)
        return "".join(made), text[position:]

    def _step(self, text: str, position: int, made: list[str]) -> int:
        """Take over up to the next character that means something, and that one."""
        if self._escaped:
            made.append(text[position])
            self._escaped = False
            return position + 1
        found = (_IN_STRING if self._in_string else _STEP).search(text, position)
        if found is None:
            made.append(text[position:])
            return len(text)
        made.append(text[position : found.start()])
        self._take(found.group(), made)
        return found.end()

    def _take(self, char: str, made: list[str]) -> None:
        if self._in_string and char < " ":
            made.append(json.dumps(char)[1:-1])
            return
        made.append(char)
        if char == '"':
            self._in_string = not self._in_string
        elif char == "\\":
            self._escaped = self._in_string
        elif char in "{[":
            self._depth += 1
        elif char in "}]":
            self._depth -= 1
            self.is_done = self._depth <= 0


def begins_as_json(arguments: str) -> bool:
    """Return whether arguments are written as a JSON object, as far as they go."""
    return _BEGINS_AS_JSON.match(arguments) is not None


def whole_arguments(call: ToolCallAttempt) -> str:
    """Return the arguments of a call that is all there."""
    if begins_as_json(call.arguments):
        tail = JSONTail()
        made, after = tail.feed(call.arguments.strip())
        if tail.is_done and not after.strip():
            return made
    if call.arguments_json is not None:
        return _dumped(call.arguments_json)
    return call.arguments or "{}"


def begun_arguments(call: ToolCallAttempt) -> str:
    """Return what is certain of the arguments of a call that continues: whole parameters, the last one left out."""
    parameters = call.arguments_json or {}
    if len(parameters) < 2 or begins_as_json(call.arguments):
        return ""
    certain = dict(list(parameters.items())[:-1])
    return _dumped(certain)[:-1]


def _dumped(value: JSONObject) -> str:
    return json.dumps(value, ensure_ascii=False)
