"""Schemas that somebody wrote by hand, or to do harm."""

from __future__ import annotations

from prompt_debugger.core.diagnose.schemas import schema_faults, violations, walk_schema
from prompt_debugger.core.types import JSON


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


def test_a_bottomless_schema_is_walked_so_far_and_no_further() -> None:
    deep = nested(3000)

    assert len(list(walk_schema(deep, "$"))) < 100
    assert schema_faults(deep) == ()
