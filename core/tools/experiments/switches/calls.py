"""Switches for tool calls in the history: the form of their arguments, and their ids."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TypeAlias

from prompt_debugger.core.base.json_values import decoded
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.diagnose.rules.off_pattern_history_id import normalise_ids
from prompt_debugger.core.tools.experiments.switches.switch import Edit, Switch, Topic, on_body, on_messages
from prompt_debugger.core.tools.experiments.variant import Variant

EditValue: TypeAlias = Callable[[JSON], JSON]


def call_switches(variant: Variant) -> Iterator[Switch]:
    """Yield other ways to say the same calls; those that do not apply included."""
    del variant
    change = "passes every `arguments` text as the object that it encodes"
    yield _switch_arguments("arguments-as-object", change, _decoded)
    change = "passes every `arguments` object as JSON text"
    yield _switch_arguments("arguments-as-text", change, _encoded)
    change = "renames the call ids to `functions.NAME:N`, counted through the conversation"
    yield Switch("ids-normalised", Topic.CALLS, "call-ids", change, on_body(normalise_ids))


def _switch_arguments(name: str, change: str, edit: EditValue) -> Switch:
    return Switch(name, Topic.CALLS, "arguments", change, on_messages(edit_arguments(edit)))


def edit_arguments(edit: EditValue) -> Edit:
    """Return the edit of a message that edits the arguments of its calls."""

    def edited(message: JSONObject) -> JSONObject:
        calls = message.get("tool_calls")
        if not isinstance(calls, list):
            return message
        return {**message, "tool_calls": [_edit_call(call, edit) for call in calls]}

    return edited


def _edit_call(call: JSON, edit: EditValue) -> JSON:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict) or "arguments" not in function:
        return call
    return {**call, "function": {**function, "arguments": edit(function["arguments"])}}


def _decoded(arguments: JSON) -> JSON:
    value = decoded(arguments)
    return value if isinstance(value, dict) else arguments


def _encoded(arguments: JSON) -> JSON:
    return json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, dict) else arguments
