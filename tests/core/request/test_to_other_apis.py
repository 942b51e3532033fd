"""Chat completions as Responses and Messages, and back: nothing goes silently."""

import json

import pytest

from prompt_debugger.core.base.types import Api
from prompt_debugger.core.request import convert_as, convert_body, read_request, to_api

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL = {"type": "function", "function": {"name": "weather", "description": "D", "parameters": SCHEMA}}
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
CHAT = {
    "model": "m",
    "temperature": 0,
    "max_tokens": 9,
    "messages": [
        {"role": "system", "content": "Be brief"},
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "reasoning": "Hm", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
        {"role": "user", "content": [{"type": "text", "text": "And"}, {"type": "text", "text": "this?"}]},
    ],
    "tools": [TOOL],
    "tool_choice": {"type": "function", "function": {"name": "weather"}},
}


def shown(converted):
    return {notice.field for notice in converted.notices}


@pytest.mark.parametrize("api", [Api.RESPONSES, Api.MESSAGES])
def test_there_and_back_gives_the_same_messages_tools_and_choice(api):
    there = to_api(CHAT, api)
    back = convert_body(there.body)

    assert there.notices == ()
    assert back.api is api
    assert back.body["messages"] == CHAT["messages"]
    assert (back.body["tools"], back.body["tool_choice"]) == (CHAT["tools"], CHAT["tool_choice"])
    assert 9 in (back.body.get("max_tokens"), back.body.get("max_completion_tokens"))


@pytest.mark.parametrize(
    ("api", "fields", "place", "says"),
    [
        (Api.MESSAGES, {"seed": 1}, "seed", "`seed`"),
        (Api.RESPONSES, {"n": 2}, "n", "`n`"),
        (Api.MESSAGES, {"response_format": {"type": "json_object"}}, "response_format", "json_object"),
        (Api.RESPONSES, {"messages": [{"role": "user", "content": "x", "name": "Ann"}]}, "messages[0].name", "`name`"),
        (
            Api.RESPONSES,
            {"messages": [{"role": "assistant", "content": "", "tool_calls": [CALL]}]},
            "messages[0].content",
            "empty text next to the calls",
        ),
        (
            Api.RESPONSES,
            {"messages": [{"role": "user", "content": [{"type": "video_url", "video_url": {"url": "x"}}]}]},
            "messages[0].content[0]",
            "video_url",
        ),
    ],
)
def test_what_has_no_place_is_reported_where_it_stood(api, fields, place, says):
    notices = to_api({**CHAT, **fields}, api).notices

    assert [notice.field for notice in notices] == [place]
    assert says in notices[0].message


@pytest.mark.parametrize(
    ("arguments", "says"),
    [('{"city":"Oslo"}', "spelling"), ('{"city": "Os', "not a JSON object"), ("[1]", "not a JSON object")],
)
def test_arguments_that_an_object_cannot_hold_are_reported(arguments, says):
    call = {**CALL, "function": {"name": "weather", "arguments": arguments}}
    converted = to_api(
        {**CHAT, "messages": [{"role": "assistant", "content": None, "tool_calls": [call]}]}, Api.MESSAGES
    )

    assert shown(converted) == {"messages[0].tool_calls[0].function.arguments"}
    assert says in converted.notices[0].message


def test_messages_needs_a_limit_and_a_schema():
    body = {"messages": [], "tools": [{"type": "function", "function": {"name": "ping"}}]}

    assert shown(to_api(body, Api.MESSAGES)) == {"max_tokens", "tools[0].function.parameters"}
    assert shown(to_api(body, Api.RESPONSES)) == set()


def test_leading_system_messages_become_blocks_and_an_empty_one_none():
    two = [{"role": "system", "content": "A"}, {"role": "system", "content": "B"}]
    empty = [{"role": "system", "content": ""}, {"role": "user", "content": "hi"}]

    made = to_api({"max_tokens": 1, "messages": two}, Api.MESSAGES)
    without = to_api({"max_tokens": 1, "messages": empty}, Api.MESSAGES)

    assert made.body["system"] == [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]
    assert shown(made) == {"messages"}
    assert convert_body(made.body).body["messages"] == [{"role": "system", "content": "AB"}]
    assert "system" not in without.body
    assert shown(without) == {"messages[0].content"}


def test_parts_of_the_assistant_are_an_output_item_of_responses():
    parts = [{"type": "text", "text": "Well"}]

    (item,) = to_api({"messages": [{"role": "assistant", "content": parts}]}, Api.RESPONSES).body["input"]

    assert item["type"] == "message"
    assert item["content"] == [{"type": "output_text", "text": "Well", "annotations": []}]


def test_an_empty_text_part_has_no_place_in_messages():
    image = {"type": "image_url", "image_url": {"url": "http://h/x.png"}}
    body = {"max_tokens": 1, "messages": [{"role": "user", "content": [image, {"type": "text", "text": ""}]}]}

    made = to_api(body, Api.MESSAGES)

    assert [block["type"] for block in made.body["messages"][0]["content"]] == ["image"]
    assert shown(made) == {"messages[0].content[1]"}


def test_results_of_one_turn_are_in_one_message_and_come_back_as_two():
    results = [{"role": "tool", "tool_call_id": name, "content": name} for name in ("a", "b")]
    made = to_api({"max_tokens": 1, "messages": [{"role": "user", "content": "x"}, *results]}, Api.MESSAGES).body

    assert [block["tool_use_id"] for block in made["messages"][1]["content"]] == ["a", "b"]
    assert convert_body(made).body["messages"][1:] == results


def test_an_image_goes_there_and_back():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    body = {"max_tokens": 1, "messages": [{"role": "user", "content": [image, {"type": "text", "text": "x"}]}]}

    for api in (Api.RESPONSES, Api.MESSAGES):
        tool = {"name": "f", "input_schema": {}} if api is Api.MESSAGES else None
        made = to_api(body, api).body
        back = convert_body({**made, "tools": [tool]} if tool else made)
        assert back.body["messages"] == body["messages"]


@pytest.mark.parametrize("api", [Api.RESPONSES, Api.MESSAGES, Api.GEMINI])
@pytest.mark.parametrize(
    "odd", [None, 3, "x", [None, 3], [{"role": 5, "content": {"a": []}, "tool_calls": [None, {}]}]]
)
def test_odd_bodies_never_crash(api, odd):
    assert isinstance(to_api({"messages": odd, "tools": odd, "tool_choice": odd, "stop": odd}, api).body, dict)


def test_a_pasted_body_of_another_api_is_kept_as_it_is():
    body = {"model": "m", "input": "hi", "previous_response_id": "r"}
    request = read_request(json.dumps(body))
    chat = read_request(json.dumps(CHAT))

    assert (request.api, request.native) == (Api.RESPONSES, body)
    assert (chat.api, chat.native) == (Api.CHAT, None)


def test_places_of_the_pasted_body_are_known():
    responses = convert_body(
        {
            "instructions": "S",
            "input": [
                {"role": "user", "content": "x"},
                {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "Hm"}]},
                {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": "3"},
            ],
            "tools": [{"type": "web_search"}, {"type": "function", "name": "f"}],
        }
    )
    messages = convert_body(to_api(CHAT, Api.MESSAGES).body)

    assert responses.place_of("messages[0].content") == "instructions"
    assert responses.place_of("messages[2].tool_calls[0].function.arguments") == "input[2].arguments"
    assert responses.place_of("messages[2].tool_calls[0].id") == "input[2].call_id"
    assert responses.place_of("messages[3].content") == "input[3].output"
    assert responses.place_of("messages[3].tool_call_id") == "input[3].call_id"
    assert messages.place_of("messages[3].tool_call_id") == "messages[2].content[0].tool_use_id"
    assert responses.place_of("tools[0].function.parameters") == "tools[1].parameters"
    assert messages.place_of("messages[0].content") == "system"
    assert messages.place_of("messages[2].tool_calls[0].function.arguments") == "messages[1].content[1].input"
    assert messages.place_of("messages[3].content") == "messages[2].content[0].content"
    assert messages.place_of("tools[0].function.parameters.type") == "tools[0].input_schema.type"
    assert messages.place_of("temperature") == "temperature"


@pytest.mark.parametrize("api", [Api.RESPONSES, Api.MESSAGES])
def test_a_switch_that_is_on_without_it_is_lost_where_it_is_off(api):
    body = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 5}

    off = to_api({**body, "add_generation_prompt": False, "logprobs": False}, api)
    on = to_api({**body, "add_generation_prompt": True}, api)

    assert [one.field for one in off.notices] == ["add_generation_prompt"]
    assert on.notices == ()


@pytest.mark.parametrize("api", [Api.RESPONSES, Api.MESSAGES])
def test_an_image_in_a_result_is_reported_to_be_left_out(api):
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "a"}, image]}

    made = to_api({"messages": [{"role": "user", "content": "hi"}, said, result], "max_tokens": 9}, api)

    assert ("messages[2].content", "The parts of this content that are not text were left out.") in [
        (notice.field, notice.message) for notice in made.notices
    ]


SOME = {"mode": "required", "tools": [{"type": "function", "function": {"name": "f"}}]}
FLAT = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "f"}]}


def test_a_choice_among_some_tools_is_the_same_by_responses_and_a_loss_by_messages():
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": []}
    body["tool_choice"] = {"type": "allowed_tools", "allowed_tools": SOME}

    made, messages = to_api(body, Api.RESPONSES), to_api(body, Api.MESSAGES)

    assert made.body["tool_choice"] == FLAT
    assert messages.body["tool_choice"] == {"type": "any"}
    assert "tool_choice" in [notice.field for notice in messages.notices]


@pytest.mark.parametrize(
    ("choice", "made"),
    [
        (FLAT, {"type": "allowed_tools", "allowed_tools": SOME}),
        ({"type": "function", "name": "f"}, {"type": "function", "function": {"name": "f"}}),
        ({"type": "custom", "name": "f"}, {"type": "function", "function": {"name": "f"}}),
        ("required", "required"),
        ({"type": "web_search"}, None),
    ],
)
def test_each_choice_of_responses_is_one_of_chat_completions_or_a_loss(choice, made):
    converted = convert_as(Api.RESPONSES, {"model": "m", "input": "hi", "tool_choice": choice})

    assert converted.body.get("tool_choice") == made
    assert ("tool_choice" in [notice.field for notice in converted.notices]) is (made is None)


FIND = {"type": "function", "name": "find", "description": "Finds.", "parameters": {"type": "object"}}
CRM = {
    "type": "namespace",
    "name": "crm",
    "description": "Customers.",
    "tools": [FIND, {"type": "custom", "name": "x"}],
}
OTHER = {**CRM, "name": "erp"}


def test_functions_of_a_namespace_are_functions_with_its_name_in_front():
    called = {"type": "function_call", "namespace": "crm", "name": "find", "call_id": "c", "arguments": "{}"}
    converted = convert_as(Api.RESPONSES, {"model": "m", "input": [called], "tools": [CRM]})

    function = {**FIND, "name": "crm__find"}
    del function["type"]
    assert converted.body["tools"] == [{"type": "function", "function": function}]
    assert converted.body["messages"][0]["tool_calls"][0]["function"]["name"] == "crm__find"
    assert {one.field: one.message for one in converted.notices if one.field} == {
        "tools[0]": "The functions of the namespace `crm` were read as functions named `crm__NAME`.",
        "tools[0].tools[1]": "A tool of type `custom` in a namespace was left out.",
    }
    assert converted.origins["tools[0].function"] == "tools[0].tools[0]"


@pytest.mark.parametrize(
    ("tools", "choice", "name"),
    [
        ([CRM], {"name": "find"}, "crm__find"),
        ([CRM], {"name": "crm__find"}, "crm__find"),
        ([CRM], {"name": "find", "namespace": "crm"}, "crm__find"),
        ([CRM, FIND], {"name": "find"}, "find"),
        ([CRM, OTHER], {"name": "find"}, "find"),
        ([CRM], {"name": "nothing"}, "nothing"),
    ],
)
def test_a_function_of_a_namespace_may_be_chosen_by_the_only_name_it_can_mean(tools, choice, name):
    asked = {"model": "m", "input": "hi", "tools": tools, "tool_choice": {"type": "function", **choice}}

    assert convert_as(Api.RESPONSES, asked).body["tool_choice"]["function"] == {"name": name}


@pytest.mark.parametrize("tools", [[{"type": "namespace"}], [{"type": "namespace", "name": 1, "tools": 2}], [None, 3]])
def test_a_namespace_of_any_shape_is_read(tools):
    assert "tools" not in convert_as(Api.RESPONSES, {"model": "m", "input": "hi", "tools": tools}).body
