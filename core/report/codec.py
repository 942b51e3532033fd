"""Any value of `core.types` → JSON and back, exactly; led by the annotations, so that a new field needs nothing here.

    record           → {field: value}, fields at their default left out; a dataclass or a named tuple
    tuple of those   → {"rows": n, "columns": {field: [value, …]}}
    of a subclass    → {"class": name, field: value}
    bytes            → hex text; an enum → its value; a span → [start, stop]
    mapping          → {key: value}, or [[key, value], …] unless keys are text
    JSON             → itself; what JSON cannot say (NaN, …) → {"$json": its text}

`decode_value` trusts nothing: whatever a file holds, it gives a value of the
asked type or says at which place the file is wrong.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from types import NoneType, UnionType
from typing import Literal, Union, cast, get_args, get_origin, get_type_hints

from prompt_debugger.core.errors import shorten
from prompt_debugger.core.types import JSON, JSONObject, Span

_WRAPPED = "$json"


class DamageError(Exception):
    """A place of a file that holds something else than it should.

    Attributes:
        problem: What is there and what was expected.
        steps: The way to it, outermost first.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.steps: list[str] = []

    def inside(self, step: str) -> DamageError:
        """Say where this happened, one step further out; returns itself."""
        self.steps.insert(0, step)
        return self

    @property
    def place(self) -> str:
        """The path, such as `prompt.tokens[3].id`."""
        return "".join(self.steps).removeprefix(".")


class AnyJson:
    """Stands for `JSON` in annotations: the alias itself is recursive and cannot be evaluated."""


class JsonObject:
    """Stands for `JSONObject` in annotations."""


def encode_value(value: object, hint: object) -> JSON:
    """Return `value`, which is of type `hint`, as JSON.

    Args:
        value: A value of `core.types`, or a part of one.
        hint: Its annotation: a dataclass, an enum, a tuple, …
    """
    origin = get_origin(hint)
    if origin in (UnionType, Union):
        return None if value is None else encode_value(value, _alternative(hint, value))
    if origin is Literal or hint in (str, int, bool, NoneType):
        return cast("JSON", value)
    if hint in (AnyJson, JsonObject):
        return _encode_json(cast("JSON", value))
    if hint is float:
        return _encode_json(cast("float", value))
    return _encode_composed(value, hint)


def decode_value(raw: JSON, hint: object) -> object:
    """Return the value of type `hint` that `raw` stands for; the inverse of `encode_value`.

    Raises:
        DamageError: `raw` stands for none.
    """
    origin = get_origin(hint)
    if origin in (UnionType, Union):
        return None if raw is None and NoneType in get_args(hint) else decode_value(raw, _alternative(hint, raw))
    if origin is Literal:
        return _checked(raw, raw in get_args(hint), "one of " + ", ".join(map(repr, get_args(hint))))
    if hint in (AnyJson, JsonObject):
        value = _decode_json(raw)
        return _checked(value, hint is AnyJson or isinstance(value, dict), "an object")
    if hint in _SCALARS:
        return _decode_scalar(raw, cast("type", hint))
    return _decode_composed(raw, hint)


# --- annotations -----------------------------------------------------------------

_SCALARS: Mapping[object, str] = {str: "a text", int: "a whole number", bool: "true or false", float: "a number"}


@lru_cache(maxsize=256)
def hints_of(cls: type) -> Mapping[str, object]:
    """Return the annotations of a dataclass, its bases' included."""
    return get_type_hints(cls, localns={"JSON": AnyJson, "JSONObject": JsonObject})


def _alternative(hint: object, value: object) -> object:
    """Return the member of a union that a value, encoded or not, is of; the last one if none shows."""
    members = [member for member in get_args(hint) if member is not NoneType]
    return next((member for member in members if member in _SCALARS and type(value) is member), members[-1])


@lru_cache(maxsize=256)
def _item_hints(hint: object) -> tuple[object, ...]:
    return get_args(hint)


def defaults_of(cls: type) -> dict[str, object]:
    """Return the fields of a record in order, each with its default, `MISSING` if it has none."""
    if is_dataclass(cls):
        return {field.name: _default(field) for field in fields(cls)}
    names: tuple[str, ...] = getattr(cls, "_fields", ())
    given: Mapping[str, object] = getattr(cls, "_field_defaults", {})
    return {name: given.get(name, MISSING) for name in names}


def _default(field: Field[object]) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _is_record(hint: object) -> bool:
    return is_dataclass(hint) or (isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"))


def _step(key: object) -> str:
    return f"[{key}]" if isinstance(key, int) else f".{key}"


# --- encode ----------------------------------------------------------------------


def _encode_composed(value: object, hint: object) -> JSON:
    if isinstance(value, Span):
        return [value.start, value.stop]
    if isinstance(value, Enum):
        return cast("JSON", value.value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple) and not _is_record(type(value)):
        return _encode_tuple(value, _item_hints(hint))
    if isinstance(value, frozenset):
        return [encode_value(item, _item_hints(hint)[0]) for item in sorted(value)]
    if isinstance(value, Mapping):
        return _encode_mapping(value, *_item_hints(hint))
    return _encode_fields(value, cast("type", hint))


def _encode_tuple(value: tuple[object, ...], hints: tuple[object, ...]) -> JSON:
    if len(hints) != 2 or hints[1] is not Ellipsis:
        return [encode_value(item, hint) for item, hint in zip(value, hints, strict=True)]
    if hints[0] is not Span and _is_record(hints[0]) and all(type(item) is hints[0] for item in value):
        return _encode_rows(value, cast("type", hints[0]))
    return [encode_value(item, hints[0]) for item in value]


def _encode_rows(rows: tuple[object, ...], cls: type) -> JSONObject:
    columns: JSONObject = {}
    for name, default in defaults_of(cls).items():
        values = [getattr(row, name) for row in rows]
        if default is MISSING or any(value != default for value in values):
            columns[name] = [encode_value(value, hints_of(cls)[name]) for value in values]
    return {"rows": len(rows), "columns": columns}


def _encode_mapping(value: Mapping[object, object], key_hint: object, value_hint: object) -> JSON:
    pairs = [(encode_value(key, key_hint), encode_value(item, value_hint)) for key, item in value.items()]
    if key_hint is str:
        return {str(key): item for key, item in pairs}
    return [[key, item] for key, item in pairs]


def _encode_fields(value: object, cls: type) -> JSONObject:
    own: type = type(value)
    encoded: JSONObject = {} if own is cls else {"class": own.__name__}
    for name, default in defaults_of(own).items():
        item = getattr(value, name)
        if item != default:
            encoded[name] = encode_value(item, hints_of(own)[name])
    return encoded


def _encode_json(value: JSON) -> JSON:
    if _is_plain(value) and not (isinstance(value, dict) and [*value] == [_WRAPPED]):
        return value
    return {_WRAPPED: json.dumps(value)}


def _is_plain(value: JSON) -> bool:
    """Return whether strict JSON can say a value."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    return all(map(_is_plain, value)) if isinstance(value, list) else True


# --- decode ----------------------------------------------------------------------


def _checked(value: object, is_right: object, expected: str) -> object:
    if not is_right:
        raise DamageError(f"it is {shorten(value)}, expected {expected}")
    return value


def _decode_scalar(raw: JSON, hint: type) -> object:
    if hint is float:
        raw = _decode_json(raw)
        return _checked(raw, type(raw) in (int, float), _SCALARS[hint])
    return _checked(raw, type(raw) is hint, _SCALARS[hint])


def _decode_json(raw: JSON) -> JSON:
    if not isinstance(raw, dict) or [*raw] != [_WRAPPED]:
        return raw
    text = raw[_WRAPPED]
    try:
        value: JSON = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        value = None
    _checked(text, value is not None, "the text of a JSON value")
    return value


def _decode_composed(raw: JSON, hint: object) -> object:
    origin = get_origin(hint)
    if origin is tuple:
        return _decode_tuple(raw, _item_hints(hint))
    if origin is frozenset:
        return frozenset(_decode_items(_list(raw), _item_hints(hint)[0]))
    if origin is not None:  # the one generic type that is left
        return dict(_decode_mapping(raw, *_item_hints(hint)))
    cls = cast("type", hint)
    return _KINDS.get(cls, _decode_enum if issubclass(cls, Enum) else _decode_fields)(raw, cls)


def _list(raw: JSON) -> list[JSON]:
    return cast("list[JSON]", _checked(raw, isinstance(raw, list), "a list"))


def _object(raw: JSON) -> JSONObject:
    return cast("JSONObject", _checked(raw, isinstance(raw, dict), "an object"))


def _decode_items(raws: Iterable[JSON], hint: object) -> Iterator[object]:
    for index, raw in enumerate(raws):
        try:
            yield decode_value(raw, hint)
        except DamageError as damage:
            raise damage.inside(_step(index)) from None


def _decode_span(raw: JSON, _cls: type) -> object:
    ends = _list(raw)
    numbers = [end for end in ends if type(end) is int]
    _checked(raw, len(ends) == len(numbers) == 2 and 0 <= numbers[0] <= numbers[1], "[start, stop]")
    return Span(*numbers)


def _decode_bytes(raw: JSON, _cls: type) -> object:
    try:
        return bytes.fromhex(raw if isinstance(raw, str) else "not hex")
    except ValueError:
        return _checked(raw, None, "bytes in hex")


def _decode_enum(raw: JSON, cls: type) -> object:
    members = {member.value: member for member in cast("type[Enum]", cls)}
    _checked(raw, isinstance(raw, str) and raw in members, "one of " + ", ".join(map(str, members)))
    return members[raw]


_KINDS: Mapping[type, Callable[[JSON, type], object]] = {Span: _decode_span, bytes: _decode_bytes}


def _decode_tuple(raw: JSON, hints: tuple[object, ...]) -> tuple[object, ...]:
    if len(hints) == 2 and hints[1] is Ellipsis:
        if isinstance(raw, dict) and _is_record(hints[0]):
            return tuple(_decode_rows(raw, cast("type", hints[0])))
        return tuple(_decode_items(_list(raw), hints[0]))
    _checked(raw, len(_list(raw)) == len(hints), f"{len(hints)} values")
    return tuple(decode_value(item, hint) for item, hint in zip(_list(raw), hints, strict=True))


def _decode_rows(raw: JSONObject, cls: type) -> Iterator[object]:
    count, columns = raw.get("rows"), _object(raw.get("columns"))
    _checked(count, type(count) is int and count >= 0, "`rows`, a count")
    decoded: dict[str, list[object]] = {}
    for name, column in columns.items():
        try:
            _known(name, cls)
            items = _list(column)
            _checked(items, len(items) == count, f"{count} values")
            decoded[name] = _decode_column(items, hints_of(cls)[name])
        except DamageError as damage:
            raise damage.inside(_step(name)) from None
    _check_complete(decoded, cls)
    for index in range(cast("int", count)):
        yield cls(**{name: values[index] for name, values in decoded.items()})


def _decode_column(raws: list[JSON], hint: object) -> list[object]:
    if hint in (str, int, bool) and all(type(raw) is hint for raw in raws):
        return cast("list[object]", raws)  # most of a long prompt
    return [*_decode_items(raws, hint)]


def _decode_mapping(raw: JSON, key_hint: object, value_hint: object) -> Iterator[tuple[object, object]]:
    pairs = _object(raw).items() if key_hint is str else map(_pair, _list(raw))
    for key, item in pairs:
        try:
            yield decode_value(key, key_hint), decode_value(item, value_hint)
        except DamageError as damage:
            raise damage.inside(_step(key)) from None


def _pair(raw: JSON) -> tuple[JSON, JSON]:
    _checked(raw, isinstance(raw, list) and len(raw) == 2, "[key, value]")
    key, value = _list(raw)
    return key, value


def _decode_fields(raw: JSON, cls: type) -> object:
    given = dict(_object(raw))
    own = _subclass(given.pop("class"), cls) if "class" in given else cls
    decoded: dict[str, object] = {}
    for name, item in given.items():
        try:
            _known(name, own)
            decoded[name] = decode_value(item, hints_of(own)[name])
        except DamageError as damage:
            raise damage.inside(_step(name)) from None
    _check_complete(decoded, own)
    return own(**decoded)


def _subclass(name: JSON, cls: type) -> type:
    """Return the subclass of that name: what a stage has to add to a value that all stages share."""
    kinds: list[type] = cls.__subclasses__()
    # A class with slots was made twice; the one that counts is the one its module knows.
    known = {one.__name__: one for one in kinds if getattr(sys.modules.get(one.__module__), one.__name__, None) is one}
    _checked(name, isinstance(name, str) and name in known, f"a kind of {cls.__name__}: {', '.join(known) or 'none'}")
    found: type = known[cast("str", name)]
    return found


def _known(name: str, cls: type) -> None:
    _checked(name, name in hints_of(cls), f"a field of {cls.__name__}")


def _check_complete(decoded: Mapping[str, object], cls: type) -> None:
    defaults = defaults_of(cls)
    missing = [name for name, default in defaults.items() if name not in decoded and default is MISSING]
    if missing:
        raise DamageError(f"it lacks {', '.join(f'`{name}`' for name in missing)}")
