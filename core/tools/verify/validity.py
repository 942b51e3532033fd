"""Whether the calls of an answer are valid, by K2VV's published definition. A sandbox job: schemas are untrusted.

Each call must name a tool of the request, and its arguments, decoded, must pass `jsonschema.validate` with that
tool's parameters. A missing, empty or broken schema and an empty list of calls are invalid.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from jsonschema_specifications import REGISTRY as SPECIFICATIONS

from prompt_debugger.core.base.schema_validator import build_validator, is_schema
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.sandbox import Limits, job
from prompt_debugger.core.sandbox.values import admit

_MAX_REMEMBERED_CHARS = 100_000


class Validity(NamedTuple):
    """Whether the calls of an answer are valid.

    Attributes:
        default: By the draft that the schema names, as K2VV checks; 2020-12 where it names none.
        draft_2020: By draft 2020-12, as KVV checks.
    """

    default: bool
    draft_2020: bool


@job("checking the calls against their schemas", Limits(cpu_s=4.0, wall_s=60.0))
def check_calls(tools: list[JSON], calls: list[JSON]) -> Validity:
    """Return whether all calls are valid."""
    if not calls:
        return _NEITHER
    schemas = _Schemas(tools)
    checked = [_check(schemas, call) for call in calls]
    return Validity(all(one.default for one in checked), all(one.draft_2020 for one in checked))


admit(Validity)
_NEITHER = Validity(default=False, draft_2020=False)


def _check(schemas: _Schemas, call: JSON) -> Validity:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return _NEITHER
    try:
        arguments = function.get("arguments")
        value: JSON = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return _NEITHER
    return _NEITHER if arguments is None else schemas.judge(function.get("name"), value)


class _Schemas:
    """The parameters of a request's tools."""

    def __init__(self, tools: list[JSON]) -> None:
        self._schemas: dict[str, JSON] = {}
        self._texts: dict[str, str] = {}
        for tool in tools:
            function = tool.get("function") if isinstance(tool, dict) else None
            if isinstance(function, dict):
                self._schemas.setdefault(repr(function.get("name")), function.get("parameters"))

    def judge(self, name: JSON, value: JSON) -> Validity:
        """Return whether arguments pass the first tool of this name."""
        key = repr(name)
        schema = self._schemas.get(key)
        if not schema or not isinstance(schema, dict):
            return _NEITHER
        try:
            if key not in self._texts:
                self._texts[key] = json.dumps(schema)
            is_cached = len(self._texts[key]) <= _MAX_REMEMBERED_CHARS
            build = _build_validators if is_cached else _build_validators.__wrapped__
            validators = build(self._texts[key])
        except Exception:  # noqa: BLE001  # a schema that cannot be used makes the call invalid, whatever it raises
            return _NEITHER
        return Validity(*(_passes(validator, value) for validator in validators))


class _Validators(NamedTuple):
    """The validators of a schema; `None` for a draft by which it is not a valid schema."""

    own: Validator | None
    newest: Validator | None


@lru_cache(maxsize=256)
def _build_validators(text: str) -> _Validators:
    """Return the validators of a schema, cached: the rows of a dataset share their tools."""
    schema: JSONObject = json.loads(text)
    cls = validator_for(schema, default=Draft202012Validator)
    newest = _validator_of(schema, Draft202012Validator)
    return _Validators(newest if cls is Draft202012Validator else _validator_of(schema, cls), newest)


def _validator_of(schema: JSONObject, cls: type[Validator]) -> Validator | None:
    try:
        return build_validator(schema, cls, registry=SPECIFICATIONS) if is_schema(schema, cls) else None
    except Exception:  # noqa: BLE001  # likewise
        return None


def _passes(validator: Validator | None, value: JSON) -> bool:
    try:
        return validator is not None and bool(validator.is_valid(value))
    except Exception:  # noqa: BLE001  # likewise
        return False
