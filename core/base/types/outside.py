"""What spans and JSON are outside: the part of the wire format that annotations cannot say. Imported when it is needed.

A value of JSON stands for itself. What a JSON document cannot say, or readers of JSON
do not take, is written as text: `{"$json": "[NaN]"}`. That is NaN and the infinite
numbers, halves of a surrogate pair in a key, and what is nested deeper than any request
may be; and an object that has the one key `$json` itself.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from pydantic_core import CoreSchema, PydanticCustomError, core_schema

if TYPE_CHECKING:
    from prompt_debugger.core.base.types.base import JSON, Span

MAX_DEPTH = 100  # of a value inside a document; also what a request may have

_WRAPPED = "$json"


def span_schema(span: Callable[[int, int], Span]) -> CoreSchema:
    """Return the schema of a span: `[start, stop]`, 0 ≤ start ≤ stop; `span` makes it of the two."""
    number = core_schema.int_schema(ge=0)

    def span_of(ends: tuple[int, int]) -> Span:
        if ends[0] > ends[1]:
            raise PydanticCustomError("span", "[start, stop]")
        return span(*ends)

    return core_schema.no_info_after_validator_function(span_of, core_schema.tuple_positional_schema([number, number]))


def tokens_schema(inner: CoreSchema, write: Callable[[Sequence[object]], JSON]) -> CoreSchema:
    """Return the schema of tokens: those of a tuple of them, however they are held.

    Args:
        inner: Of such a tuple.
        write: Returns them as JSON where that is quicker than one by one; else `None`.
    """

    def to_json(tokens: Sequence[object], dump: Callable[[tuple[object, ...]], JSON]) -> JSON:
        written = write(tokens)
        return dump(tuple(tokens)) if written is None else written

    return {**inner, "serialization": core_schema.wrap_serializer_function_ser_schema(to_json)}


def json_schema() -> CoreSchema:
    """Return the schema of any JSON value."""
    return core_schema.no_info_before_validator_function(_unwrapped, core_schema.any_schema(), serialization=_WRAPS)


def object_schema() -> CoreSchema:
    """Return the schema of a JSON object."""
    inner = core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema())
    return core_schema.no_info_before_validator_function(_unwrapped, inner, serialization=_WRAPS)


def mapping_schema(inner: CoreSchema) -> CoreSchema:
    """Return the schema of a mapping from texts to anything: an object, unless no document can say its keys."""
    keeps = core_schema.wrap_serializer_function_ser_schema(_mapping_to_json)
    # The serializer that the function is given is the inner schema's own.
    return core_schema.no_info_before_validator_function(_unwrapped, {**inner, "serialization": keeps})


def _wrapped(value: JSON) -> JSON:
    """Return a value as it is written in a document."""
    if _is_plain(value, MAX_DEPTH) and not (isinstance(value, dict) and [*value] == [_WRAPPED]):
        return value
    return {_WRAPPED: json.dumps(value)}


def _mapping_to_json(value: Mapping[str, object], dump: Callable[[Mapping[str, object]], Mapping[str, JSON]]) -> JSON:
    if _are_keys(value) and [*value] != [_WRAPPED]:
        return cast("JSON", dump(value))
    return {_WRAPPED: json.dumps({key: dump({"": item})[""] for key, item in value.items()})}


def _is_plain(value: JSON, depth: int) -> bool:
    """Return whether a document can say a value that is nested at most so deep."""
    if isinstance(value, str):  # nearly all are
        return True
    if isinstance(value, float):
        return math.isfinite(value)
    if not isinstance(value, dict | list):
        return True
    if depth <= 0 or (isinstance(value, dict) and not _are_keys(value)):
        return False
    for item in value.values() if isinstance(value, dict) else value:
        if not (isinstance(item, str) or _is_plain(item, depth - 1)):
            return False
    return True


def _are_keys(keys: Iterable[str]) -> bool:
    """Return whether a document can say these keys: none holds half a surrogate pair."""
    joined = " ".join(keys)
    return joined.isascii() or not any("\ud800" <= character <= "\udfff" for character in joined)


def _unwrapped(raw: JSON) -> JSON:
    """Return the value that something in a document stands for."""
    if not isinstance(raw, dict) or [*raw] != [_WRAPPED]:
        return raw
    try:
        return cast("JSON", json.loads(cast("str", raw[_WRAPPED])))
    except (TypeError, ValueError, RecursionError):
        raise PydanticCustomError("wrapped_json", "the text of a JSON value") from None


_WRAPS = core_schema.plain_serializer_function_ser_schema(_wrapped)
