"""The validator of JSON Schema that schemas are checked with: jsonschema's own, but for what takes it too long.

Its `uniqueItems` compares every item with every other one where they cannot be sorted: lists of objects. Its `enum`
compares every value with every one that is allowed, and names all of those; its `properties` looks for each property
that is described, however few an object has.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cache
from math import isnan
from typing import TypeAlias

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from jsonschema_specifications import REGISTRY as SPECIFICATIONS
from referencing import Registry

from prompt_debugger.core.base.types import JSON, JSONObject

_MANY = 50  # values of an `enum`, or properties
_Schema: TypeAlias = JSONObject | bool
_Registry: TypeAlias = Registry[bool | Mapping[str, object]]
_Keyword: TypeAlias = Callable[[Validator, JSON, JSON, JSONObject], Iterator[ValidationError]]


def build_validator(schema: _Schema, cls: type[Validator] = Draft202012Validator, *, registry: _Registry) -> Validator:
    """Return a validator that finds what `cls`, jsonschema's of a draft, finds, in time that grows with the value."""
    return (_extend_by_sets(cls) if _has_many_values(schema) else _extended(cls))(schema, registry=registry)


def is_schema(schema: JSON, cls: type[Validator]) -> bool:
    """Return whether a draft's own `check_schema` takes this for a schema."""
    meta = _extended(validator_for(cls.META_SCHEMA, default=cls))
    checker = meta.FORMAT_CHECKER
    return bool(meta(cls.META_SCHEMA, registry=SPECIFICATIONS, format_checker=checker).is_valid(schema))


def _unique_items(_: Validator, wanted: JSON, instance: JSON, __: JSONObject) -> Iterator[ValidationError]:
    if wanted and isinstance(instance, list) and len({_identity(item) for item in instance}) < len(instance):
        yield ValidationError(f"{instance!r} has non-unique elements")


def _identity(value: JSON) -> Hashable:
    """Return what two values share if JSON Schema calls them equal: 1 is 1.0 and not true, members have no order.

    A number is its text: many numbers can be chosen to share one hash, their texts cannot.
    """
    if isinstance(value, bool):
        return "true" if value else "false", None
    if isinstance(value, list):
        return tuple(_identity(item) for item in value), "list"
    if isinstance(value, dict):
        return frozenset((name, _identity(inner)) for name, inner in value.items())
    if isinstance(value, float) and value.is_integer():
        return hex(int(value)), "number"
    if isinstance(value, int):
        return hex(value), "number"
    return (repr(value), "number") if isinstance(value, float) and not isnan(value) else value


def _properties(validator: Validator, described: JSON, instance: JSON, schema: JSONObject) -> Iterator[ValidationError]:
    if isinstance(described, dict) and isinstance(instance, dict) and len(described) > max(_MANY, len(instance)):
        described = {name: described[name] for name in instance if name in described}
    yield from _PROPERTIES(validator, described, instance, schema)


_PROPERTIES = Draft202012Validator.VALIDATORS["properties"]


@cache
def _extended(cls: type[Validator]) -> type[Validator]:
    ours: dict[str, _Keyword] = {"uniqueItems": _unique_items}
    if cls.VALIDATORS.get("properties") is _PROPERTIES:  # draft 3 looks there for what is required
        ours["properties"] = _properties
    return extend(cls, ours)  # type: ignore[no-any-return,no-untyped-call]  # the stubs know it without types


def _extend_by_sets(cls: type[Validator]) -> type[Validator]:
    """Return a class for one schema, which remembers the values of its long `enum` lists."""
    sets: dict[int, frozenset[Hashable]] = {}

    def enum(_: Validator, allowed: JSON, instance: JSON, __: JSONObject) -> Iterator[ValidationError]:
        if not isinstance(allowed, list):
            return
        if id(allowed) not in sets:
            sets[id(allowed)] = frozenset(map(_identity, allowed))
        if _identity(instance) not in sets[id(allowed)]:
            shown = repr(allowed) if len(allowed) <= _MANY else f"the {len(allowed):,} values of `enum`"
            yield ValidationError(f"{instance!r} is not one of {shown}")

    return extend(_extended(cls), {"enum": enum})  # type: ignore[no-any-return,no-untyped-call]  # as above


def _has_many_values(schema: JSON) -> bool:
    """Return whether a list of values in a schema is long."""
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            listed = value.get("enum")
            if isinstance(listed, list) and len(listed) > _MANY:
                return True
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return False
