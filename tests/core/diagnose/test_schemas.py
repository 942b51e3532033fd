"""Schemas that someone wrote by hand, or to do harm."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.diagnose.schemas import (
    SchemaCheck,
    Violation,
    check_keys,
    knowing,
    may_take_long,
    schema_faults,
    types_of,
    violations,
    walk_schema,
)
from tests.attacks.growth import grows_linearly


def nested(depth: int) -> JSON:
    schema: JSON = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def test_a_violation_names_its_place() -> None:
    schema: JSON = {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "integer"}}}}

    found = violations({"rows": [1, "2"]}, schema)

    assert found is not None
    assert [item.path for item in found] == ["$.rows[1]"]


def test_a_schema_that_cannot_be_used_gives_no_answer() -> None:
    assert violations({}, {"type": "str"}) is None
    assert violations({}, {"$ref": "http://example.invalid/x.json"}) is None
    assert violations({}, {"$ref": "#"}) is None
    assert violations("x", {"pattern": "("}) is None
    assert violations({}, "no schema") is None


def test_a_schema_too_deep_to_be_checked_is_not_used_where_it_names_an_unknown_type() -> None:
    assert violations({}, {"properties": {"a": {"type": "str"}, "b": nested(3000)}}) is None


def test_a_bottomless_schema_is_walked_so_far_and_no_further() -> None:
    deep = nested(3000)

    assert len(list(walk_schema(deep, "$"))) < 100
    assert schema_faults(deep) == ()


@pytest.mark.parametrize(
    ("items", "are_unique"),
    [
        ([{"a": 1, "b": [True]}, {"b": [True], "a": 1.0}], False),
        ([{"a": 1}, {"a": True}, {"a": "1"}, {"a": [1]}, {"a": {}}, {"a": []}, {}, []], True),
        ([0, False, "0", "", None, [], [0], [False], "false", "true", True, 1, "list", [[]]], True),
        ([[{"a": 1}], [{"a": 2}], [{"a": 1}]], False),
        ([None, 1, None], False),
    ],
)
def test_items_are_unique_by_what_json_schema_calls_equal(items: list[JSON], *, are_unique: bool) -> None:
    ours = violations({"a": items}, {"type": "object", "properties": {"a": {"uniqueItems": True}}})

    assert (ours == ()) is are_unique
    assert Draft202012Validator({"uniqueItems": True}).is_valid(items) is are_unique
    assert violations({"a": items}, {"type": "object", "properties": {"a": {"uniqueItems": False}}}) == ()


@pytest.mark.parametrize("value", [{"n": 3}, {"n": 3.0}, {"n": True}, {"n": "3"}, 99, "99", None, True, 1, [1], [True]])
def test_a_value_is_one_of_many_as_it_is_one_of_few(value: JSON) -> None:
    objects: list[JSON] = [{"n": n} for n in range(60)]
    allowed: JSON = [*objects, 99, None, [1], "true", 0.5, False]
    ours = violations({"a": value}, {"type": "object", "properties": {"a": {"enum": allowed}}})

    assert (ours == ()) is Draft202012Validator({"enum": allowed}).is_valid(value)


@pytest.mark.slow
def test_values_are_looked_for_among_many_in_linear_time() -> None:
    def work(size: int) -> object:
        items: JSON = {"enum": [f"value {n}" for n in range(size)]}
        schema: JSONObject = {"type": "object", "properties": {"a": {"items": items, "contains": items}}}
        return SchemaCheck(schema).violations({"a": [f"value {size - n}" for n in range(size)]})

    assert grows_linearly(work, first=1_000)


@pytest.mark.slow
def test_unique_items_that_cannot_be_sorted_are_checked_in_linear_time() -> None:
    """6,000 of them took seconds, each compared with all the others."""
    schema: JSONObject = {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}}

    assert grows_linearly(
        lambda size: SchemaCheck(schema).violations({"a": [{"n": n} for n in range(size)]}), first=2_000
    )


@pytest.mark.slow
def test_the_items_of_a_schema_that_have_to_be_unique_are_checked_in_linear_time() -> None:
    assert grows_linearly(lambda size: schema_faults({"required": [[n] for n in range(size)]}), first=1_000)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"pattern": "^(a+)+$"}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {}}},
        {"items": {"oneOf": [{"type": "string"}]}},
        {"unevaluatedProperties": False},
        {"dependentSchemas": {"a": {}}},
        {"enum": ["a" * 30_000]},
    ],
    ids=lambda schema: next(iter(schema)),
)
def test_what_may_take_long_is_reported_before_it_is_checked(schema):
    assert may_take_long(schema)


def test_what_most_tools_declare_takes_one_pass():
    schema = {"type": "object", "properties": {"city": {"type": "string", "enum": ["Paris"]}}, "required": ["city"]}
    assert not may_take_long({**schema, "additionalProperties": False})


def test_every_schema_inside_a_schema_is_walked_by_its_path() -> None:
    schema: JSON = {
        "properties": {"a": {"items": {"anyOf": [{}, True, {"not": {}}]}}},
        "$defs": {"b": {"additionalProperties": {}}},
        "prefixItems": [{}],
        "if": {},
        "enum": [{}],
        "default": {"properties": {}},
    }

    assert [inner.path for inner in walk_schema(schema, "$")] == [
        "$",
        "$.properties.a",
        "$.properties.a.items",
        "$.properties.a.items.anyOf[0]",
        "$.properties.a.items.anyOf[2]",
        "$.properties.a.items.anyOf[2].not",
        "$.$defs.b",
        "$.$defs.b.additionalProperties",
        "$.prefixItems[0]",
        "$.if",
    ]
    assert list(walk_schema([{}], "$")) == []


@pytest.mark.parametrize(
    ("declared", "names"),
    [("string", ("string",)), (["string", 5, "null"], ("string", "null")), (None, ()), (5, ()), ([], ())],
)
def test_a_schema_declares_one_type_or_several(declared: JSON, names: tuple[str, ...]) -> None:
    assert types_of({"type": declared}) == names


@pytest.mark.parametrize("size", [10, 30_000])
def test_a_fault_of_a_schema_is_named_with_its_place_whatever_its_size(size: int) -> None:
    (fault,) = schema_faults({"description": "x" * size, "properties": {"a": {"type": "string", "required": "a"}}})

    assert fault.path == "$.properties.a.required"
    assert fault.message == "'a' is not of type 'array'"


def test_what_was_found_before_is_not_looked_for_again() -> None:
    schema: JSONObject = {"required": ["a"]}
    broken, whole, unasked = check_keys([{}, {"a": 1}, {"b": 1}], schema)
    earlier = (Violation("$", "found before"),)

    with knowing({broken: earlier, whole: None}):
        assert violations({}, schema) == earlier
        assert violations({"a": 1}, {**schema}) is None
        found = violations({"b": 1}, schema)
    assert found == violations({"b": 1}, schema)
    assert found == (Violation("$", "'a' is a required property"),)
    assert violations({"a": 1}, schema) == ()
    assert unasked not in (broken, whole)


def test_no_more_violations_are_listed_than_are_of_use() -> None:
    found = violations([""] * 100, {"items": {"type": "integer"}})

    assert found is not None
    assert [one.path for one in found] == [f"$[{index}]" for index in range(20)]


def test_a_schema_that_changed_is_looked_at_again() -> None:
    schema: JSONObject = {"type": "object", "required": ["a"]}
    before = SchemaCheck(schema).violations({"b": 1})
    schema["required"] = ["b"]

    assert before is not None
    assert [one.message for one in before] == ["'a' is a required property"]
    assert SchemaCheck(schema).violations({"b": 1}) == ()


def test_whole_numbers_and_fractions_of_a_schema_are_told_apart() -> None:
    whole: JSONObject = {"const": 1, "title": "n"}
    broken: JSONObject = {"const": 1.0, "title": "n"}

    shown = [SchemaCheck(schema).violations(2) for schema in (whole, broken, whole)]

    assert [one[0].message if one else "" for one in shown] == ["1 was expected", "1.0 was expected", "1 was expected"]
