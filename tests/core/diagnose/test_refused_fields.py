"""What a refused request is searched for: each look finds its fault, and nothing in what is healthy."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import JSON, JSONObject, Request, Stage
from prompt_debugger.core.diagnose.refusals.fields import broken_calls_in, spots_of
from prompt_debugger.core.known_errors import KnownError, Look, Recognised


def call(call_id: JSON = "call_1", name: str = "f", arguments: JSON = "{}", **more: JSON) -> JSON:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def user(content: JSON = "a") -> JSON:
    return {"role": "user", "content": content}


def assistant(*calls: JSON, **more: JSON) -> JSON:
    return {"role": "assistant", "content": None, **({"tool_calls": [*calls]} if calls else {}), **more}


def result(call_id: JSON = "call_1") -> JSON:
    return {"role": "tool", "tool_call_id": call_id, "content": "b"}


TOOL: JSON = {"type": "function", "function": {"name": "f", "parameters": {}}}
SYSTEM: JSON = {"role": "system", "content": "s"}
HEALTHY: JSONObject = {
    "messages": [SYSTEM, user("json"), assistant(call("abcdefghi", thought_signature="x"), reasoning_content="r"),
                 result("abcdefghi"), {"role": "assistant", "content": "c", "reasoning_content": "r"}, user()],
    "tools": [TOOL],
}  # fmt: skip

FAULTS: dict[Look, list[tuple[list[JSON], dict[str, str], list[str]]]] = {
    Look.ROLES_ALTERNATE: [
        ([SYSTEM, user(), user()], {}, ["messages[2].role"]),
        ([user(), SYSTEM], {}, ["messages[1].role"]),
        ([SYSTEM, assistant(content="b")], {}, ["messages[1].role"]),
        ([user(), result(), user()], {"before": "tool", "role": "user"}, ["messages[2].role"]),
    ],
    Look.OPEN_CALLS: [
        ([user(), assistant(call("a"), call("b")), result("b"), user()], {}, ["messages[1].tool_calls[0]"]),
        ([user(), assistant(call("a"))], {}, ["messages[1].tool_calls[0]"]),
        ([user(), assistant(call("a")), user(), result("a")], {}, ["messages[1].tool_calls[0]"]),
    ],
    Look.ORPHAN_RESULTS: [
        ([user(), result("a")], {}, ["messages[1].tool_call_id"]),
        ([user(), assistant(call("a")), result("b")], {}, ["messages[2].tool_call_id"]),
        ([user(), assistant(call("a")), {"role": "tool", "content": "b"}], {}, ["messages[2].tool_call_id"]),
    ],
    Look.PLACEHOLDER_IN_TEXT: [
        ([user([{"type": "text", "text": "Is this [IMG] it?"}, {"type": "image_url"}])], {}, ["messages[0].content"]),
        ([SYSTEM, user("<image>\nWhat is it?")], {}, ["messages[1].content"]),
    ],
    Look.PLACEHOLDER_BESIDE_MEDIA: [
        ([user([{"type": "text", "text": "Is <image> it?"}, {"type": "image_url"}])], {}, ["messages[0].content"]),
        ([user("What does <image> do?")], {}, []),
    ],
    Look.IMAGE_OF_OTHERS: [
        ([user(), {"role": "assistant", "content": [{"type": "image_url"}]}], {}, ["messages[1].content[0]"]),
        ([user(), {"role": "tool", "content": [{"type": "text"}, {"type": "image"}]}], {}, ["messages[1].content[1]"]),
    ],
    Look.IDS_OF_NINE: [([assistant(call("call_12345"))], {}, ["messages[0].tool_calls[0].id"])],
    Look.ID_ABSENT: [
        (
            [assistant(call(""), call(None), call("null"))],
            {},
            [f"messages[0].tool_calls[{at}].id" for at in range(3)],
        )
    ],
    Look.REASONING_ABSENT: [
        ([user(), assistant(call())], {}, ["messages[1]"]),
        ([user(), assistant(content="b"), assistant(content="c")], {"index": "2"}, ["messages[2]"]),
    ],
    Look.EMPTY_TEXT: [
        ([user("")], {}, ["messages[0].content"]),
        ([user([{"type": "text", "text": ""}])], {}, ["messages[0].content[0].text"]),
    ],
    Look.LAST_ROLE: [([user(), assistant(content="b")], {}, ["messages[1].role"])],
    Look.SYSTEM_NOT_FIRST: [([user(), SYSTEM], {}, ["messages[1].role"])],
    Look.NO_USER: [([SYSTEM, assistant(content="b")], {}, ["messages"])],
    Look.SEVERAL_CALLS: [([assistant(call("a"), call("b"))], {}, ["messages[0].tool_calls"])],
    Look.BROKEN_ARGUMENTS: [
        ([assistant(call(arguments=""))], {}, ["messages[0].tool_calls[0].function.arguments"]),
        ([assistant(call(arguments="[1]"))], {}, ["messages[0].tool_calls[0].function.arguments"]),
    ],
    Look.SIGNATURE_ABSENT: [([assistant(call())], {}, ["messages[0].tool_calls[0]"])],
    Look.UNDECLARED_TOOL: [([user()], {"name": "search"}, ["tools"])],
    Look.NO_MENTION_OF_JSON: [([user("a list, if you can")], {}, ["messages"])],
    Look.CONTENT_ABSENT: [([{"role": "user"}], {}, ["messages[0]"])],
    Look.CONTENT_KEY_ABSENT: [
        ([user(), {"role": "assistant", "tool_calls": [call()]}], {}, ["messages[1]"]),
        ([{"role": "user"}], {}, ["messages[0]"]),
    ],
    Look.CONTENT_NULL: [([user(), assistant(call())], {}, ["messages[1].content"])],
}
BY_LIMIT: JSONObject = {"messages": [user()], "tools": [TOOL], "max_completion_tokens": 1}
CASES = [(look, *case) for look, cases in FAULTS.items() for case in cases]


def fields_of(look: Look, body: JSONObject, parts: dict[str, str]) -> list[str]:
    known = Recognised(KnownError("x", Stage.REQUEST, "m", "r", "s", look=look), "maker", parts)
    return [spot.field for spot in spots_of(Request(body, ""), known.error.look, known.parts)]


@pytest.mark.parametrize(("look", "messages", "parts", "fields"), CASES)
def test_a_look_finds_its_fault(look: Look, messages: list[JSON], parts: dict[str, str], fields: list[str]) -> None:
    assert fields_of(look, {"messages": messages, "tools": [TOOL]}, parts) == fields


def test_a_tool_with_another_name_is_found() -> None:
    tool: JSON = {"type": "function", "function": {"name": "fs.read"}}

    assert fields_of(Look.TOOL_NAMES, {"messages": [], "tools": [TOOL, tool]}, {}) == ["tools[1].function.name"]


def test_a_limit_that_thinking_uses_up_is_found() -> None:
    assert fields_of(Look.SMALL_LIMIT, BY_LIMIT, {}) == ["max_completion_tokens"]
    assert fields_of(Look.SMALL_LIMIT, {**BY_LIMIT, "max_completion_tokens": 400}, {}) == []


def test_what_grammars_do_not_know_of_a_pattern_is_found_in_tools_and_answers_schema() -> None:
    items: JSON = {"type": "array", "items": {"type": "string", "pattern": "^\\w+$"}}
    parameters: JSON = {"type": "object", "properties": {"ids": items, "day": {"pattern": "^[0-9]{4}$"}}}
    schema: JSON = {"properties": {"at": {"pattern": "^(?!x)a"}}}
    body: JSONObject = {
        "tools": [TOOL, {"type": "function", "function": {"name": "f", "parameters": parameters}}],
        "response_format": {"type": "json_schema", "json_schema": {"schema": schema}},
    }

    assert fields_of(Look.REGEX_ESCAPES, body, {}) == [
        "tools[1].function.parameters.properties.ids.items.pattern",
        "response_format.json_schema.schema.properties.at.pattern",
    ]


@pytest.mark.parametrize("look", Look)
def test_a_healthy_request_shows_nothing(look: Look) -> None:
    null = ["messages[2].content"] if look is Look.CONTENT_NULL else []  # as the API allows, and a server may not

    assert fields_of(look, HEALTHY, {}) == null


@pytest.mark.parametrize("look", Look)
@pytest.mark.parametrize("body", [{}, {"messages": 5}, {"messages": [5, None, {}]}, {"tools": [5]}])
def test_a_body_of_another_shape_is_tolerated(look: Look, body: JSONObject) -> None:
    assert isinstance(fields_of(look, body, {"name": "x"}), list)


def test_every_look_is_tried() -> None:
    assert {*FAULTS, Look.TOOL_NAMES, Look.SMALL_LIMIT, Look.NO_FORM, Look.REGEX_ESCAPES} == {*Look}


def test_a_value_that_has_none_of_the_forms_is_shown_in_the_body_as_it_was_sent() -> None:
    items: JSON = [{"role": "user", "content": "a"}, {"type": "novel", "tools": []}, {"x": 1}]
    request = Request({"messages": [user()]}, "", native={"input": items})

    shown = [spot for at in (0, 1, 2, 9) for spot in spots_of(request, Look.NO_FORM, {"place": f"input[{at}]"})]

    assert [spot.says for spot in shown] == [
        "`input[0]` has the role `user`.",
        "`input[1]` has the type `novel`.",
        "`input[2]` has neither `type` nor `role`.",
    ]
    assert fields_of(Look.NO_FORM, {"tools": [TOOL]}, {"place": "tools[0]"}) == ["tools[0]"]


def test_calls_that_are_printed_as_python_are_looked_at() -> None:
    text = "[{'function': {'name': 'a', 'arguments': '[1]'}}, {'function': {'name': 'b', 'arguments': '{}'}}]"

    assert broken_calls_in(text) == ("The call `a` has arguments that are not a JSON object.",)


@pytest.mark.parametrize(
    ("arguments", "what"), [("", "empty"), (" ", "empty"), ("[1]", "not a JSON object"), ("{", "not a JSON object")]
)
def test_arguments_that_servers_cannot_decode_are_described(arguments: str, what: str) -> None:
    body: JSONObject = {"messages": [user(), assistant(call(arguments=arguments))]}

    (spot,) = spots_of(Request(body, ""), Look.BROKEN_ARGUMENTS, {})

    assert spot.says == f"The arguments of the call `f` are {what}."
