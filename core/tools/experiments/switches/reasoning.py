"""Switches for the reasoning that assistant messages of the history carry."""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.tools.experiments.switches.switch import Edit, Switch, Topic, drop_keys, on_messages
from prompt_debugger.core.tools.experiments.variant import Variant

_NAMES = ("reasoning_content", "reasoning")


def reasoning_switches(variant: Variant) -> Iterator[Switch]:
    """Yield other ways to send the reasoning, or none; those that do not apply included."""
    del variant
    yield _switch("without-reasoning", "leaves out the reasoning of the history", drop_reasoning)
    for name in _NAMES:
        change = f"sends the reasoning of the history only as `{name}`"
        yield _switch(f"reasoning-as-{name}", change, _only(name))


def _switch(name: str, change: str, edit: Edit) -> Switch:
    return Switch(name, Topic.REASONING, "reasoning", change, on_messages(edit))


def drop_reasoning(message: JSONObject) -> JSONObject:
    """Return a message without the fields that carry reasoning."""
    return drop_keys(message, *_NAMES)


def _only(name: str) -> Edit:
    def edited(message: JSONObject) -> JSONObject:
        value = next((message[key] for key in (name, *_NAMES) if message.get(key) is not None), None)
        return message if value is None else {**drop_reasoning(message), name: value}

    return edited
