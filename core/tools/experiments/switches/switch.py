"""A switch: one thing of a request, or of its rendering, changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, TypeAlias

from pydantic import Field

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.tools.experiments.variant import Variant

Apply: TypeAlias = Callable[[Variant], Variant]
Edit: TypeAlias = Callable[[JSONObject], JSONObject]


class Topic(StrEnum):
    """What a switch is about."""

    ENDING = "ending"
    KWARGS = "kwargs"
    SYSTEM = "system"
    TOOLS = "tools"
    CONTENT = "content"
    CALLS = "calls"
    REASONING = "reasoning"
    SERVER = "server"
    TEMPLATE = "template"


@dataclass(frozen=True, slots=True)
class Switch:
    """One thing changed.

    Attributes:
        name: Stable name, such as `no-generation-prompt` or `thinking=true`.
        topic: What it is about.
        target: What it sets; two switches with one target exclude each other.
        change: What it does, without a subject: "leaves out the tools".
        apply: Makes the variant; returns an equal one where there is nothing to do.
    """

    name: str
    topic: Topic
    target: Annotated[str, Field(exclude=True)]
    change: str
    apply: Annotated[Apply, Field(exclude=True)]

    def applies_to(self, variant: Variant) -> bool:
        """Return whether there is something to change."""
        return not self.apply(variant).is_same(variant)


def on_body(edit: Edit) -> Apply:
    """Return the application of an edit of the body."""
    return lambda variant: replace(variant, body=edit(variant.body))


def on_messages(edit: Edit) -> Apply:
    """Return the application of an edit of every message that is an object."""
    return on_body(lambda body: edit_messages(body, edit))


def edit_messages(body: JSONObject, edit: Edit) -> JSONObject:
    """Return the body with every message that is an object edited."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        return body
    return {**body, "messages": [edit(message) if isinstance(message, dict) else message for message in messages]}


def drop_keys(values: JSONObject, *keys: str) -> JSONObject:
    """Return an object without some keys."""
    return {key: value for key, value in values.items() if key not in keys}


def messages_of(body: JSONObject) -> list[JSON]:
    """Return the messages as they were pasted."""
    messages = body.get("messages")
    return messages if isinstance(messages, list) else []


def changed_fields(before: JSON, after: JSON, path: str = "") -> Iterator[str]:
    """Yield the paths at which two values differ, as deep as they can be distinguished.

    Of an object whose keys are merely in a different order, the object is named.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        inner = [
            found
            for key in dict.fromkeys([*before, *after])
            for found in _changed_entry(before, after, key, f"{path}.{key}" if path else key)
        ]
        yield from inner or ([path] if list(before) != list(after) else [])
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from changed_fields(old, new, f"{path}[{index}]")
    elif json.dumps(before) != json.dumps(after):
        yield path


def _changed_entry(before: JSONObject, after: JSONObject, key: str, path: str) -> Iterator[str]:
    if key in before and key in after:
        yield from changed_fields(before[key], after[key], path)
        return
    value = before.get(key, after.get(key))
    if isinstance(value, dict) and value and path == key:  # kwargs that come or go: name them
        yield from (f"{path}.{name}" for name in value)
    else:
        yield path
