"""A message from its streamed deltas, put together as a usual client does it. Sans-I/O.

    {"role": "assistant", "content": ""}
    {"reasoning": "The"} {"reasoning": " user"}
    {"content": "Let me"} {"content": " check."}
    {"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}]}
    {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}

Strings grow, lists of other things grow (a text becomes an item of one), objects merge; what names a thing
(`role`, `type`, `id`) is set once and not glued to itself when repeated.

Two calls that share an index stay two calls: another id with another name, or another name once arguments have
begun, starts a new one. A client that goes by the index alone joins them into a call that was never made; that a stream
lets it do so is reported by a rule (`stream_index_collision`).
"""

from __future__ import annotations

from typing import NamedTuple

from prompt_debugger.core.base.json_values import NULL_TEXTS, as_count, as_object, as_text, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete.backends.limits import MAX_CALLS, MAX_VALUES
from prompt_debugger.core.complete.shapes import count_values, parse_object

_NAMES = frozenset({"role", "type", "id"})
_MAX_CHECKS = 64  # of arguments that may be complete; a stream that names each part again is one call


class _Slot(NamedTuple):
    """The place of a call: its index on the wire, and which of several calls there it is."""

    at: int
    turn: int


class MessageAssembler:
    """Grows one assistant message; takes any JSON without complaint.

    Attributes:
        has_unread_calls: Whether more tool calls began than are read of one message.
        has_unread_values: Whether it is made of more values than are read of one message.
    """

    def __init__(self) -> None:
        self._fields: JSONObject = {}
        self._calls: dict[_Slot, JSONObject] = {}
        self._slot_by_id: dict[str, _Slot] = {}
        self._turn: dict[int, int] = {}
        self._newest: dict[int, int] = {}
        self._highest = -1
        self._last = _Slot(0, 0)
        self._checks_left = _MAX_CHECKS
        self.has_unread_calls = False
        self.has_unread_values = False
        self._left = MAX_VALUES

    def add(self, delta: JSONObject) -> None:
        """Take one delta."""
        if self._left < 0:
            self.has_unread_values = True
            return
        rest: JSONObject = {key: value for key, value in delta.items() if key != "tool_calls"}
        self._fields = self._merged(self._fields, rest)
        for position, call in enumerate(_calls_in(delta)):
            self._add_call(call, position)

    def message(self) -> JSONObject:
        """Return the message so far; tool calls in order of their index, without it."""
        message = _joined(self._fields)
        if self._calls:
            message["tool_calls"] = [_joined(self._calls[slot]) for slot in sorted(self._calls)]
        return message

    def _add_call(self, call: JSONObject, position: int) -> None:
        index = as_count(call.get("index"))
        call = self._drop_null_name(index, call)
        slot = self._slot_without(call, position) if index is None else self._slot_at(index, call)
        if slot not in self._calls and len(self._calls) >= MAX_CALLS:
            self.has_unread_calls = True
            return
        self._last = slot
        self._turn[slot.at] = slot.turn
        self._newest[slot.at] = max(slot.turn, self._newest.get(slot.at, 0))
        part: JSONObject = {key: value for key, value in call.items() if key != "index"}
        before = self._calls.get(slot, {})
        before_id = before.get("id")
        function = self._merged_function(as_object(before.get("function")), as_object(part.pop("function", None)))
        after = self._merged(before, part)
        if function or "function" in call:
            after["function"] = function
        self._calls[slot] = after
        self._highest = max(self._highest, slot.at)
        self._name(slot, as_text(before_id), as_text(after.get("id")))

    def _drop_null_name(self, index: int | None, call: JSONObject) -> JSONObject:
        """Return a later part of a named call without a name that is a null turned into text."""
        function = as_object(call.get("function"))
        if index is None or function.get("name") not in NULL_TEXTS or call.get("id"):
            return call
        if index not in self._newest:
            return call
        return {**call, "function": {key: value for key, value in function.items() if key != "name"}}

    def _name(self, slot: _Slot, before: str | None, after: str | None) -> None:
        """Remember which call has an id; looking through all of them for each part costs the square."""
        if before and before != after and self._slot_by_id.get(before) == slot:
            del self._slot_by_id[before]
        if after:
            self._slot_by_id.setdefault(after, slot)

    def _slot_at(self, index: int, call: JSONObject) -> _Slot:
        """Return the place of a call that names its index: the last one there, an earlier one, or a new one."""
        slot = _Slot(index, self._turn.get(index, 0))
        before = self._calls.get(slot)
        if before is None:
            return slot
        call_id = as_text(call.get("id"))
        known = self._slot_by_id.get(call_id) if call_id else None
        if known is not None and known.at == index:
            return known
        return _Slot(index, self._newest[index] + 1) if self._is_another(before, call, call_id) else slot

    def _is_another(self, before: JSONObject, call: JSONObject, call_id: str | None) -> bool:
        """Return whether a part at the index of a call begins another call: it has a name and cannot be that one's."""
        name = as_text(as_object(call.get("function")).get("name"))
        function = as_object(before.get("function"))
        if not name or not function.get("name"):
            return False
        has_other_id = bool(call_id and before.get("id") and before["id"] != call_id)
        if not _is_text(function["name"], name):
            return has_other_id or bool(function.get("arguments"))
        return has_other_id and self._is_whole(function.get("arguments"))

    def _is_whole(self, arguments: JSON) -> bool:
        """Return whether arguments are a whole object; checked only a few times, as each check reads them all."""
        if not isinstance(arguments, str) or self._checks_left <= 0:
            return False
        self._checks_left -= 1
        return bool(parse_object(str(arguments)))

    def _slot_without(self, call: JSONObject, position: int) -> _Slot:
        """Return the place of a call that names no index: the one with its id, a new one, or the last one."""
        call_id = as_text(call.get("id"))
        known = self._slot_by_id.get(call_id) if call_id else None
        if known is not None:
            return known
        if call_id or not self._calls:
            return _Slot(self._highest + 1, 0)
        return self._last if position == 0 else _Slot(self._highest + 1, 0)

    def _merged_function(self, before: JSONObject, part: JSONObject) -> JSONObject:
        """Merge `function`: arguments grow; a name that is repeated whole is not doubled."""
        if "name" in part and _is_text(before.get("name"), part["name"]):
            part = {key: value for key, value in part.items() if key != "name"}
        return self._merged(before, part)

    def _merged(self, before: JSONObject, part: JSONObject) -> JSONObject:
        """Return `before` with a part added: in place once it is ours, as a copy for each part costs the square."""
        after = before if isinstance(before, _Fields) else _Fields(before)
        for key, value in part.items():
            old = after.get(key)
            if old is None or (key in _NAMES and value):
                self._count(value, 1)
                after[key] = value
            else:
                after[key] = self._grown(old, value)
        return after

    def _grown(self, old: JSON, value: JSON) -> JSON:
        """Return `old` with what a delta adds to it."""
        if value is None:
            return old
        if isinstance(old, str) and isinstance(value, str):
            return _Text.of(old).grow(value)
        if isinstance(old, list) or isinstance(value, list):
            old, value = _parts_of(old), _parts_of(value)
            self._count(value, 0)
            grown = old if isinstance(old, _Items) else _Items(old)
            grown += value
            return grown
        if isinstance(old, dict) and isinstance(value, dict):
            return self._merged(old, value)
        self._count(value, 0)
        return value

    def _count(self, value: JSON, more: int) -> None:
        """Count what a value adds to the message; text that grows adds nothing."""
        self._left -= more + (count_values(value, MAX_VALUES) if isinstance(value, dict | list) else 1)


class _Fields(dict[str, JSON]):
    """An object that is ours, and no delta's: it may be changed."""


class _Items(list[JSON]):
    """A list that is ours."""


class _Text(str):
    """A text that grows in place: adding to a `str` copies it, which for long answers costs the square of their length.

    To others it is the text as it began; `_joined` makes a plain one of it.
    """

    __slots__ = ("length", "pieces")
    length: int
    pieces: list[str]

    @classmethod
    def of(cls, text: str) -> _Text:
        if isinstance(text, _Text):
            return text
        made = cls(text)
        made.pieces = [text]
        made.length = len(text)
        return made

    def grow(self, piece: str) -> _Text:
        self.pieces.append(piece)
        self.length += len(piece)
        return self

    def __str__(self) -> str:
        return "".join(self.pieces)


def _parts_of(value: JSON) -> list[JSON]:
    """Return content as parts: Mistral streams lists of them, and texts before and after."""
    if isinstance(value, list):
        return value
    text = str(value) if isinstance(value, str) else value
    return [{"type": "text", "text": text}] if text else []


def _is_text(text: JSON, value: JSON) -> bool:
    """Return whether a text, grown or not, is the same as a value; joins it only where it may be."""
    if isinstance(text, _Text) and isinstance(value, str) and text.length != len(value):
        return False
    return isinstance(text, str) and str(text) == value


def _calls_in(delta: JSONObject) -> tuple[JSONObject, ...]:
    """Return the calls of a delta; early TGI sends one as an object in place of a list."""
    calls = delta.get("tool_calls")
    return tuple(objects_in([calls] if isinstance(calls, dict) else calls))


def _joined(fields: JSONObject) -> JSONObject:
    """Return a copy in which every text is a plain one."""
    return {key: _plain(value) for key, value in fields.items()}


def _plain(value: JSON) -> JSON:
    if isinstance(value, _Text):
        return str(value)
    if isinstance(value, dict):
        return _joined(value)
    return [_plain(item) for item in value] if isinstance(value, list) else value
