"""A call is valid as `jsonschema.validate` has it, and many calls are checked in time that grows with them."""

from __future__ import annotations

import json

import jsonschema
import pytest

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.tools.verify.validity import Validity, check_calls
from tests.attacks.growth import grows_linearly


def tool(parameters: JSON, name: str = "f") -> JSON:
    """Return a tool of a request."""
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def call(arguments: JSON, name: str = "f") -> JSON:
    """Return a call of an answer."""
    return {"type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def one_of(values: list[JSON], **more: JSON) -> JSONObject:
    """Return a schema of an object whose `a` is one of these."""
    return {"type": "object", "properties": {"a": {"enum": values, **more}}, "required": ["a"]}


@pytest.mark.parametrize(
    "schema",
    [
        one_of([1, 2]),
        one_of([{"n": n} for n in range(100)]),
        one_of([[1, {"n": 2}]], uniqueItems=True),
        one_of([1], type="nothing"),
        {"type": "object", "properties": {"a": {"pattern": "("}}},
        {"$schema": "http://json-schema.org/draft-04/schema#", **one_of([3, True])},
        {"$schema": "http://json-schema.org/draft-03/schema#", "properties": {"b": {"required": True}}},
    ],
    ids=["few", "many", "items", "no schema", "no pattern", "draft 4", "draft 3"],
)
def test_a_call_is_valid_as_jsonschema_has_it(schema: JSONObject) -> None:
    values: tuple[JSON, ...] = ({"a": 1}, {"a": 1.0}, {"a": True}, {"a": {"n": 7}}, {"a": [1, {"n": 2}]}, {"b": 1}, {})
    for value in values:
        is_valid = True
        try:
            jsonschema.validate(value, schema)
        except (jsonschema.ValidationError, jsonschema.SchemaError):
            is_valid = False

        assert check_calls([tool(schema)], [call(value)]).default is is_valid


def test_the_first_tool_of_a_name_counts_and_each_call() -> None:
    tools = [tool(one_of([1])), tool(one_of([2])), tool(one_of([3]), "g")]

    assert check_calls(tools, [call({"a": 1}), call({"a": 3}, "g")]) == Validity(default=True, draft_2020=True)
    assert check_calls(tools, [call({"a": 1}), call({"a": 2})]) == Validity(default=False, draft_2020=False)
    assert check_calls(tools, [call({"a": 1}, "h")]) == Validity(default=False, draft_2020=False)


@pytest.mark.slow
def test_many_calls_are_checked_in_linear_time() -> None:
    """Each of them had its tool looked for among all, and its schema looked at anew."""

    def work(size: int) -> Validity:
        tools = [tool(one_of([f"value {n}" for n in range(size)])), *(tool({}, f"g{n}") for n in range(size))]
        return check_calls(tools, [call({"a": f"value {n}"}) for n in range(size)])

    assert grows_linearly(work, first=500)
