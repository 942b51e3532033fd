"""Whether the calls of an answer are valid, by K2VV's published definition. Schemas are strangers': a job of the room.

Each call must name a tool of the request, and its arguments, decoded, must pass `jsonschema.validate` with that
tool's parameters. No schema, an empty one, one that is none, and an empty list of calls are invalid.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from jsonschema_specifications import REGISTRY as SPECIFICATIONS

from prompt_debugger.core.room import Limits, job
from prompt_debugger.core.room.values import admit
from prompt_debugger.core.types import JSON, JSONObject


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
        return Validity(default=False, draft_2020=False)
    checked = [_check(tools, call) for call in calls]
    return Validity(all(one.default for one in checked), all(one.draft_2020 for one in checked))


admit(Validity)


def _check(tools: list[JSON], call: JSON) -> Validity:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return Validity(default=False, draft_2020=False)
    schema = _schema_of(tools, function.get("name"))
    try:
        arguments = function.get("arguments")
        value: JSON = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return Validity(default=False, draft_2020=False)
    if not schema or arguments is None:
        return Validity(default=False, draft_2020=False)
    own = validator_for(schema, default=Draft202012Validator)
    newest = _passes(Draft202012Validator, schema, value)
    return Validity(newest if own is Draft202012Validator else _passes(own, schema, value), newest)


def _schema_of(tools: list[JSON], name: JSON) -> JSONObject | None:
    for tool in tools:
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict) and function.get("name") == name:
            parameters = function.get("parameters")
            return parameters if isinstance(parameters, dict) else None
    return None


def _passes(cls: type[Validator], schema: JSONObject, value: JSON) -> bool:
    try:
        cls.check_schema(schema)
        return bool(cls(schema, registry=SPECIFICATIONS).is_valid(value))
    except Exception:  # noqa: BLE001  # a schema that cannot be used makes the call invalid, whatever it raises
        return False
