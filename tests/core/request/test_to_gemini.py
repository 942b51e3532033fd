"""Chat completion bodies as bodies of Gemini's generateContent: there and back, each loss a notice at its place."""

import json
from typing import Any

import pytest

from prompt_debugger.core.base.types import Api
from prompt_debugger.core.request import convert_body, read_request, to_api

CALL = {"id": "c0", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
CHAT: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be brief"},
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c0", "content": '{"degrees": 3}'},
        {"role": "user", "content": "And now?"},
    ],
    "tools": [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}],
    "tool_choice": "required",
    "max_tokens": 9,
    "temperature": 0,
    "stop": ["END"],
    "stream": True,
    "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}},
}


def test_what_both_have_goes_there_and_back_without_loss():
    made = to_api(CHAT, Api.GEMINI)
    back = convert_body(made.body)

    assert made.notices == ()
    assert back is not None
    assert back.api is Api.GEMINI
    assert back.body == CHAT


def test_the_body_is_in_the_form_of_gemini():
    made = to_api(CHAT, Api.GEMINI).body

    assert made["systemInstruction"] == {"parts": [{"text": "Be brief"}]}
    assert [content["role"] for content in made["contents"]] == ["user", "model", "user", "user"]
    call = {"id": "c0", "name": "weather", "args": {"city": "Oslo"}}
    assert made["contents"][1]["parts"] == [{"functionCall": call}]
    assert made["toolConfig"] == {"functionCallingConfig": {"mode": "ANY"}}
    assert made["generationConfig"] == {
        "temperature": 0,
        "maxOutputTokens": 9,
        "stopSequences": ["END"],
        "responseMimeType": "application/json",
        "responseJsonSchema": {"type": "object"},
    }


@pytest.mark.parametrize(
    ("fields", "place", "says"),
    [
        ({"logprobs": True}, "logprobs", "`logprobs`"),
        ({"parallel_tool_calls": False}, "parallel_tool_calls", "parallel_tool_calls: false"),
        ({"reasoning_effort": "low"}, "reasoning_effort", "`reasoning_effort`"),
        ({"messages": [{"role": "user", "content": "x", "name": "bob"}]}, "messages[0].name", "`name`"),
        (
            {"messages": [{"role": "tool", "tool_call_id": "c9", "content": "{}"}]},
            "messages[0].tool_call_id",
            "No earlier call has this id",
        ),
        (
            {"messages": [CHAT["messages"][2], {"role": "tool", "tool_call_id": "c0", "content": "3"}]},
            "messages[1].content",
            "`output`",
        ),
        (
            {"messages": [{"role": "assistant", "content": "", "tool_calls": [CALL]}]},
            "messages[0].content",
            "empty text",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]},
            "messages[0].content[0]",
            "input_audio",
        ),
        (
            {"messages": [{"role": "user", "content": "x"}, {"role": "system", "content": "y"}]},
            "messages[1].role",
            "role",
        ),
    ],
)
def test_what_has_no_place_is_reported_where_it_stood(fields, place, says):
    notices = to_api({**CHAT, **fields}, Api.GEMINI).notices

    assert [notice.field for notice in notices] == [place]
    assert says in notices[0].message


def test_results_of_one_turn_are_in_one_content_by_the_names_of_their_functions():
    calls = [{**CALL, "id": name, "function": {"name": name, "arguments": "{}"}} for name in ("a", "b")]
    results = [{"role": "tool", "tool_call_id": name, "content": "{}"} for name in ("b", "a")]

    made = to_api({"messages": [{"role": "assistant", "content": None, "tool_calls": calls}, *results]}, Api.GEMINI)

    assert [part["functionResponse"]["name"] for part in made.body["contents"][1]["parts"]] == ["b", "a"]
    assert convert_body(made.body).body["messages"][1:] == results


def test_a_pasted_body_is_kept_as_it_is_and_its_places_are_known():
    body = {
        "contents": [
            {"role": "user", "parts": [{"text": "hi"}]},
            {"role": "model", "parts": [{"text": "well"}, {"functionCall": {"name": "f", "args": {"a": 1}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
        ],
        "system_instruction": {"parts": [{"text": "S"}]},
        "tools": [{"googleSearch": {}}, {"functionDeclarations": [{"name": "f"}]}],
    }

    request = read_request(json.dumps(body))
    converted = convert_body(body)

    assert (request.api, request.native) == (Api.GEMINI, body)
    assert (
        converted.place_of("messages[2].tool_calls[0].function.arguments") == "contents[1].parts[1].functionCall.args"
    )
    assert converted.place_of("messages[3].content") == "contents[2].parts[0].functionResponse.response"
    assert converted.place_of("tools[0].function.name") == "tools[1].functionDeclarations[0].name"


def test_ids_of_calls_are_not_said_to_be_made_up_where_the_body_has_them():
    body = to_api(CHAT, Api.GEMINI).body

    assert not any("without ids" in notice.message for notice in convert_body(body).notices)


@pytest.mark.parametrize(
    ("path", "streams"),
    [("/v1beta/models/org/m:generateContent", None), ("/v1beta/models/org/m:streamGenerateContent?alt=sse", True)],
)
def test_a_pasted_command_names_server_model_and_stream_in_its_address(path, streams):
    request = read_request(f"curl 'http://h:4000{path}' -d '{{\"contents\": []}}'")

    assert request.base_url == "http://h:4000/v1"
    assert request.api is Api.GEMINI
    assert (request.body["model"], request.body.get("stream")) == ("org/m", streams)
    assert not any("points to" in notice.message for notice in request.notices)


def test_a_plain_body_is_of_messages_where_its_address_says_so():
    body = '{"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}'

    by_address = read_request(f"curl http://h/v1/messages -d '{body}'")
    alone = read_request(body)
    of_chat = read_request(
        f'curl http://h/v1/messages -d \'{body[:-1]}, "tools": [{{"function": {{"name": "f"}}}}]}}\''
    )

    assert (by_address.api, by_address.native) == (Api.MESSAGES, json.loads(body))
    assert by_address.base_url == "http://h/v1"
    assert alone.api is of_chat.api is Api.CHAT
