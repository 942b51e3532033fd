"""Documents → JSON values, and back: pydantic reads the annotations, and we add what this format is strict about.

    text, number, boolean   only as such: "7" is no number, 1 is not true
    NaN, ±infinity          "NaN", "Infinity", "-Infinity", where a number stands
    set                     its sorted items
    sequence                reading ends at the first item that is wrong

JSON text is read and written by `json`, whose texts may hold halves of surrogate pairs as models write them;
pydantic-core's own may not.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Hashable, Mapping
from functools import cache
from typing import TypeVar, cast

from pydantic import TypeAdapter
from pydantic_core import CoreSchema, SchemaSerializer, SchemaValidator, ValidationError, core_schema, to_json

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.base.types.outside import mapping_schema
from prompt_debugger.core.report.wire.damage import damage_of

T = TypeVar("T")


def dump_document(document: Hashable) -> JSONObject:
    """Return a document as JSON; its class says how."""
    dumped: JSONObject = _serializer(type(document)).to_python(document, mode="json", by_alias=True, warnings=False)
    return dumped


def load_document(raw: JSON, cls: type[T]) -> T:
    """Return the document of a class that a JSON value represents; trusts nothing in it.

    Raises:
        DamageError: It represents none; says where.
    """
    try:
        return cast("T", _validator(cast("Hashable", cls)).validate_python(raw))
    except ValidationError as error:
        raise damage_of(error, raw) from None


def write_json(document: JSON, *, is_dense: bool = False, is_sorted: bool = False) -> str:
    """Return a JSON value as text that every reader takes: ASCII alone, and no `NaN`."""
    separators = (",", ":") if is_dense else None
    try:
        return json.dumps(document, separators=separators, sort_keys=is_sorted, allow_nan=False)
    except ValueError:
        return json.dumps(_named(document), separators=separators, sort_keys=is_sorted, allow_nan=False)


def write_line(document: JSON) -> str:
    """Return a JSON value as `write_json` does, dense and quick: for files with a document a line."""
    try:
        line = _plain_line(to_json(document))
    except ValueError:  # half a surrogate pair, or very deep
        line = None
    return write_json(document, is_dense=True) if line is None else line


def write_document(document: Hashable) -> str:
    """Return the line that `write_line` makes of `dump_document`, without the values between the two."""
    try:
        line = _plain_line(_serializer(type(document)).to_json(document, by_alias=True, warnings=False))
    except ValueError:  # as above
        line = None
    return write_line(dump_document(document)) if line is None else line


def _plain_line(data: bytes) -> str | None:
    """Return JSON text in ASCII alone; `None` if `write_json` has other words for some number in it."""
    text = data.decode()
    if "NaN" in text or "Infinity" in text:
        return None
    if text.isascii():
        return text
    return None if _EXPONENT.search(text) else _BEYOND_ASCII.sub(_escape, text)


def _escape(beyond: re.Match[str]) -> str:
    return json.dumps(beyond[0])[1:-1]


@cache
def _validator(cls: Hashable) -> SchemaValidator:
    return SchemaValidator(strict_schema(cls))


@cache
def _serializer(cls: Hashable) -> SchemaSerializer:
    return SchemaSerializer(strict_schema(cls), {"ser_json_inf_nan": "constants"})  # `write_json` names them


@cache
def strict_schema(cls: Hashable) -> CoreSchema:
    """Return what pydantic makes of a class, with the rules of this format."""
    return cast("CoreSchema", _ruled(cast("dict[str, object]", TypeAdapter(cast("type[object]", cls)).core_schema)))


def _ruled(node: object) -> object:
    """Return a part of a schema with the rules; keys of mappings stay lax, for JSON has no others than texts."""
    if isinstance(node, list):
        return [_ruled(item) for item in node]
    if not isinstance(node, dict):
        return node
    copied = {key: item if key in ("metadata", "keys_schema") else _ruled(item) for key, item in node.items()}
    rule = _RULES.get(str(node.get("type")))
    return copied if rule is None else rule(copied)


def _strict(node: dict[str, object]) -> object:
    return {**node, "strict": True}


def _quick(node: dict[str, object]) -> object:
    return {**node, "fail_fast": True}


def _mapping(node: dict[str, object]) -> object:
    if cast("dict[str, object]", node.get("metadata", {})).get("has_our_keys"):
        return node
    keys, values = (
        cast("dict[str, object]", node.get(name, {})).get("type") for name in ("keys_schema", "values_schema")
    )
    return mapping_schema(cast("CoreSchema", node)) if keys == "str" and values != "any" else node  # that is JSON's own


def _number(node: dict[str, object]) -> object:
    named = core_schema.no_info_after_validator_function(float, core_schema.literal_schema([*_NAMED.values()]))
    plain = cast("CoreSchema", {**node, "strict": True})
    return core_schema.union_schema([plain, named], mode="left_to_right", serialization={"type": "float"})


def _sorted(node: dict[str, object]) -> object:
    return {**node, "serialization": core_schema.plain_serializer_function_ser_schema(sorted)}


def _named(value: JSON) -> JSON:
    """Return a value with names for NaN and the infinities."""
    if isinstance(value, float):
        return value if math.isfinite(value) else _NAMED[str(value)]
    if isinstance(value, dict):
        return {key: _named(item) for key, item in value.items()}
    return [_named(item) for item in value] if isinstance(value, list) else value


_BEYOND_ASCII = re.compile(r"[^\x00-\x7e]+")  # all that `json` writes differently; none of it occurs outside strings
_EXPONENT = re.compile(r"[0-9]e[-0-9]|0\.0000[0-9]")
_NAMED = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_RULES: Mapping[str, Callable[[dict[str, object]], object]] = {
    "str": _strict,
    "int": _strict,
    "bool": _strict,
    "float": _number,
    "dict": _mapping,
    "tuple": _quick,
    "frozenset": _sorted,
}
