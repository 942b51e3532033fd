"""Documents → JSON values, and back: pydantic reads the annotations, and we add what this format is strict about.

    text, number, boolean   only as such: "7" is no number, 1 is not true
    NaN, ±infinity          "NaN", "Infinity", "-Infinity", where a number stands
    set                     its sorted items
    sequence                reading ends at the first item that is wrong

JSON text is read and written by `json`, whose texts may hold halves of surrogate pairs as models write them;
pydantic-core's own may not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from functools import cache
from typing import TypeVar, cast

from pydantic import TypeAdapter
from pydantic_core import CoreSchema, SchemaSerializer, SchemaValidator, ValidationError, core_schema

from prompt_debugger.core.report.wire.damage import damage_of
from prompt_debugger.core.types import JSON, JSONObject

T = TypeVar("T")


def dump_document(document: Hashable) -> JSONObject:
    """Return a document as JSON; its class says how."""
    dumped: JSONObject = _serializer(type(document)).to_python(document, mode="json", by_alias=True, warnings=False)
    return dumped


def load_document(raw: JSON, cls: type[T]) -> T:
    """Return the document of a class that a JSON value stands for; trusts nothing in it.

    Raises:
        DamageError: It stands for none; says where.
    """
    try:
        return cast("T", _validator(cast("Hashable", cls)).validate_python(raw))
    except ValidationError as error:
        raise damage_of(error, raw) from None


@cache
def _validator(cls: Hashable) -> SchemaValidator:
    return SchemaValidator(strict_schema(cls))


@cache
def _serializer(cls: Hashable) -> SchemaSerializer:
    return SchemaSerializer(strict_schema(cls))


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


def _number(node: dict[str, object]) -> object:
    named = core_schema.no_info_after_validator_function(float, core_schema.literal_schema([*_NAMED.values()]))
    return core_schema.union_schema(
        [cast("CoreSchema", {**node, "strict": True, "allow_inf_nan": False}), named],
        mode="left_to_right",
        serialization=core_schema.plain_serializer_function_ser_schema(_number_to_json),
    )


def _sorted(node: dict[str, object]) -> object:
    return {**node, "serialization": core_schema.plain_serializer_function_ser_schema(sorted)}


def _number_to_json(number: float) -> JSON:
    return number if math.isfinite(number) else _NAMED[str(number)]


_NAMED = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_RULES: Mapping[str, Callable[[dict[str, object]], object]] = {
    "str": _strict,
    "int": _strict,
    "bool": _strict,
    "float": _number,
    "tuple": _quick,
    "frozenset": _sorted,
}
