"""Switches for the end of the prompt: the generation prompt, and a last message left open."""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.tools.experiments.switches.switch import Switch, Topic, drop_keys, messages_of, on_body
from prompt_debugger.core.tools.experiments.variant import Variant

_TARGET = "ending"


def ending_switches(variant: Variant) -> Iterator[Switch]:
    """Yield the endings that the request does not have."""
    body = variant.body
    continues = body.get("continue_final_message") is True
    asked = body.get("add_generation_prompt")
    generates = asked if isinstance(asked, bool) else not continues
    if generates or continues:
        change = "sets `add_generation_prompt` to false: no assistant turn is opened"
        yield Switch("no-generation-prompt", Topic.ENDING, _TARGET, change, on_body(_closed))
    if not generates:
        change = "sets `add_generation_prompt` to true: an assistant turn is opened"
        yield Switch("generation-prompt", Topic.ENDING, _TARGET, change, on_body(_opened))
    if not continues and _ends_with_assistant(body):
        change = "sets `continue_final_message` to true: the last message is left open to be continued"
        yield Switch("continue-final-message", Topic.ENDING, _TARGET, change, on_body(_continued))


def _ends_with_assistant(body: JSONObject) -> bool:
    last: JSON = (messages_of(body) or [None])[-1]
    return isinstance(last, dict) and last.get("role") == "assistant" and isinstance(last.get("content"), str | list)


def _closed(body: JSONObject) -> JSONObject:
    return {**drop_keys(body, "continue_final_message"), "add_generation_prompt": False}


def _opened(body: JSONObject) -> JSONObject:
    return {**drop_keys(body, "continue_final_message"), "add_generation_prompt": True}


def _continued(body: JSONObject) -> JSONObject:
    return {**body, "continue_final_message": True, "add_generation_prompt": False}
