"""Values that travel between a sandbox and its client, made plain and back.

    texts, numbers, bytes, lists, objects   themselves
    tuple       ("t", items)                record    ("r", class, values of its fields)
    set         ("s", items)                records   ("c", class, a column per field): a tuple of many of one class
    enum        ("e", class, value)         error     ("x", class, its attributes)
    mapping     ("m", keys, values)         of many records of one class

Records are frozen dataclasses and named tuples; those of `core.base.types` may travel,
and others that a module admits. Nothing else does: the reader builds what it
knows, and imports and calls nothing on a writer's word.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from operator import attrgetter
from types import MappingProxyType
from typing import ClassVar, Protocol, TypeVar, cast

from prompt_debugger.core.base import errors, types
from prompt_debugger.core.base.errors import DebuggerError

C = TypeVar("C", bound=type)

_ATOMS = frozenset({type(None), bool, int, float, str, bytes})
_CONTAINERS = frozenset({dict, MappingProxyType, list, tuple, set, frozenset})
_VALUE_OF = attrgetter("_value_")  # `value` is looked for in Python, once for each token
_COLUMN_FROM = 4  # records of one class in a tuple are written by columns from so many on


class _Named(Protocol):
    """A named tuple."""

    _fields: ClassVar[tuple[str, ...]]


class UnknownValueError(Exception):
    """A value that cannot travel, or a frame that holds none."""


def _name(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def _is_record(cls: type) -> bool:
    return is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))


def _declared_in(package: str) -> Iterator[type]:
    for name, module in tuple(sys.modules.items()):
        if name.startswith(f"{package}."):
            yield from (value for value in vars(module).values() if isinstance(value, type))


_VALUES: dict[str, type] = {
    _name(value): value
    for value in _declared_in(types.__name__)
    if value.__module__.startswith(f"{types.__name__}.") and (_is_record(value) or issubclass(value, Enum))
}
_ERRORS: dict[str, type[DebuggerError]] = {
    _name(value): value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, DebuggerError)
}


def admit(cls: C) -> C:
    """Let another of our records, enums or errors travel; usable as a decorator."""
    if issubclass(cls, DebuggerError):
        _ERRORS[_name(cls)] = cls
    elif issubclass(cls, Enum) or _is_record(cls):
        _VALUES[_name(cls)] = cls
    else:
        raise TypeError(f"{cls.__name__} is not a record, enum or error")
    return cls


# --- encode ----------------------------------------------------------------------


def encode_value(value: object) -> object:
    """Return a value as plain containers and atoms.

    Raises:
        UnknownValueError: It may not travel.
    """
    cls = type(value)
    if cls in _ATOMS:
        return value
    if cls is dict or cls is MappingProxyType:
        return _encode_mapping(cast("Mapping[object, object]", value))
    if cls is list:
        items = cast("list[object]", value)
        return items if set(map(type, items)) <= _ATOMS else [encode_value(item) for item in items]
    if cls is tuple:
        return _encode_items(cast("tuple[object, ...]", value))
    if cls is frozenset or cls is set:
        return ("s", [encode_value(item) for item in cast("frozenset[object]", value)])
    return _encode_named(value, cls)


def _encode_mapping(value: Mapping[object, object]) -> object:
    for key in value:
        if type(key) not in _ATOMS:
            raise UnknownValueError(f"a key is of the kind {type(key).__name__}")
    if len(value) >= _COLUMN_FROM:
        values = tuple(value.values())
        kinds = set(map(type, values))
        if kinds <= _ATOMS:
            return dict(value)
        if len(kinds) == 1 and not kinds <= _CONTAINERS:
            return ("m", list(value), _encode_items(values))
    return {key: encode_value(item) for key, item in value.items()}


def _encode_named(value: object, cls: type) -> object:
    name = _name(cls)
    if name in _VALUES:
        if isinstance(value, Enum):
            return ("e", name, value.value)
        held = [getattr(value, field) for field in _fields(cls)]
        return ("r", name, [item if type(item) in _ATOMS else encode_value(item) for item in held])
    if isinstance(value, DebuggerError):
        known = next(base for base in cls.__mro__ if _name(base) in _ERRORS)
        return ("x", _name(known), {key: encode_value(item) for key, item in vars(value).items()})
    raise UnknownValueError(f"{name} may not travel")


def _encode_items(items: Sequence[object]) -> object:
    """Return a tuple; of many records of one class its columns, which is ten times as fast for a token table."""
    kinds: set[type] = set(map(type, items))
    if kinds <= _ATOMS:
        return ("t", list(items))
    if len(items) >= _COLUMN_FROM and len(kinds) == 1:
        cls = kinds.pop()
        name = _name(cls)
        if name in _VALUES:
            is_enum = issubclass(cls, Enum)
            if is_enum:
                return ("e*", name, list(map(_VALUE_OF, items)))
            return ("c", name, [_encode_items(list(map(attrgetter(field), items))) for field in _fields(cls)])
    return ("t", [encode_value(item) for item in items])


@cache
def _fields(cls: type) -> tuple[str, ...]:
    if is_dataclass(cls):
        return tuple(field.name for field in fields(cls))
    return cast("type[_Named]", cls)._fields


# --- decode ----------------------------------------------------------------------


def decode_value(plain: object) -> object:
    """Return the value that `encode_value` made plain; trusts nothing.

    Raises:
        UnknownValueError: It was not made by `encode_value`.
    """
    cls = type(plain)
    if cls in _ATOMS:
        return plain
    if cls is dict:
        members = cast("dict[object, object]", plain)
        if set(map(type, members.values())) <= _ATOMS:
            return members
        return {key: decode_value(item) for key, item in members.items()}
    if cls is list:
        return _items(plain)
    if cls is not tuple:
        raise UnknownValueError(f"{cls.__name__} is not a plain value")
    tag, *parts = cast("tuple[object, ...]", plain)
    reader = _READERS.get(cast("str", tag))
    if reader is None:
        raise UnknownValueError(f"{tag!r} is not a kind of value")
    return reader(*parts)


def _items(plain: object) -> list[object]:
    """Return the items of a list; a list of atoms, as most are, unchanged."""
    if type(plain) is not list:
        raise UnknownValueError("a list is missing")
    return plain if set(map(type, plain)) <= _ATOMS else [decode_value(item) for item in plain]


def _decode_tuple(plain: object) -> tuple[object, ...]:
    return tuple(_items(plain))


def _decode_set(plain: object) -> frozenset[object]:
    return frozenset(_items(plain))


def _decode_record(name: object, plain: object) -> object:
    cls = _class(name)
    if issubclass(cls, Enum):
        raise UnknownValueError(f"{name} is not a record")
    return cls(*_items(plain))


def _decode_enum(name: object, value: object) -> object:
    return _enum(name)(value)


def _decode_enums(name: object, values: object) -> object:
    found, items = _enum(name), _items(values)
    known = {item: found(item) for item in set(items)}
    return tuple(map(known.__getitem__, items))


def _decode_mapping(keys: object, values: object) -> dict[object, object]:
    if type(keys) is not list or not set(map(type, keys)) <= _ATOMS:
        raise UnknownValueError("the keys are missing")
    decoded = decode_value(values)
    if type(decoded) is not tuple:
        raise UnknownValueError("the values are missing")
    try:
        return dict(zip(keys, decoded, strict=True))
    except ValueError:
        raise UnknownValueError("a mapping has other values than keys") from None


def _decode_columns(name: object, columns: object) -> tuple[object, ...]:
    cls = _class(name)
    decoded = [cast("Iterable[object]", column) for column in _items(columns)]
    return tuple(map(cls, *decoded))


def _decode_error(name: object, attributes: object) -> DebuggerError:
    cls = _ERRORS.get(cast("str", name))
    state = decode_value(attributes)
    if cls is None or not isinstance(state, dict):
        raise UnknownValueError(f"{name} is not a known error")
    error = cls.__new__(cls)
    Exception.__init__(error, str(state.get("message")))
    vars(error).update({str(key): value for key, value in state.items()})
    return error


def _class(name: object) -> type:
    found = _VALUES.get(cast("str", name))
    if found is None:
        raise UnknownValueError(f"{name} may not travel")
    return found


def _enum(name: object) -> type[Enum]:
    found = _class(name)
    if not issubclass(found, Enum):
        raise UnknownValueError(f"{name} is not an enum")
    return found


_READERS: Mapping[str, Callable[..., object]] = {  # type: ignore[explicit-any]  # a reader per tag, each with its parts
    "t": _decode_tuple,
    "s": _decode_set,
    "r": _decode_record,
    "c": _decode_columns,
    "e": _decode_enum,
    "e*": _decode_enums,
    "m": _decode_mapping,
    "x": _decode_error,
}
