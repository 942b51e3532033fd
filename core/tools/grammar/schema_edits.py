"""Which demand of a schema an output breaks: the smallest one without which it passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from prompt_debugger.core.base.json_values import replace_at
from prompt_debugger.core.base.types import JSON, JSONObject

Test: TypeAlias = Callable[[JSON], bool]
Steps: TypeAlias = "tuple[str | int, ...]"
_MAX_DEPTH = 12
_COMMENTS = frozenset({"description", "title", "default", "examples", "$schema", "$comment", "$defs", "definitions"})
_ANY_TYPE = frozenset({"enum", "const", "anyOf", "oneOf", "allOf", "not", "$ref"})
_STRUCTURE = frozenset({"properties", "items", "required", "additionalProperties"})


@dataclass(frozen=True, slots=True)
class SchemaEdit:
    """A schema without one of its demands.

    Attributes:
        kind: `missing`, `unknown` or `value`.
        steps: Keys and indices from the root to what was taken out.
        argument: Path in the arguments, such as `rooms[].size`.
        removed: What was taken out.
        schema: The schema without it.
        missing: Name of the property that no longer is required.
    """

    kind: str
    steps: Steps
    argument: str
    removed: JSON
    schema: JSON
    missing: str | None = None


def find_culprit(schema: JSON, passes: Test, *, likely: str | None = None) -> SchemaEdit | None:
    """Return the smallest demand without which an output passes, `None` if no single one is to blame.

    Args:
        schema: Parameter schema of a tool.
        passes: Returns whether the output passes with another schema.
        likely: Property to look at first; a grammar may let pass anything once any property is free.
    """
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if isinstance(schema, dict) and isinstance(properties, dict) and likely in properties:
        inner = properties[likely]
        freed = replace_at(schema, ("properties", likely), {})
        if passes(freed):
            narrower = _search(schema, inner, ("properties", likely), likely, passes)
            return narrower or SchemaEdit("value", ("properties", likely), likely, inner, freed)
    return _search(schema, schema, (), "", passes)


def _search(root: JSON, node: JSON, steps: Steps, argument: str, passes: Test) -> SchemaEdit | None:
    """Look at one node of the schema: keys that must come, then values, then further keys, then the node itself."""
    if not isinstance(node, dict) or len(steps) > 2 * _MAX_DEPTH:
        return None
    edit = find_missing(root, passes, node, steps, argument) or _search_inside(root, node, steps, argument, passes)
    if edit is not None:
        return edit
    if isinstance(node.get("properties"), dict) and node.get("additionalProperties") is not True:
        opened: JSONObject = node | {"additionalProperties": True, "required": []}
        freed = replace_at(root, steps, opened)
        if passes(freed):
            return SchemaEdit("unknown", (*steps, "properties"), argument, list(_names(node)), freed)
    # `type` last: without it the other demands mean nothing, so that it would be blamed for them.
    for key in sorted(node, key=lambda key: key == "type"):
        if key not in _COMMENTS | _STRUCTURE:
            kept = _drop_demand(node, key)
            freed = replace_at(root, steps, kept)
            if passes(freed):
                return SchemaEdit("value", (*steps, key), argument, node[key], freed)
    return None


def find_missing(
    root: JSON, passes: Test, node: JSONObject, steps: Steps = (), argument: str = ""
) -> SchemaEdit | None:
    """Return the edit that makes one key less required, if that helps; `steps` and `argument` say where `node` is."""
    required = node.get("required")
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    for name in names:
        others: list[JSON] = [other for other in names if other != name]
        freed = replace_at(root, steps, node | {"required": others})
        if passes(freed):
            return SchemaEdit("missing", (*steps, "required"), argument, required, freed, name)
    return None


def _search_inside(root: JSON, node: JSONObject, steps: Steps, argument: str, passes: Test) -> SchemaEdit | None:
    for inner_steps, inner, inner_argument in _inner(node, steps, argument):
        freed = replace_at(root, inner_steps, {})
        if passes(freed):
            narrower = _search(root, inner, inner_steps, inner_argument, passes)
            return narrower or SchemaEdit("value", inner_steps, inner_argument, inner, freed)
    return None


def _drop_demand(node: JSONObject, key: str) -> JSONObject:
    """Return a schema without one demand; those that only mean something for its type go with the type."""
    if key == "type":
        return {name: value for name, value in node.items() if name in _COMMENTS | _ANY_TYPE}
    return {name: value for name, value in node.items() if name != key}


def _inner(node: JSONObject, steps: Steps, argument: str) -> Iterator[tuple[Steps, JSON, str]]:
    properties = node.get("properties")
    if isinstance(properties, dict):
        for name, inner in properties.items():
            yield (*steps, "properties", name), inner, f"{argument}.{name}" if argument else name
    if isinstance(node.get("items"), dict):
        yield (*steps, "items"), node["items"], f"{argument}[]"
    if isinstance(node.get("additionalProperties"), dict):
        yield (*steps, "additionalProperties"), node["additionalProperties"], f"{argument}.*"


def write_steps(steps: Steps) -> str:
    """Return steps as a path: `.properties.days.type`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)


def _names(node: JSONObject) -> list[str]:
    properties = node.get("properties")
    return list(properties) if isinstance(properties, dict) else []
