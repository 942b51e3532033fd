"""Every value of `core.base.types` with every field filled: made from the annotations, so no new field is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from prompt_debugger.core.base.types import JSON, FormatScore, JSONObject, Span, Token, Tokens
from prompt_debugger.core.formats import FORMATS
from tests.strategies import raw_texts


def _as_read(text: str) -> str:
    """Return a text as JSON gives it: two halves of a character that stand together are that character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


texts = st.one_of(raw_texts(3), st.text(max_size=4), st.just("$json")).map(_as_read)
floats = st.floats(allow_nan=False) | st.sampled_from([float("inf"), -9999.0])
scalars = st.one_of(texts, st.integers(), floats, st.booleans(), st.none())
jsons = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2), max_leaves=3
)
objects = st.dictionaries(texts, jsons, max_size=2) | st.builds(lambda item: {"$json": item}, jsons)
_LEAVES: dict[object, st.SearchStrategy[Any]] = {
    str: texts,
    int: st.integers(0, 2**40),
    float: floats,
    bool: st.booleans(),
    bytes: st.binary(max_size=4),
    NoneType: st.none(),
    JSON: jsons,
    JSONObject: objects,
    Tokens: st.deferred(lambda: values(tuple[Token, ...])),
    # Its keys are names of ours, which the writer takes for plain ones (`OUR_KEYS`).
    Mapping[str, FormatScore]: st.deferred(
        lambda: st.dictionaries(st.sampled_from([*FORMATS]), values(FormatScore), max_size=2)
    ),
    Span: st.lists(st.integers(0, 99), min_size=2, max_size=2).map(sorted).map(lambda ends: Span(*ends)),
}


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Return what may stand where an annotation is."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint in _LEAVES:
        return _LEAVES[hint]
    if origin in (Union, UnionType):
        return st.one_of([values(one) for one in inner])
    if origin is Literal or (isinstance(hint, type) and issubclass(hint, Enum)):
        return st.sampled_from(inner if origin is Literal else list(hint))
    if origin is tuple and inner[1:] == (Ellipsis,):
        return st.lists(values(inner[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*map(values, inner))
    if origin is frozenset:
        return st.frozensets(values(inner[0]), max_size=2)
    if origin is not None and issubclass(origin, Mapping):
        return st.dictionaries(values(inner[0]), values(inner[1]), max_size=2)
    return instances(hint)


def instances(cls: type) -> st.SearchStrategy[Any]:
    """Return instances of a record; a field that has a default may stay at it."""
    required: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for name, default in defaults_of(cls).items():
        (required if default is MISSING else optional)[name] = _later(hints_of(cls)[name])
    return st.fixed_dictionaries(required, optional=optional).map(lambda given: cls(**given))


hints_of = cache(get_type_hints)


def defaults_of(cls: Any) -> dict[str, object]:
    """Return the fields of a record in order, each with its default, `MISSING` if it has none."""
    if is_dataclass(cls):
        return {field.name: _default(field) for field in fields(cls)}
    return {name: cls._field_defaults.get(name, MISSING) for name in cls._fields}


def _default(field: Field[object]) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _later(hint: Any) -> st.SearchStrategy[Any]:
    return st.deferred(lambda: values(hint))
