"""Pair the calls of the raw text with the tool calls of a message.

Exact pairs first, then pairs of the same name, then ever weaker likeness; the
order within one name is kept. Calls of the body are paired before calls that
are inside reasoning.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from prompt_debugger.core.base.json_values import same_json, same_json_text
from prompt_debugger.core.base.types import JSON, CallMatch, CallOutcome, CallStatus, JSONObject, Place, ToolCallAttempt
from prompt_debugger.core.parse.json_scan import decode_json

_LONG_ENOUGH = 8  # this many first characters in common are not an accident


@dataclass(frozen=True, slots=True)
class MessageCall:
    """One entry of a message's `tool_calls`, as far as it has the usual shape.

    Attributes:
        name: Its function's name; "" if absent.
        arguments: Its arguments as text; an object is written out as JSON.
        value: Its arguments decoded; `None` if they are not JSON.
        id: Its id, if it has one.
    """

    name: str
    arguments: str
    value: JSON
    id: str | None


def message_calls(message: JSONObject) -> tuple[MessageCall, ...]:
    """Return the tool calls of a message, in order, one per entry."""
    entries = message.get("tool_calls")
    return tuple(_read_entry(entry) for entry in entries) if isinstance(entries, list) else ()


def match_calls(calls: Sequence[ToolCallAttempt], returned: Sequence[MessageCall]) -> tuple[CallMatch, ...]:
    """Pair raw calls and returned calls.

    Returns:
        Every call of either side once: raw calls in order, then invented ones.
    """
    pairs = _Pairing(calls, returned).run()
    matches = [
        _match(index, call, pairs.get(index), returned[pairs[index]] if index in pairs else None)
        for index, call in enumerate(calls)
    ]
    taken = set(pairs.values())
    matches += [
        CallMatch(None, index, outcome=CallOutcome.INVENTED) for index in range(len(returned)) if index not in taken
    ]
    return tuple(matches)


def unmatched_calls(calls: Sequence[ToolCallAttempt], returned: Sequence[MessageCall]) -> tuple[CallMatch, ...]:
    """Return the calls of both sides unpaired, for an output and a message that cannot be compared."""
    raw_side = [CallMatch(index, None) for index in range(len(calls))]
    return (*raw_side, *(CallMatch(None, index) for index in range(len(returned))))


def same_arguments(call: ToolCallAttempt, returned: MessageCall) -> bool:
    """Return whether a message shows the arguments of a raw call: by value, or else letter by letter."""
    if call.arguments_json is None:
        return same_json_text(call.arguments, returned.arguments)
    if call.arguments.strip() == returned.arguments.strip():
        return True
    try:
        return same_json(call.arguments_json, returned.value)
    except RecursionError:
        return False


def _read_entry(entry: JSON) -> MessageCall:
    function = entry.get("function") if isinstance(entry, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    arguments = function.get("arguments") if isinstance(function, dict) else None
    identifier = entry.get("id") if isinstance(entry, dict) else None
    text = arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
    try:
        value = decode_json(text) if text else None
    except (ValueError, RecursionError):
        value = None
    return MessageCall(
        name=name if isinstance(name, str) else "",
        arguments=text,
        value=value,
        id=identifier if isinstance(identifier, str) else None,
    )


def _match(index: int, call: ToolCallAttempt, number: int | None, returned: MessageCall | None) -> CallMatch:
    altered = () if returned is None else _altered(call, returned)
    return CallMatch(index, number, altered, _outcome(call, altered, is_returned=returned is not None))


def _outcome(call: ToolCallAttempt, altered: tuple[str, ...], *, is_returned: bool) -> CallOutcome:
    """Decide what became of a call of the raw text: the one place where this is decided."""
    if call.status is CallStatus.TRUNCATED:
        return CallOutcome.CUT
    if not is_returned:
        return CallOutcome.DRAFT if call.place is Place.REASONING else CallOutcome.DROPPED
    return CallOutcome.ALTERED if {"name", "arguments"} & set(altered) else CallOutcome.KEPT


def _altered(call: ToolCallAttempt, returned: MessageCall) -> tuple[str, ...]:
    altered: list[str] = []
    if (call.name or "") != returned.name:
        altered.append("name")
    if not same_arguments(call, returned):
        altered.append("arguments")
    if call.id is not None and returned.id != call.id:
        altered.append("id")
    return tuple(altered)


class _Pairing:
    def __init__(self, calls: Sequence[ToolCallAttempt], returned: Sequence[MessageCall]) -> None:
        self._calls = calls
        self._returned = returned
        self._open_returned = dict.fromkeys(range(len(returned)))
        self._pairs: dict[int, int] = {}

    def run(self) -> dict[int, int]:
        """Return index of the returned call by index of the raw call."""
        body = [index for index, call in enumerate(self._calls) if call.place is Place.BODY]
        drafts = [index for index, call in enumerate(self._calls) if call.place is Place.REASONING]
        for indices in (body, drafts):
            self._pair_by(indices, lambda call: (call.name or "", _raw_key(call)), lambda r: (r.name, _returned_key(r)))
            self._pair_by(indices, lambda call: call.name or None, lambda r: r.name or None)
            self._pair_by(indices, lambda call: call.id, lambda r: r.id)
        self._pair_by(body, _distinctive_key, lambda r: _returned_key(r) if r.value else None)
        self._pair_alike(body)
        return self._pairs

    def _pair_by(
        self,
        indices: Sequence[int],
        raw_key: Callable[[ToolCallAttempt], Hashable],
        returned_key: Callable[[MessageCall], Hashable],
    ) -> None:
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for index in self._open_returned:
            if (key := returned_key(self._returned[index])) is not None:
                waiting[key].append(index)
        for index in indices:
            if index in self._pairs or (key := raw_key(self._calls[index])) is None or not waiting.get(key):
                continue
            self._take(index, waiting[key].popleft())

    def _pair_alike(self, indices: Sequence[int]) -> None:
        left = [index for index in indices if index not in self._pairs]
        for raw_index, returned_index in zip(left, list(self._open_returned), strict=False):
            if _is_alike(self._calls[raw_index], self._returned[returned_index]):
                self._take(raw_index, returned_index)

    def _take(self, raw_index: int, returned_index: int) -> None:
        self._pairs[raw_index] = returned_index
        del self._open_returned[returned_index]


def _raw_key(call: ToolCallAttempt) -> str:
    return call.arguments.strip() if call.arguments_json is None else _canonical(call.arguments_json)


def _returned_key(returned: MessageCall) -> str:
    return returned.arguments.strip() if returned.value is None else _canonical(returned.value)


def _distinctive_key(call: ToolCallAttempt) -> str | None:
    """Return a key for arguments that tell one call from another; none for empty ones."""
    return _canonical(call.arguments_json) if call.arguments_json else None


def _canonical(value: JSON) -> str:
    try:
        return json.dumps(value, sort_keys=True)
    except (RecursionError, ValueError):
        return ""


def _is_alike(call: ToolCallAttempt, returned: MessageCall) -> bool:
    name = call.name or ""
    if name and returned.name and (name in returned.name or returned.name in name):
        return True
    start = call.arguments.strip()[:_LONG_ENOUGH]
    return len(start) == _LONG_ENOUGH and returned.arguments.strip().startswith(start)
