"""Bodies of other APIs: known by their shape, read as chat completions, each loss said."""

import json

import pytest

from prompt_debugger.core.request import read_request
from prompt_debugger.core.request.other_bodies import convert_body

TOOL = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}
RESPONSES = {
    "model": "m",
    "instructions": "Be brief",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'},
        {"type": "function_call_output", "call_id": "c1", "output": "3"},
    ],
    "tools": [TOOL, {"type": "web_search"}],
    "tool_choice": {"type": "function", "name": "f"},
    "max_output_tokens": 9,
    "store": True,
}
ANTHROPIC = {
    "model": "m",
    "max_tokens": 9,
    "system": [{"type": "text", "text": "Be brief", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "3"}]},
                {"type": "text", "text": "go on"},
            ],
        },
    ],
    "tools": [{"name": "f", "input_schema": {"type": "object", "properties": {}}}],
    "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
    "thinking": {"type": "enabled", "budget_tokens": 5},
}
CALL = {"id": "{}", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


def shown(request):
    return {notice.field for notice in request.notices if notice.field}


def test_a_body_of_responses_is_read_with_its_calls_and_results():
    request = read_request(json.dumps(RESPONSES))

    assert request.body["messages"] == [
        {"role": "system", "content": "Be brief"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [{**CALL, "id": "c1"}]},
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
    ]
    assert request.body["tools"] == [{"type": "function", "function": {"name": "f", "parameters": TOOL["parameters"]}}]
    assert request.body["tool_choice"] == {"type": "function", "function": {"name": "f"}}
    assert request.body["max_completion_tokens"] == 9
    assert "OpenAI Responses" in request.notices[0].message
    assert {"input[1]", "tools[1]", "store"} <= shown(request)


def test_a_body_of_anthropic_is_read_with_its_calls_and_results():
    request = read_request(json.dumps(ANTHROPIC))

    assert request.body["messages"] == [
        {"role": "system", "content": "Be brief"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [{**CALL, "id": "t1"}]},
        {"role": "tool", "tool_call_id": "t1", "content": "3"},
        {"role": "user", "content": "go on"},
    ]
    assert request.body["tools"][0]["function"]["parameters"] == {"type": "object", "properties": {}}
    assert (request.body["tool_choice"], request.body["parallel_tool_calls"]) == ("required", False)
    assert {"system", "thinking"} <= shown(request)


def test_what_constrains_an_answer_of_anthropic_is_read():
    schema = {"type": "object"}
    config = {"format": {"type": "json_schema", "schema": schema}, "effort": "low", "other": 1}
    tools = [{"name": "f", "input_schema": {}, "strict": True}]

    request = read_request(json.dumps({**ANTHROPIC, "output_config": config, "tools": tools}))

    assert request.body["response_format"]["json_schema"]["schema"] == schema
    assert request.body["reasoning_effort"] == "low"
    assert request.body["tools"][0]["function"]["strict"] is True
    assert "output_config.other" in shown(request)
    assert not {"output_config", "tools[0].strict"} & shown(request)


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]},
        {"messages": [{"role": "user", "content": "hi"}], "input": "x"},
        {"messages": [{"role": "user", "content": "hi"}], "tools": [{"type": "function", "function": {"name": "f"}}]},
    ],
)
def test_a_chat_completion_is_left_as_it_is(body):
    request = read_request(json.dumps(body))

    assert request.body == body
    assert not any("body of" in notice.message for notice in request.notices)


def test_the_clients_of_both_are_read_from_python():
    responses = read_request('client.responses.create(model="m", input="hi")')
    anthropic = read_request(
        'client.messages.create(model="m", max_tokens=5, system="S", messages=[{"role": "user", "content": "hi"}])'
    )

    assert responses.body["messages"] == [{"role": "user", "content": "hi"}]
    assert [message["role"] for message in anthropic.body["messages"]] == ["system", "user"]


def test_a_class_as_response_format_is_left_out_and_said():
    request = read_request(
        "from answers import Answer\n"
        'client.chat.completions.parse(model="m", messages=[{"role": "user", "content": "hi"}], response_format=Answer)'
    )

    assert set(request.body) == {"model", "messages"}
    assert any("`Answer` is a Python class" in notice.message for notice in request.notices)


@pytest.mark.parametrize("odd", [[None, 3, {"type": "new_kind"}], [{"content": None}], "", []])
def test_odd_items_never_crash(odd):
    body = {"input": odd, "tools": [None, {"type": "web_search"}], "reasoning": None, "text": {"format": 3}}

    request = read_request(json.dumps(body))

    assert isinstance(request.body["messages"], list)


def test_a_body_of_ollamas_is_read():
    call = {"function": {"name": "weather", "arguments": {"city": "Oslo"}}}
    body = {
        "model": "m",
        "messages": [
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": "", "thinking": "Hm", "tool_calls": [call]},
            {"role": "tool", "tool_name": "weather", "content": "sunny"},
        ],
        "options": {"num_predict": 9, "num_ctx": 4096, "temperature": 0},
        "format": {"type": "object"},
    }

    converted = convert_body(body)

    assert converted is not None
    made = converted.body
    assert (made["max_tokens"], made["temperature"]) == (9, 0)
    assert made["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": body["format"]},
    }
    assert made["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"city": "Oslo"}'
    assert made["messages"][1]["tool_calls"][0]["id"] == made["messages"][2]["tool_call_id"] == "call_0"
    assert any(notice.field == "options.num_ctx" for notice in converted.notices)


def test_a_prompt_of_ollamas_generate_is_a_user_message():
    converted = convert_body({"model": "m", "prompt": "Why?", "system": "Be brief.", "stream": False})

    assert converted is not None
    assert converted.body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Why?"},
    ]


@pytest.mark.parametrize("field", [{"options": 3}, {"options": {}, "max_tokens": 5}, {"think": True, "temperature": 1}])
def test_a_chat_body_with_a_strange_field_stays_one(field):
    assert convert_body({"model": "m", "messages": [{"role": "user", "content": "hi"}], **field}) is None


def test_a_body_of_geminis_is_read():
    schema = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}, "type": {"type": "STRING"}}}
    body = {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Weather?"}]},
            {
                "role": "model",
                "parts": [{"functionCall": {"name": "w", "args": {"city": "Oslo"}}, "thoughtSignature": "x"}],
            },
            {"role": "user", "parts": [{"functionResponse": {"name": "w", "response": {"sky": "clear"}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "w", "parameters": schema}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["w"]}},
        "generationConfig": {"maxOutputTokens": 7, "stopSequences": ["x"], "thinkingConfig": {"thinkingBudget": 0}},
    }

    converted = convert_body(body)

    assert converted is not None
    made = converted.body
    assert [message["role"] for message in made["messages"]] == ["system", "user", "assistant", "tool"]
    assert made["messages"][2]["tool_calls"][0]["id"] == made["messages"][3]["tool_call_id"]
    assert made["tools"][0]["function"]["parameters"]["properties"]["city"] == {"type": "string"}
    assert made["tool_choice"] == {"type": "function", "function": {"name": "w"}}
    assert (made["max_tokens"], made["stop"]) == (7, ["x"])
    fields = [notice.field for notice in converted.notices]
    assert "contents[1].parts[0]" in fields
    assert "generationConfig.thinkingConfig" in fields


def test_an_output_in_parts_is_its_text():
    parts = [{"type": "input_text", "text": "12 degrees"}]
    output = {"type": "function_call_output", "call_id": "c1", "output": parts}

    made = convert_body({**RESPONSES, "input": [*RESPONSES["input"][:3], output]})

    assert made.body["messages"][-1] == {"role": "tool", "tool_call_id": "c1", "content": "12 degrees"}


def test_logprobs_of_responses_are_asked_for_as_chat_completions_wants_it():
    made = convert_body({"input": "hi", "top_logprobs": 2})

    assert (made.body["logprobs"], made.body["top_logprobs"]) == (True, 2)
    assert "logprobs" not in convert_body({"input": "hi", "top_logprobs": 0}).body


def test_a_tool_of_anthropic_itself_shows_whose_body_it_is_and_is_lost():
    own = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    both = convert_body({**body, "tools": [own, {"name": "f", "input_schema": {"type": "object"}}]})
    alone = convert_body({**body, "tools": [own]})

    assert "tools" not in alone.body
    assert any("web_search_20250305" in notice.message for notice in alone.notices)
    assert [tool["function"]["name"] for tool in both.body["tools"]] == ["f"]
    assert both.place_of("tools[0].function.parameters") == "tools[1].input_schema"
    assert convert_body({**body, "tools": [{"type": "function_20", "function": {"name": "f"}}]}) is None


def test_tools_of_servers_alone_leave_no_empty_list():
    assert "tools" not in convert_body({"input": "hi", "tools": [{"type": "web_search"}]}).body
    assert convert_body({"input": "hi", "tools": []}).body["tools"] == []
