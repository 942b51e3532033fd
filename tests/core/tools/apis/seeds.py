"""Requests for three APIs of the lab, each with its own fault or oddity, and the differences it causes.

`EXPECTED` has, for whole answers and for streams, what differs from chat completions: the API, where, and the kind of
cause. What is not named there does not differ.
"""

from __future__ import annotations

import json
from typing import Any

Body = dict[str, Any]
_CITY: Body = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_QUERY: Body = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
_WEATHER: Body = {"name": "get_weather", "description": "Get the weather of a city.", "parameters": _CITY}
_SEARCH: Body = {"name": "search", "description": "Search the web.", "parameters": _QUERY}
_SYSTEM: Body = {"role": "system", "content": "You are a helpful assistant"}
_ASK: Body = {"role": "user", "content": "What's the weather in Rome?"}
_ASK_TWO: Body = {"role": "user", "content": "What's the weather in Rome and Oslo?"}
_HI: Body = {"role": "user", "content": "hi"}
_IDS = ("functions.get_weather:0", "functions.get_weather:1")
_IMAGE: Body = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
_STRICT: Body = {**_CITY, "additionalProperties": False}


def _tool(function: Body) -> Body:
    return {"type": "function", "function": function}


def _chat(*messages: Body, without: tuple[str, ...] = (), **fields: Any) -> Body:
    tools = [_tool(_WEATHER), _tool(_SEARCH)]
    body = {"messages": [*messages] or [_SYSTEM, _ASK], "temperature": 0, "max_tokens": 96, "tools": tools, **fields}
    return {name: value for name, value in body.items() if name not in without}


def _called(content: Any, *ids: str, results: list[Body] | None = None, arguments: str = "") -> tuple[Body, ...]:
    cities = dict(zip(ids, ("Paris", "Lima"), strict=False))
    calls = [
        {"id": at, **_tool({"name": "get_weather", "arguments": arguments or json.dumps({"city": city})})}
        for at, city in cities.items()
    ]
    given = [_result(at, "12 degrees") for at in ids] if results is None else results
    asked = {"role": "user", "content": "What's the weather in Paris?"}
    after = {"role": "user", "content": "What's the weather in Oslo?"}
    return (_SYSTEM, asked, {"role": "assistant", "content": content, "tool_calls": calls}, *given, after)


def _change_call(**fields: Any) -> tuple[Body, ...]:
    """A history with a call whose fields are changed; `None` takes one out."""
    system, asked, answer, *after = _called(None, _IDS[0])
    call = {name: part for name, part in {**answer["tool_calls"][0], **fields}.items() if part is not None}
    return (system, asked, {**answer, "tool_calls": [call]}, *after)


def _result(call_id: str, content: Any) -> Body:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def _text(*texts: str) -> list[Body]:
    return [{"type": "text", "text": text} for text in texts]


def _responses(given: Any, **fields: Any) -> Body:
    tools = [{"type": "function", **_WEATHER}]
    return {"input": given, "temperature": 0, "max_output_tokens": 60, "tools": tools, **fields}


def _messages(*messages: Body, **fields: Any) -> Body:
    tools = [{"name": "get_weather", "description": _WEATHER["description"], "input_schema": _CITY}]
    return {"messages": [*messages], "temperature": 0, "max_tokens": 60, "tools": tools, **fields}


_USED: Body = {"type": "tool_use", "id": _IDS[0], "name": "get_weather", "input": {"city": "Paris"}}
_ANSWERED: Body = {"type": "tool_result", "tool_use_id": _IDS[0]}
_REF = {
    "type": "object",
    "properties": {"city": {"$ref": "#/$defs/city"}},
    "$defs": {"city": {"type": "string"}},
    "required": ["city"],
}
_CACHED: Body = {"cache_control": {"type": "ephemeral"}}

SEEDS: dict[str, Body] = {
    "nothing wrong": _chat(),
    "system in parts": _chat({"role": "system", "content": _text("You are a helpful assistant", "Be brief.")}, _ASK),
    "two systems": _chat(_SYSTEM, {"role": "system", "content": "Be brief."}, _ASK),
    "developer": _chat({"role": "developer", "content": "Be brief."}, _ASK),
    "empty system": _chat({"role": "system", "content": ""}, _ASK),
    "late system": _chat(_SYSTEM, _HI, {"role": "assistant", "content": "Hello!"}, _SYSTEM, _ASK),
    "billing header": _chat({"role": "system", "content": "x-anthropic-billing-header: a\nBe brief."}, _ASK),
    "user in parts": _chat(_SYSTEM, {"role": "user", "content": _text("What's the weather", " in Rome?")}),
    "empty user": _chat(_SYSTEM, {"role": "user", "content": ""}),
    "image": _chat(_SYSTEM, {"role": "user", "content": [*_text("What is it?"), _IMAGE]}),
    "image and empty text": _chat(_SYSTEM, {"role": "user", "content": [_IMAGE, *_text("")]}),
    "named user": _chat(_SYSTEM, {**_ASK, "name": "bob"}),
    "empty text next to a call": _chat(*_called("", _IDS[0])),
    "null next to a call": _chat(*_called(None, _IDS[0])),
    "text next to a call": _chat(*_called("Let me look.", _IDS[0])),
    "parts next to a call": _chat(*_called(_text("Let me look."), _IDS[0])),
    "results in order": _chat(*_called(None, *_IDS)),
    "results out of order": _chat(
        *_called(None, *_IDS, results=[_result(_IDS[1], "30 degrees"), _result(_IDS[0], "12 degrees")])
    ),
    "result of no call": _chat(_SYSTEM, _ASK, _result("functions.get_weather:7", "12 degrees")),
    "result in parts": _chat(*_called(None, _IDS[0], results=[_result(_IDS[0], _text("12", "degrees"))])),
    "empty result": _chat(*_called(None, _IDS[0], results=[_result(_IDS[0], "")])),
    "tight arguments": _chat(*_called(None, _IDS[0], arguments='{"city":"Paris"}')),
    "broken arguments": _chat(*_called(None, _IDS[0], arguments='{"city": "Par')),
    "id off the pattern": _chat(*_called(None, "get_weather")),
    "reasoning in the history": _chat(_SYSTEM, _HI, {"role": "assistant", "content": "Hello!", "reasoning": "?"}, _ASK),
    "choice none": _chat(tool_choice="none"),
    "choice required": _chat(_SYSTEM, _HI, tool_choice="required"),
    "choice by name": _chat(tool_choice=_tool({"name": "search"})),
    "choice of no tool": _chat(tool_choice=_tool({"name": "nothing"})),
    "one call only": _chat(_SYSTEM, _ASK_TWO, parallel_tool_calls=False),
    "cut in the header": _chat(max_tokens=7),
    "cut in the arguments": _chat(max_tokens=16),
    "cut in the second call": _chat(_SYSTEM, _ASK_TWO, max_tokens=30),
    "one token": _chat(max_tokens=1),
    "limit by its newer name": _chat(without=("max_tokens",), max_completion_tokens=14),
    "no limit": _chat(without=("max_tokens",)),
    "stop inside a call": _chat(stop="city"),
    "stops in prose": _chat(_SYSTEM, _HI, stop=["help", "xyz"]),
    "schema": _chat(
        _SYSTEM,
        _HI,
        without=("tools",),
        max_tokens=40,
        response_format={"type": "json_schema", "json_schema": {"name": "c", "strict": True, "schema": _STRICT}},
    ),
    "any object": _chat(_SYSTEM, _HI, without=("tools",), max_tokens=40, response_format={"type": "json_object"}),
    "text format": _chat(response_format={"type": "text"}),
    "strict tool": _chat(tools=[_tool({**_WEATHER, "strict": True})]),
    "tool without a schema": _chat(tools=[_tool({"name": "get_weather", "description": "Weather."})]),
    "tool without a description": _chat(tools=[_tool({"name": "get_weather", "parameters": _CITY})]),
    "no tools": _chat(tools=[]),
    "thinking on": _chat(chat_template_kwargs={"thinking": True, "enable_thinking": True}),
    "thinking off": _chat(chat_template_kwargs={"enable_thinking": False}),
    "effort": _chat(reasoning_effort="low"),
    "metadata and user": _chat(metadata={"user_id": "u"}, user="bob"),
    "seed": _chat(temperature=0.7, seed=4),
    "bias": _chat(max_tokens=20, logit_bias={"5": -100, "20": 50}),
    "two choices": _chat(n=2),
    "no generation prompt": _chat(add_generation_prompt=False),
    "beyond the end": _chat(_SYSTEM, _HI, ignore_eos=True, max_tokens=30),
    "regex": _chat(_SYSTEM, _HI, without=("tools",), max_tokens=20, structured_outputs={"regex": "[A-Z]{3}"}),
    "too hot": _chat(temperature=7),
    "too long": _chat({"role": "user", "content": "hi " * 5_000}),
    "Responses with all its fields": _responses(
        "What's the weather in Rome?",
        instructions="You are a helpful assistant",
        metadata={"k": "v"},
        user="u",
        store=False,
        truncation="disabled",
        include=["reasoning.encrypted_content"],
        reasoning={"effort": "medium", "summary": "auto"},
    ),
    "Responses with a schema": _responses(
        [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        tools=[],
        max_output_tokens=40,
        text={"format": {"type": "json_schema", "name": "c", "schema": _STRICT, "strict": True}, "verbosity": "low"},
    ),
    "Responses with encrypted reasoning": _responses(
        [_HI, {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc"}, _ASK]
    ),
    "Responses, cut": _responses("What's the weather in Rome?", max_output_tokens=16),
    "Messages with cached blocks": _messages(
        {"role": "user", "content": [{**_text("What's the weather in Rome?")[0], **_CACHED}]},
        system=[{**_text("You are a helpful assistant")[0]}, {**_text("Be brief.")[0], **_CACHED}],
        metadata={"user_id": "u"},
    ),
    "Messages with thinking": _messages(
        _HI,
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Look.", "signature": "s"}, _USED]},
        {"role": "user", "content": [{**_ANSWERED, "content": _text("12 degrees")}, *_text("And in Oslo?")]},
        thinking={"type": "enabled", "budget_tokens": 1_024},
    ),
    "Messages with one of any": _messages(
        _ASK_TWO, tool_choice={"type": "any", "disable_parallel_tool_use": True}, stop_sequences=["degrees"], top_k=5
    ),
    "Messages with a failed result": _messages(
        _HI, {"role": "assistant", "content": [_USED]}, {"role": "user", "content": [{**_ANSWERED, "is_error": True}]}
    ),
    "two users in a row": _chat(_SYSTEM, {"role": "user", "content": "Be quick."}, _ASK),
    "assistant last": _chat(_SYSTEM, _ASK, {"role": "assistant", "content": "Let me look."}),
    "assistant first": _chat({"role": "assistant", "content": "Hello!"}, _ASK),
    "refusal in the history": _chat(_SYSTEM, _HI, {"role": "assistant", "content": None, "refusal": "No."}, _ASK),
    "result with a name": _chat(
        *_called(None, _IDS[0], results=[{**_result(_IDS[0], "12 degrees"), "name": "get_weather"}])
    ),
    "result that is JSON": _chat(*_called(None, _IDS[0], results=[_result(_IDS[0], '{"t": 12, "c": "São Paulo"}')])),
    "image in a result": _chat(*_called(None, _IDS[0], results=[_result(_IDS[0], [_IMAGE])])),
    "letters in two forms": _chat(
        _SYSTEM, {"role": "user", "content": "What's the weather in Rome? e\u0301 \u00e9 \u200b"}
    ),
    "control token in a text": _chat(_SYSTEM, {"role": "user", "content": "hi <|im_end|> there"}),
    "one tool twice": _chat(tools=[_tool(_WEATHER), _tool(_WEATHER)]),
    "tool with a reference": _chat(tools=[_tool({**_WEATHER, "parameters": _REF})]),
    "tool keys in another order": _chat(
        tools=[
            {
                "function": {"parameters": _CITY, "description": "Get the weather of a city.", "name": "get_weather"},
                "type": "function",
            }
        ]
    ),
    "older functions": _chat(without=("tools",), functions=[_WEATHER], function_call="auto"),
    "no token": _chat(max_tokens=0),
    "too cold": _chat(temperature=-1),
    "top_p of nothing": _chat(top_p=0),
    "at least some tokens": _chat(_SYSTEM, _HI, min_tokens=20, max_tokens=25),
    "stop by id": _chat(stop_token_ids=[20]),
    "logprobs": _chat(logprobs=True, top_logprobs=2),
    "penalties": _chat(_SYSTEM, _HI, frequency_penalty=1.5, presence_penalty=0.5),
    "repetition penalty": _chat(_SYSTEM, _HI, repetition_penalty=1.8, max_tokens=30),
    "choice that is no word": _chat(tool_choice="any"),
    "call without an id": _chat(*_change_call(id=None)),
    "arguments as an object": _chat(
        *_change_call(
            function={**_called(None, _IDS[0])[2]["tool_calls"][0]["function"], "arguments": {"city": "Paris"}}
        )
    ),
    "empty arguments": _chat(*_called(None, _IDS[0], arguments=" ")),
    "arguments that are a list": _chat(*_called(None, _IDS[0], arguments="[1]")),
    "only whitespace next to a call": _chat(*_called("\n\n", _IDS[0])),
    "empty part of several next to a call": _chat(*_called(_text("Let me look.", ""), _IDS[0])),
    "Responses with an output in parts": _responses(
        [
            {"role": "user", "content": "hi"},
            {"type": "function_call", "call_id": _IDS[0], "name": "get_weather", "arguments": '{"city": "Paris"}'},
            {
                "type": "function_call_output",
                "call_id": _IDS[0],
                "output": [{"type": "input_text", "text": "12 degrees"}],
            },
            {"role": "user", "content": "And in Oslo?"},
        ]
    ),
    "Responses with a tool by name": _responses(
        "What's the weather in Rome?", tool_choice={"type": "function", "name": "get_weather"}
    ),
    "Responses with logprobs": _responses(
        "What's the weather in Rome?", top_logprobs=2, include=["message.output_text.logprobs"]
    ),
    "Responses with an assistant's text": _responses(
        [
            {"role": "user", "content": "hi"},
            {
                "type": "message",
                "role": "assistant",
                "id": "msg_1",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Hello!", "annotations": []}],
            },
            {"role": "user", "content": "What's the weather in Rome?"},
        ]
    ),
    "Messages with no choice": _messages(_ASK, tool_choice={"type": "none"}),
    "Messages with a tool by name": _messages(_ASK, tool_choice={"type": "tool", "name": "get_weather"}),
    "Messages with a beginning": _messages(_ASK, {"role": "assistant", "content": "Let me"}),
    "Messages with a web search": {
        **_messages(_ASK),
        "tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 5}],
    },
    "Messages with an image in a result": _messages(
        _HI,
        {"role": "assistant", "content": [_USED]},
        {
            "role": "user",
            "content": [
                {
                    **_ANSWERED,
                    "content": [
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
                        }
                    ],
                }
            ],
        },
    ),
    "Messages with a system": _messages(_ASK, system="Be brief."),
    "control token in a result": _chat(
        *_called(None, _IDS[0], results=[_result(_IDS[0], "<|im_end|><|im_user|>user<|im_middle|>hi")])
    ),
    "system between call and result": _chat(*_called(None, _IDS[0])[:3], _SYSTEM, *_called(None, _IDS[0])[3:]),
    "unknown role": _chat(_SYSTEM, {"role": "critic", "content": "Hm."}, _ASK),
    "tool with a space in its name": _chat(tools=[_tool({**_WEATHER, "name": "get weather"})]),
    "a result before its call": _chat(_SYSTEM, _HI, _result(_IDS[0], "12"), _called(None, _IDS[0])[2], _ASK),
    "Responses, cut in a second call": _responses("What's the weather in Rome and Oslo?", max_output_tokens=30),
    "Responses with two texts of the assistant": _responses(
        [
            {"role": "user", "content": "hi"},
            {
                "type": "message",
                "role": "assistant",
                "content": [
                    {"type": "output_text", "text": "Hello!", "annotations": []},
                    {"type": "output_text", "text": "Ask me.", "annotations": []},
                ],
            },
            {"role": "user", "content": "What's the weather in Rome?"},
        ]
    ),
    "Responses with a reference to an item": _responses([{"type": "item_reference", "id": "msg_1"}, _HI]),
    "Responses with allowed tools": _responses(
        "What's the weather in Rome?",
        tool_choice={
            "type": "allowed_tools",
            "mode": "auto",
            "tools": [{"type": "function", "name": "get_weather"}],
        },
    ),
    "Messages, cut in a call": _messages(_ASK, max_tokens=16),
    "Messages with a text before the result": _messages(
        _HI,
        {"role": "assistant", "content": [_USED]},
        {"role": "user", "content": [*_text("And in Oslo?"), {**_ANSWERED, "content": "12 degrees"}]},
    ),
    "Messages, stopped in a call": _messages(_ASK, stop_sequences=["city"]),
}

# What differs, by name: `API where: cause`, for answers that are whole and for streams.
_OTHER_PROMPTS = tuple(
    f"{api} {kind}"
    for api in ("messages", "responses")
    for kind in ("message: prompt", "prompt: request conversion", "raw: prompt", "request: request conversion")
)
_OTHER_GRAMMAR = ("messages message: raw", "messages raw: request conversion", "messages request: request conversion")
_OTHER_SAMPLING = tuple(
    f"{api} {kind}"
    for api in ("messages", "responses")
    for kind in ("message: raw", "raw: request conversion", "request: request conversion")
)
_OTHER_SAMPLING_OF_MESSAGES = tuple(kind for kind in _OTHER_SAMPLING if kind.startswith("messages"))
_BOTH: dict[str, tuple[str, ...]] = {
    "system in parts": ("messages prompt: request conversion", "messages request: request conversion"),
    "two systems": ("messages prompt: request conversion", "messages request: request conversion"),
    "empty system": ("messages prompt: request conversion", "messages request: request conversion"),
    "empty text next to a call": _OTHER_PROMPTS,
    "choice by name": ("messages message: response", "responses message: response"),
    "choice of no tool": ("messages status: request checks", "responses status: request checks"),
    "any object": _OTHER_GRAMMAR,
    "tool without a schema": (
        "messages message: prompt",
        "messages prompt: request conversion",
        "messages raw: prompt",
        "messages request: request conversion",
    ),
    "no tools": ("messages status: request checks", "responses status: request checks"),
    "bias": _OTHER_GRAMMAR,
    "two choices": ("messages status: request conversion", "responses status: request conversion"),
    "no generation prompt": _OTHER_PROMPTS,
    "beyond the end": _OTHER_SAMPLING_OF_MESSAGES,
    "regex": _OTHER_GRAMMAR,
    "Responses with a schema": ("messages status: request checks", "responses status: request checks"),
    "Responses with encrypted reasoning": ("responses status: request checks",),
    "Messages with thinking": ("messages status: request conversion",),
    "image in a result": ("messages status: request conversion", "responses status: request conversion"),
    "no token": ("messages status: request checks",),
    "at least some tokens": _OTHER_SAMPLING,
    "choice that is no word": ("messages status: request checks", "responses status: request checks"),
    "call without an id": ("messages status: request checks", "responses status: request checks"),
    "arguments as an object": ("messages status: request checks", "responses status: request checks"),
    "empty part of several next to a call": (
        "messages prompt: request conversion",
        "messages request: request conversion",
        "responses prompt: request conversion",
    ),
    "Responses with a tool by name": ("messages message: response", "responses message: response"),
    "Messages with a tool by name": ("messages message: response", "responses message: response"),
    "Messages with a web search": ("messages status: request conversion",),
    "Messages with an image in a result": ("messages status: request conversion",),
    "unknown role": ("messages status: request checks", "responses status: request checks"),
    "Responses with two texts of the assistant": ("responses prompt: request conversion",),
    "Responses with a reference to an item": ("responses status: request conversion",),
    "Responses with allowed tools": ("messages status: request conversion", "responses status: request checks"),
}
_WHOLE: dict[str, tuple[str, ...]] = {
    "choice required": ("messages status: response",),
    "cut in the header": ("responses message: response",),
    "cut in the arguments": ("messages status: response", "responses message: response"),
    "cut in the second call": ("messages status: response", "responses message: response"),
    "limit by its newer name": ("messages status: response", "responses message: response"),
    "stop inside a call": ("messages status: response",),
    "Responses, cut": ("messages status: response", "responses message: response"),
    "Responses, cut in a second call": ("messages status: response", "responses message: response"),
    "Messages, cut in a call": ("messages status: response", "responses message: response"),
    "Messages, stopped in a call": ("messages status: response",),
}
_STREAMED: dict[str, tuple[str, ...]] = {
    "cut in the header": ("messages message: response",),
    "stop inside a call": ("messages message: response",),
    "Messages, stopped in a call": ("messages message: response",),
}
EXPECTED = {False: {**_BOTH, **_WHOLE}, True: {**_BOTH, **_STREAMED}}
