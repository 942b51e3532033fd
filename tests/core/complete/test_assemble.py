"""A message from its deltas, as a usual client puts it together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.json_values import as_object, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete.assemble import MessageAssembler

JSON_VALUES: st.SearchStrategy[JSON] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["role", "content", "reasoning", "tool_calls", "index", "id", "type", "function", "name", "x"])
DELTAS: st.SearchStrategy[JSONObject] = st.dictionaries(
    KEYS, JSON_VALUES | st.lists(st.dictionaries(KEYS, JSON_VALUES, max_size=4), max_size=3), max_size=4
)


def assemble(*deltas: JSONObject) -> JSONObject:
    assembler = MessageAssembler()
    for delta in deltas:
        assembler.add(delta)
    return assembler.message()


def call(index: int | None, **fields: JSON) -> JSONObject:
    return {"tool_calls": [{**({} if index is None else {"index": index}), **fields}]}


def test_texts_grow() -> None:
    message = assemble({"role": "assistant", "content": ""}, {"reasoning": "a"}, {"reasoning": "b"}, {"content": "c"})

    assert message == {"role": "assistant", "content": "c", "reasoning": "ab"}


def test_parallel_calls_are_kept_apart_by_index() -> None:
    message = assemble(
        call(1, id="b", type="function", function={"name": "g", "arguments": ""}),
        call(0, id="a", type="function", function={"name": "f", "arguments": '{"x"'}),
        call(1, function={"arguments": "{}"}),
        call(0, function={"arguments": ": 1}"}),
    )

    assert message["tool_calls"] == [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
        {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
    ]


def test_what_a_server_repeats_in_every_delta_is_not_doubled() -> None:
    part = call(0, id="a", type="function", function={"name": "f", "arguments": "x"})

    message = assemble({"role": "assistant"}, part, {"role": "assistant"}, part)

    assert message == {
        "role": "assistant",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "xx"}}],
    }


def test_calls_without_index_are_distinguished_by_id() -> None:
    message = assemble(
        call(None, id="a", function={"name": "f", "arguments": "1"}),
        call(None, function={"arguments": "2"}),
        call(None, id="b", function={"name": "g", "arguments": "3"}),
        call(None, id="a", function={"arguments": "4"}),
    )

    assert message["tool_calls"] == [
        {"id": "a", "function": {"name": "f", "arguments": "124"}},
        {"id": "b", "function": {"name": "g", "arguments": "3"}},
    ]


def test_two_calls_without_index_in_one_delta_are_two() -> None:
    message = assemble({"tool_calls": [{"function": {"name": "f"}}, {"function": {"name": "g"}}]})

    assert message["tool_calls"] == [{"function": {"name": "f"}}, {"function": {"name": "g"}}]


def test_the_old_function_call_grows_as_well() -> None:
    message = assemble({"function_call": {"name": "f", "arguments": "{"}}, {"function_call": {"arguments": "}"}})

    assert message == {"function_call": {"name": "f", "arguments": "{}"}}


def test_null_leaves_what_is_there() -> None:
    assert assemble({"content": "a", "reasoning": None}, {"content": None}) == {"content": "a", "reasoning": None}


@pytest.mark.slow
@given(st.lists(DELTAS, max_size=6))
def test_no_delta_is_too_odd(deltas: list[JSONObject]) -> None:
    assemble(*deltas)


def functions_of(*parts: JSONObject) -> list[JSONObject]:
    """The functions of the calls that parts are put together into."""
    return [as_object(one.get("function")) for one in objects_in(assemble(*parts)["tool_calls"])]


def named(call_id: str | None, name: str, arguments: str) -> JSONObject:
    """A part at index 0 that names its call."""
    return call(0, **({} if call_id is None else {"id": call_id}), function={"name": name, "arguments": arguments})


@pytest.mark.parametrize(
    ("parts", "calls"),
    [
        ([named("a", "add", '{"x": 1}'), named("b", "weather", "{}")], [("add", '{"x": 1}'), ("weather", "{}")]),
        ([named("a", "add", ""), named("b", "weather", "{}")], [("add", ""), ("weather", "{}")]),
        ([named("a", "add", '{"x": 1}'), named("b", "add", '{"x": 2}')], [("add", '{"x": 1}'), ("add", '{"x": 2}')]),
        ([named(None, "add", '{"x": 1}'), named(None, "weather", "{}")], [("add", '{"x": 1}'), ("weather", "{}")]),
        (
            [named("a", "add", "1"), named("b", "weather", "2"), named("a", "add", "3")],
            [("add", "13"), ("weather", "2")],
        ),
    ],
)
def test_two_calls_on_one_index_stay_two(parts: list[JSONObject], calls: list[tuple[str, str]]) -> None:
    assert [(one["name"], one["arguments"]) for one in functions_of(*parts)] == calls


@pytest.mark.parametrize(
    "parts",
    [
        [named("a", "add", "1"), named("b", "add", "2")],  # a new id with every part
        [named("a", "ad", ""), named("a", "d", "12")],  # a name in pieces
        [named("a", "ad", ""), named(None, "d", "12")],
        [named("a", "add", "1"), call(0, id="b", function={"arguments": "2"})],
    ],
)
def test_parts_of_one_call_stay_one(parts: list[JSONObject]) -> None:
    assert functions_of(*parts) == [{"name": "add", "arguments": "12"}]


def test_parts_after_a_second_call_on_its_index_belong_to_it() -> None:
    functions = functions_of(named("a", "f", "{}"), named("b", "g", "{"), call(0, function={"arguments": "}"}))

    assert [one["arguments"] for one in functions] == ["{}", "{}"]
