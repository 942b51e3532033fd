"""Arguments in the form of the schema that declares them, as small models copy it from the prompt.

{"type": "object", "properties": {"city": "Rome"}}                   values where the schema has its types
{"type": "object", "properties": {"city": {"type": "string"}}}       the schema itself
{"type": "object", "properties": {}}                                 that of a tool without parameters
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON

_KEYS = frozenset(
    {"type", "properties", "required", "title", "description", "additionalProperties", "$defs", "$schema"}
)
_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")


class SchemaShaped(NamedTuple):
    """Arguments that have the form of a schema.

    Attributes:
        names: The parameters in it; none for a tool without parameters.
        has_values: Whether values are where a schema declares types.
    """

    names: tuple[str, ...]
    has_values: bool


def schema_shaped(arguments: JSON, parameters: Collection[str]) -> SchemaShaped | None:
    """Return what arguments contain that have the form of a schema; `None` for any others.

    Args:
        arguments: The arguments, decoded.
        parameters: The names that the tool declares; a tool may have one that is called `properties`.

    >>> schema_shaped({"type": "object", "properties": {"city": "Rome"}}, ())
    SchemaShaped(names=('city',), has_values=True)
    >>> schema_shaped({"type": "object", "properties": {"city": {"type": "string"}}}, ("type", "properties"))
    """
    given = as_object(arguments)
    inner = given.get("properties")
    if given.get("type") != "object" or not isinstance(inner, dict) or given.keys() - _KEYS:
        return None
    if "properties" in parameters:
        return None
    return SchemaShaped(tuple(inner), bool(inner) and not any(map(_declares, inner.values())))


def _declares(value: JSON) -> bool:
    kind = as_object(value).get("type")
    return isinstance(kind, str) and kind in _TYPES
