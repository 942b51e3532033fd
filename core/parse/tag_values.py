"""Decode the values of a call that are written as text between tags.

What type a text has a written attribute says, or else the tool's schema; where
they contradict each other, the schema is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.parse.json_scan import decode_json
from prompt_debugger.core.parse.tools import function_of, parameter_schemas
from prompt_debugger.core.parse.typed_values import schema_types, unwrap_arguments, value_from_text


@dataclass(frozen=True, slots=True)
class TagValue:
    """A value as written between its tags.

    Attributes:
        text: What is written, less framing line breaks.
        stop: Where its closing tag ends, or the value where it has none.
        is_closed: Whether it has one.
        type: The type that an attribute names; `None` without one.
    """

    key: str
    text: str
    stop: int
    is_closed: bool
    type: str | None


def decode_values(
    values: Sequence[TagValue], name: str, tools: Sequence[JSONObject], *, decodes_untyped: bool
) -> JSONObject:
    """Return the arguments of a call.

    Args:
        values: Its values, in order; of two with one key the last one counts.
        name: The tool that is called.
        tools: Tool specs of the request.
        decodes_untyped: True if a value that nothing types is decoded as JSON where it is JSON.
    """
    schemas = parameter_schemas(tools, name)
    root = next((parameters for tool in tools if (parameters := _parameters(tool, name))), None)
    decoded = {
        value.key: _decode(value, schemas.get(value.key), root, decodes_untyped=decodes_untyped) for value in values
    }
    return unwrap_arguments(decoded, schemas)


def _decode(value: TagValue, schema: JSON, root: JSONObject | None, *, decodes_untyped: bool) -> JSON:
    """Decode by the type that is written, unless it contradicts the schema; else by the schema."""
    if value.type is None and (schema is not None or not decodes_untyped):
        return value_from_text(value.text, schema, root)
    types = schema_types(schema, root)
    if value.type == "string":
        return value_from_text(value.text, schema, root) if types and "string" not in types else value.text
    if types == {"string"}:
        return value.text
    try:
        return decode_json(value.text.strip())
    except (ValueError, RecursionError):
        return value_from_text(value.text, schema, root)


def _parameters(tool: JSONObject, name: str) -> JSONObject | None:
    function = function_of(tool)
    parameters = function.get("parameters")
    return parameters if function.get("name") == name and isinstance(parameters, dict) else None
