"""Decode argument values that a format writes as plain text, by the tool's schema.

A value is what its schema says: `10` is a number for a declared integer and a
string for a declared string. Without a schema it is a string.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.parse.json_scan import decode_json
from prompt_debugger.core.parse.python_values import read_python_value

_INTEGER = re.compile(r"[+-]?\d{1,4000}\Z")
_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?\Z")
# Types that JSON Schema does not know and tools declare all the same.
_ALIASES = {
    "str": "string", "text": "string", "char": "string", "varchar": "string", "enum": "string", "date": "string",
    "int": "integer", "int32": "integer", "int64": "integer", "long": "integer", "short": "integer",
    "uint": "integer", "float": "number", "double": "number", "num": "number", "decimal": "number",
    "bool": "boolean", "binary": "boolean", "list": "array", "tuple": "array", "sequence": "array",
    "dict": "object", "map": "object", "json": "object", "none": "null", "nonetype": "null",
}  # fmt: skip
_ORDER = ("null", "boolean", "integer", "number", "object", "array")
_MAX_REFS = 8
_WRAPPERS = ("arguments", "parameters", "properties", "input", "args")


def value_from_text(text: str, schema: JSON, root: Mapping[str, JSON] | None = None) -> JSON:
    """Decode one value.

    Args:
        text: As emitted, framing removed.
        schema: The parameter's schema; anything that is not a schema makes a string.
        root: The schema that `$ref` points into.

    Returns:
        The value; `text` itself if it fits no declared type but string.
    """
    types = schema_types(schema, root)
    for kind in _ORDER:
        if kind in types:
            value = _try_type(text.strip(), kind)
            if value is not None:
                return value.value
    return text


def unwrap_arguments(values: JSONObject, schemas: Mapping[str, JSON]) -> JSONObject:
    """Return what a single value holds that wraps all arguments, such as `{"arguments": {…}}`; else `values`.

    Only for a key that the tool does not declare, around keys that it does.
    """
    key = next(iter(values), "")
    if len(values) != 1 or key in schemas or key not in _WRAPPERS:
        return values
    inner = values[key]
    if isinstance(inner, str):
        box = _try_container(inner.strip(), dict)
        inner = None if box is None else box.value
    return inner if isinstance(inner, dict) and inner and inner.keys() <= schemas.keys() else values


def schema_types(schema: JSON, root: Mapping[str, JSON] | None = None, depth: int = 0) -> frozenset[str]:
    """Return the JSON types that a schema allows; empty if it says nothing."""
    if not isinstance(schema, dict) or depth > _MAX_REFS:
        return frozenset()
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return schema_types(_resolve(reference, root), root, depth + 1)
    declared = schema.get("type")
    names = declared if isinstance(declared, list) else [declared]
    types = {_canonical(name) for name in names if isinstance(name, str)}
    for key in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(key)
        for branch in branches if isinstance(branches, list) else []:
            types |= schema_types(branch, root, depth + 1)
    return frozenset(types) or _implied_types(schema)


def branch_for(schema: JSON, kind: str, root: Mapping[str, JSON] | None = None, depth: int = 0) -> Mapping[str, JSON]:
    """Return the schema, or the branch of its unions, that describes a value of type `kind`; empty if none does."""
    if not isinstance(schema, dict) or depth > _MAX_REFS:
        return {}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return branch_for(_resolve(reference, root), kind, root, depth + 1)
    for key in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(key)
        for branch in branches if isinstance(branches, list) else []:
            if kind in schema_types(branch, root) and (found := branch_for(branch, kind, root, depth + 1)):
                return found
    return schema


class _Box:
    """A decoded value; tells a decoded `null` from none."""

    def __init__(self, value: JSON) -> None:
        self.value = value


def _canonical(name: str) -> str:
    lowered = name.lower()
    return _ALIASES.get(lowered, lowered)


def _implied_types(schema: Mapping[str, JSON]) -> frozenset[str]:
    values = schema.get("enum")
    constants = values if isinstance(values, list) else [schema["const"]] if "const" in schema else []
    if constants:
        return frozenset(_type_name(value) for value in constants)
    if "properties" in schema or "additionalProperties" in schema:
        return frozenset({"object"})
    return frozenset({"array"}) if "items" in schema else frozenset()


def _type_name(value: JSON) -> str:
    if isinstance(value, bool):
        return "boolean"
    kinds: Iterable[tuple[type, str]] = (
        (str, "string"), (int, "integer"), (float, "number"), (list, "array"), (dict, "object"),
    )  # fmt: skip
    return next((name for kind, name in kinds if isinstance(value, kind)), "null")


def _resolve(reference: str, root: Mapping[str, JSON] | None) -> JSON:
    node: JSON = dict(root or {})
    for part in reference.removeprefix("#").strip("/").split("/"):
        node = node.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
    return node


def _try_type(text: str, kind: str) -> _Box | None:
    if kind == "null":
        return _Box(None) if text.lower() in ("null", "none") else None
    if kind == "boolean":
        return _Box(text.lower() == "true") if text.lower() in ("true", "false") else None
    if kind == "integer":
        return _try_integer(text)
    if kind == "number":
        return _try_number(text)
    return _try_container(text, dict if kind == "object" else list)


def _try_integer(text: str) -> _Box | None:
    if _INTEGER.match(text):
        return _Box(int(text))
    number = _try_number(text)
    if number is not None and isinstance(number.value, float) and number.value.is_integer():
        return _Box(int(number.value))
    return None


def _try_number(text: str) -> _Box | None:
    if _INTEGER.match(text):
        return _Box(int(text))
    if not _NUMBER.match(text):
        return None
    value = float(text)
    return None if value in (float("inf"), float("-inf")) else _Box(value)


def _try_container(text: str, kind: type[dict[str, JSON]] | type[list[JSON]]) -> _Box | None:
    try:
        value = decode_json(text)
    except (ValueError, RecursionError):
        python = read_python_value(text, 0, len(text))
        if python.problem is not None or python.stop != len(text):
            return None
        value = python.value
    return _Box(value) if isinstance(value, kind) else None
