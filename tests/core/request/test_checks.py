"""What no server could take is an error; what some server may want is only told."""

import difflib
import json
from typing import Any

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.request import read_request

USER: JSONObject = {"role": "user", "content": "x"}


def call(**function: JSON) -> JSONObject:
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": function}]}


def body_of(*messages: JSON) -> JSONObject:
    return {"messages": list(messages)}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"model": "m"}, None),
        ({"messages": None}, "messages"),
        ({"messages": "hi"}, "messages"),
        (body_of("hi"), "messages[0]"),
        (body_of(USER, {"content": "x"}), "messages[1]"),
        (body_of({"role": 3}), "messages[0].role"),
        (body_of({"role": "user", "content": 3}), "messages[0].content"),
        (body_of({"role": "user", "content": [3]}), "messages[0].content[0]"),
        (body_of({"role": "user", "content": "x", "name": 3}), "messages[0].name"),
        (body_of({"role": "assistant", "tool_calls": {}}), "messages[0].tool_calls"),
        (body_of({"role": "assistant", "tool_calls": ["a"]}), "messages[0].tool_calls[0]"),
        (body_of({"role": "assistant", "tool_calls": [{"id": "a"}]}), "messages[0].tool_calls[0]"),
        (body_of(call(arguments="{}")), "messages[0].tool_calls[0].function.name"),
        (body_of(call(name="f", arguments=3)), "messages[0].tool_calls[0].function.arguments"),
        ({"messages": [USER], "tools": {}}, "tools"),
        ({"messages": [USER], "tools": ["f"]}, "tools[0]"),
        ({"messages": [USER], "tools": [{"name": "f"}]}, "tools[0].function"),
        ({"messages": [USER], "tools": [{"function": {}}]}, "tools[0].function.name"),
        (
            {"messages": [USER], "tools": [{"function": {"name": "f", "parameters": []}}]},
            "tools[0].function.parameters",
        ),
        ({"messages": [USER], "temperature": "hot"}, "temperature"),
        ({"messages": [USER], "max_tokens": []}, "max_tokens"),
        ({"messages": [USER], "stop": 3}, "stop"),
        ({"messages": [USER], "chat_template_kwargs": "x"}, "chat_template_kwargs"),
        ({"messages": [USER], "model": 3}, "model"),
    ],
)
def test_what_no_server_could_take_is_an_error_that_names_its_field(body: JSONObject, field: str | None) -> None:
    with pytest.raises(RequestError) as caught:
        read_request(json.dumps(body, indent=1))

    assert field == caught.value.field
    assert caught.value.line is not None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"messages": []}, "messages"),
        (body_of({"role": "observation", "content": "x"}), "messages[0].role"),
        (body_of({"role": "user", "content": {"a": 1}}), "messages[0].content"),
        (body_of({"role": "user", "content": [{"text": "x"}]}), "messages[0].content[0]"),
        (body_of({"role": "user", "content": [{"type": "smell"}]}), "messages[0].content[0].type"),
        (body_of({"role": "user", "content": "x", "partial": True}), "messages[0].partial"),
        (body_of({"role": "user", "content": "x", "reasoning": "y"}), "messages[0].reasoning"),
        (body_of({"role": "tool", "content": "x"}), "messages[0]"),
        (body_of(call(name="f", arguments={})), "messages[0].tool_calls[0].function.arguments"),
        (body_of(call(name="f")), "messages[0].tool_calls[0].function.arguments"),
        (body_of({"role": "assistant", "function_call": {}}), "messages[0].function_call"),
        ({"messages": [USER], "tools": []}, "tools"),
        ({"messages": [USER], "tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"messages": [USER], "functions": []}, "functions"),
        ({"messages": [USER], "temperature": "0.5"}, "temperature"),
        ({"messages": [USER], "max_tokens": 1.5}, "max_tokens"),
        ({"messages": [USER], "tool_choice": "auto"}, "tool_choice"),
        ({"messages": [USER], "stream": True}, "stream"),
        ({"messages": [USER], "guided_json": {}}, "guided_json"),
        (
            {"messages": [USER], "chat_template_kwargs": {"add_generation_prompt": False}},
            "chat_template_kwargs.add_generation_prompt",
        ),
    ],
)
def test_what_is_doubtful_is_reported_and_kept(body: JSONObject, field: str) -> None:
    request = read_request(json.dumps(body, indent=1))

    assert body == request.body
    assert [field] == [notice.field for notice in request.notices]
    assert request.notices[0].line is not None


def test_a_usual_request_with_tools_and_history_says_nothing() -> None:
    tool: JSONObject = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    result: JSONObject = {"role": "tool", "tool_call_id": "a", "content": "1"}
    body: JSONObject = {
        "model": "m",
        "messages": [{"role": "system", "content": "s"}, USER, call(name="f", arguments="{}"), result],
        "tools": [tool],
        "tool_choice": "auto",
        "temperature": 0,
        "max_tokens": 10,
        "chat_template_kwargs": {"thinking": False},
    }

    assert read_request(json.dumps(body)).notices == ()


@pytest.mark.parametrize("where", ["fields", "roles"])
def test_what_was_meant_is_looked_for_only_where_it_is_told(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """100,000 unknown fields took a search each, 79 s on a busy machine, of which 100 were told."""
    looked: list[str] = []
    get_close_matches = difflib.get_close_matches

    def look(name: str, *given: Any, **more: Any) -> list[str]:
        looked.append(name)
        return get_close_matches(name, *given, **more)

    monkeypatch.setattr(difflib, "get_close_matches", look)
    names = [f"temperatur{number}" if where == "fields" else f"usr{number}" for number in range(5_000)]
    messages = [{"role": "user" if where == "fields" else name, "content": "x"} for name in names]
    body = {"messages": messages, **(dict.fromkeys(names, 1) if where == "fields" else {})}

    request = read_request(json.dumps(body))

    assert len(request.notices) == len(looked) == 100
    assert ("Did you mean `temperature`?" in request.notices[0].message) is (where == "fields")


def said_of(body: JSONObject) -> dict[str, str]:
    return {notice.field: notice.message for notice in read_request(json.dumps(body)).notices}


@pytest.mark.parametrize(
    ("field", "value", "vendor"),
    [
        ("reasoning_format", "parsed", "Groq and Cerebras"),
        ("safe_prompt", True, "Mistral's API"),
        ("plugins", [{"id": "web"}], "OpenRouter"),
        ("thinking", {"type": "disabled"}, "DeepSeek"),
        ("moderation", {"model": "omni"}, "OpenAI's API"),
    ],
)
def test_a_vendors_field_is_named_as_that_vendors_and_no_other_is_guessed(field: str, value: JSON, vendor: str) -> None:
    said = said_of({"messages": [USER], field: value})[field]

    assert vendor in said
    assert "Did you mean" not in said


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("reasoning_efort", "low", "Did you mean `reasoning_effort`?"),
        ("thinking", True, "chat_template_kwargs"),
        ("provider", "groq", "vLLM ignores the field"),
    ],
)
def test_near_miss_a_name_or_a_kind_of_value_that_no_vendor_documents(field: str, value: JSON, words: str) -> None:
    said = said_of({"messages": [USER], field: value})[field]

    assert words in said
    assert "documented by" not in said


def test_what_is_null_is_lost_nowhere() -> None:
    user: JSONObject = {**USER, "tool_calls": None, "tool_call_id": None}

    assert said_of({"messages": [user], "safety_model": None, "some_field": None}) == {}
    assert "messages[0].tool_call_id" in said_of({"messages": [{**USER, "tool_call_id": "a"}]})
