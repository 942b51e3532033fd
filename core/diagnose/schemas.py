"""JSON Schema as tool specs use it: walking a schema, and checking arguments against it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, TypeAlias

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, UnknownType
from jsonschema.protocols import Validator
from jsonschema_specifications import REGISTRY as SPECIFICATIONS
from referencing import Registry
from referencing.exceptions import Unresolvable

from prompt_debugger.core.base.schema_validator import build_validator
from prompt_debugger.core.base.types import JSON, JSONObject

KNOWN_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_SCHEMAS_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE_SCHEMAS = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_MAX_DEPTH = 40
_MAX_REMEMBERED_CHARS = 20_000
_MAX_KEPT_CHARS = 10_000  # of a schema whose validator is kept, with all of it as objects
_MAX_VIOLATIONS = 20  # a rule shows three
_COSTLY = re.compile(
    r'"(pattern|patternProperties|propertyNames|\$(?:ref|dynamicRef|recursiveRef)'
    r'|unevaluated\w+|dependen\w+|contains|allOf|oneOf|not|if)":'
)
_UNREADABLE = (SchemaError, UnknownType, Unresolvable, RecursionError, re.error)

CheckKey: TypeAlias = tuple[str, str]


class Subschema(NamedTuple):
    """A schema inside a schema, with its path."""

    path: str
    schema: JSONObject


class Violation(NamedTuple):
    """What an instance does against its schema: the place in the instance, and the message."""

    path: str
    message: str


_Outcomes: TypeAlias = Mapping[CheckKey, tuple[Violation, ...] | None]


def walk_schema(schema: JSON, path: str, depth: int = 0) -> Iterator[Subschema]:
    """Yield a schema and every schema inside it, outermost first."""
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return
    yield Subschema(path, schema)
    for key in _SCHEMAS_BY_NAME:
        group = schema.get(key)
        if isinstance(group, dict):
            for name, inner in group.items():
                yield from walk_schema(inner, f"{path}.{key}.{name}", depth + 1)
    for key in _SCHEMA_LISTS:
        alternatives = schema.get(key)
        if isinstance(alternatives, list):
            for index, inner in enumerate(alternatives):
                yield from walk_schema(inner, f"{path}.{key}[{index}]", depth + 1)
    for key in _SINGLE_SCHEMAS:
        if key in schema:
            yield from walk_schema(schema[key], f"{path}.{key}", depth + 1)


def may_take_long(schema: JSON) -> bool:
    """Return whether checking a value against a schema may take more than one pass over both.

    A pattern may search without end, references multiply, and the rest asks about each member again and again. A
    property of such a name counts as well: anyone who asks may be more careful than need be.
    """
    try:
        text = json.dumps(schema)
    except RecursionError:
        return True
    return len(text) > _MAX_REMEMBERED_CHARS or _COSTLY.search(text) is not None


def types_of(schema: JSONObject) -> tuple[str, ...]:
    """Return the type names that a schema declares."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return (declared,)
    return tuple(name for name in declared if isinstance(name, str)) if isinstance(declared, list) else ()


def schema_faults(schema: JSON) -> tuple[Violation, ...]:
    """Return where a schema breaks the rules of JSON Schema 2020-12."""
    try:
        text = json.dumps(schema)
    except RecursionError:
        return ()
    # The lines of a case file share their tools, and this is half the time that such a line takes.
    return _remembered_faults(text) if len(text) <= _MAX_REMEMBERED_CHARS else _find_faults(schema)


@lru_cache(maxsize=256)
def _remembered_faults(text: str) -> tuple[Violation, ...]:
    return _find_faults(json.loads(text))


def _find_faults(schema: JSON) -> tuple[Violation, ...]:
    try:
        validator = build_validator(Draft202012Validator.META_SCHEMA, registry=SPECIFICATIONS)
        return tuple(Violation(error.json_path, error.message) for error in validator.iter_errors(schema))
    except _UNREADABLE:
        return ()


def violations(instance: JSON, schema: JSON) -> tuple[Violation, ...] | None:
    """Return how an instance breaks a schema, the first ways; `None` if the schema cannot be used or was left out.

    References are resolved inside the schema only: nothing is fetched.
    """
    if not isinstance(schema, dict):
        return None
    known = _KNOWN.get()
    key = ("", "") if known is None else known.key(instance, schema)
    return (
        SchemaCheck(schema).violations(instance) if known is None or key not in known.outcomes else known.outcomes[key]
    )


class SchemaCheck:
    """What is checked against one schema, which is looked at once for all of it."""

    def __init__(self, schema: JSONObject) -> None:
        self._schema = schema
        self._validator: Validator | None = None
        self._is_looked_at = False

    def violations(self, instance: JSON) -> tuple[Violation, ...] | None:
        """Return what `violations` does, whatever is known of it."""
        if not self._is_looked_at:
            self._validator, self._is_looked_at = _validator_of(self._schema), True
        if self._validator is None:
            return None
        try:
            broken = islice(self._validator.iter_errors(instance), _MAX_VIOLATIONS)
            return tuple(Violation(error.json_path, error.message) for error in broken)
        except _UNREADABLE:
            return None


def _validator_of(schema: JSONObject) -> Validator | None:
    """Return what checks values against a schema; `None` if the schema cannot be used."""
    text = _as_text(schema)
    if text and len(text) <= _MAX_KEPT_CHARS:
        return _remembered_validator(text)
    return build_validator(schema, registry=Registry()) if _is_usable(schema) else None


@lru_cache(maxsize=128)
def _remembered_validator(text: str) -> Validator | None:
    """Return the same, remembered: the rows of a verification share their tools."""
    schema: JSONObject = json.loads(text)
    return build_validator(schema, registry=Registry()) if _is_usable(schema) else None


def _is_usable(schema: JSONObject) -> bool:
    is_typed = all(KNOWN_TYPES.issuperset(types_of(inner.schema)) for inner in walk_schema(schema, "$"))
    return is_typed and not schema_faults(schema)


def check_keys(instances: Iterable[JSON], schema: JSON) -> tuple[CheckKey, ...]:
    """Return what tells the checks of instances from others."""
    text = _as_text(schema)
    return tuple((_as_text(instance), text) for instance in instances)


def _as_text(value: JSON) -> str:
    try:
        return json.dumps(value)
    except RecursionError:
        return ""


@contextmanager
def knowing(outcomes: _Outcomes) -> Iterator[None]:
    """Let `violations` answer with what was found before, `None` for a check that was left out."""
    token = _KNOWN.set(_Known(outcomes))
    try:
        yield
    finally:
        _KNOWN.reset(token)


class _Known:
    """Checks made before; a schema is written as text once, however many calls are checked against it."""

    def __init__(self, outcomes: _Outcomes) -> None:
        self.outcomes = outcomes
        self._texts: dict[int, tuple[JSON, str]] = {}

    def key(self, instance: JSON, schema: JSON) -> CheckKey:
        if id(schema) not in self._texts:
            self._texts[id(schema)] = schema, _as_text(schema)  # kept, so that no other gets its number
        return _as_text(instance), self._texts[id(schema)][1]


_KNOWN: ContextVar[_Known | None] = ContextVar("earlier checks", default=None)
