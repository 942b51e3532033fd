"""More requests with one fault or oddity each; what differs was written down from vLLM's source before they were run.

Tools in a namespace, tools of one text, reasoning in several texts, turns of one speaker in a row, schemas without a
type, tools taken away on the way, and what must make no difference.
"""

from __future__ import annotations

from typing import Any

from tests.core.tools.apis.seeds import _ASK, _CITY, _HI, _SEARCH, _SYSTEM, _WEATHER, Body, _chat, _messages, _tool

_FLAT: Body = {"type": "function", **_WEATHER}
_NAMESPACE: Body = {"type": "namespace", "name": "meteo", "description": "Weather.", "tools": [_FLAT]}
_CUSTOM: Body = {"type": "custom", "name": "apply_patch", "description": "Patches."}
_PARIS = "What's the weather in Paris?"


def _responses(given: Any, **fields: Any) -> Body:
    body = {"input": given, "temperature": 0, "max_output_tokens": 90, "tools": [_FLAT], **fields}
    return {name: value for name, value in body.items() if value is not None}


def _user(text: str) -> Body:
    return {"role": "user", "content": text}


def _text(text: str) -> Body:
    return {"type": "text", "text": text}


def _call(number: int, city: str) -> Body:
    function = {"name": "get_weather", "arguments": f'{{"city": "{city}"}}'}
    return {"id": f"functions.get_weather:{number}", **_tool(function)}


def _calling(*calls: Body, **fields: Any) -> Body:
    return {"role": "assistant", "content": None, "tool_calls": [*calls], **fields}


def _result(number: int, text: str) -> Body:
    return {"role": "tool", "tool_call_id": f"functions.get_weather:{number}", "content": text}


def _item(name: str = "get_weather", **fields: Any) -> Body:
    call = {"type": "function_call", "call_id": f"functions.{name}:0", "name": "get_weather"}
    return {**call, "arguments": '{"city": "Paris"}', **fields}


def _output(name: str, text: str, kind: str = "function_call_output") -> Body:
    return {"type": kind, "call_id": f"functions.{name}:0", "output": text}


def _thought(**texts: tuple[str, ...]) -> Body:
    kinds = {"content": "reasoning_text", "summary": "summary_text"}
    parts = {name: [{"type": kinds[name], "text": text} for text in those] for name, those in texts.items()}
    return {"type": "reasoning", "id": "rs_1", "summary": [], **parts}


def _used(number: int, city: str) -> Body:
    return {
        "type": "tool_use",
        "id": f"functions.get_weather:{number}",
        "name": "get_weather",
        "input": {"city": city},
    }


def _answered(number: int, content: Any) -> Body:
    return {"type": "tool_result", "tool_use_id": f"functions.get_weather:{number}", "content": content}


def _asked(*blocks: Body) -> Body:
    return {"role": "user", "content": [*blocks]}


def _answer(*blocks: Body) -> Body:
    return {"role": "assistant", "content": [*blocks]}


_UNTYPED: Body = {"name": "get_weather", "input_schema": {"properties": _CITY["properties"], "required": ["city"]}}
_REMOVED: Body = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "get_weather"}}
_SCHEMA: Body = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 5}}, "required": ["a"]}
_PATCH: Body = {"type": "custom_tool_call", "call_id": "functions.apply_patch:0", "name": "apply_patch"}
_BEGUN: Body = {"type": "message", "role": "assistant", "id": "msg_1", "status": "incomplete"}

SEEDS: dict[str, Body] = {
    "two assistants in a row": _chat(
        _SYSTEM,
        _user(_PARIS),
        {"role": "assistant", "content": "Let me look."},
        _calling(_call(0, "Paris")),
        _result(0, "12 degrees"),
        _ASK,
    ),
    "two calling assistants in a row": _chat(
        _SYSTEM,
        _user("What's the weather in Paris and Lima?"),
        _calling(_call(0, "Paris")),
        _calling(_call(1, "Lima")),
        _result(0, "12"),
        _result(1, "30"),
        _ASK,
    ),
    "reasoning of two texts": _responses(
        [_user(_PARIS), _thought(content=("First this.", "Then that.")), _item(), _output("get_weather", "12 degrees")]
    ),
    "two summaries": _responses(
        [_user(_PARIS), _thought(summary=("One.", "Two.")), _item(), _output("get_weather", "12 degrees")]
    ),
    "answer to be continued": _responses(
        [_HI, {**_BEGUN, "content": [{"type": "output_text", "text": "Hello! How", "annotations": []}]}]
    ),
    "schema without a type": _messages(_ASK, tools=[_UNTYPED]),
    "own keys in a function": _chat(tools=[_tool({**_WEATHER, "x-owner": "team-a"}), _tool(_SEARCH)]),
    "tool removed in transit": _messages(
        _HI, {"role": "assistant", "content": "Hello!"}, {"role": "system", "content": [_REMOVED]}, _ASK
    ),
    "namespace": _responses([_ASK], tools=[_NAMESPACE, {"type": "function", **_SEARCH}]),
    "namespace, required": _responses([_ASK], tools=[_NAMESPACE], tool_choice="required"),
    "namespace, by the short name": _responses(
        [_ASK], tools=[_NAMESPACE], tool_choice={"type": "function", "name": "get_weather"}
    ),
    "namespace, cut": _responses([_ASK], tools=[_NAMESPACE], tool_choice="required", max_output_tokens=22),
    "namespace in the history": _responses(
        [
            _user(_PARIS),
            _item("meteo__get_weather", namespace="meteo"),
            _output("meteo__get_weather", "12 degrees"),
            _ASK,
        ],
        tools=[_NAMESPACE],
        tool_choice="required",
    ),
    "custom tool in the history": _responses(
        [
            _user("Say hi by a patch."),
            {**_PATCH, "input": "*** Begin\n+hi\n*** End"},
            _output("apply_patch", "done", "custom_tool_call_output"),
            _ASK,
        ],
        tools=[_CUSTOM, _FLAT],
    ),
    "three texts in a result": _messages(
        _user(_PARIS),
        _answer(_used(0, "Paris")),
        _asked(_answered(0, [_text("12"), _text("degrees"), _text("rain")]), _text("And in Rome?")),
    ),
    "text between two results": _messages(
        _user("What's the weather in Paris and Lima?"),
        _answer(_used(0, "Paris"), _used(1, "Lima")),
        _asked(_answered(0, "12"), _text("That was quick."), _answered(1, "30"), _text("And in Rome?")),
    ),
    "accents": _messages(
        _user("What's the weather in São Paulo?"),
        _answer(_used(0, "São Paulo")),
        _asked(_answered(0, "vingt°, “chaud”"), _text("And in Rome?")),
    ),
    "both limits": _chat(max_completion_tokens=15),
    "required, cut": _chat(tool_choice="required", max_tokens=14),
    "stop in the header": _chat(stop=["get_"]),
    "reasoning in the running exchange": _chat(
        _SYSTEM, _user(_PARIS), _calling(_call(0, "Paris"), reasoning="I look."), _result(0, "12 degrees")
    ),
    "schema next to tools": _chat(
        _SYSTEM,
        _HI,
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "x", "schema": {**_SCHEMA, "additionalProperties": False}},
        },
    ),
    "result without an id": _chat(
        _SYSTEM, _user(_PARIS), _calling(_call(0, "Paris")), {"role": "tool", "content": "12 degrees"}, _ASK
    ),
    "redacted thinking": _messages(
        _user(_PARIS),
        _answer({"type": "redacted_thinking", "data": "abc="}, _used(0, "Paris")),
        _asked(_answered(0, "12 degrees")),
    ),
    "assistant that said nothing": _chat(_SYSTEM, _HI, {"role": "assistant", "content": None}, _ASK),
}

# As `EXPECTED` of `seeds`. That vLLM's Responses and Messages do to a request what the names say is in its source:
# `responses/utils.py`, `tool_parsers/utils.py`, `anthropic/serving.py` and `anthropic/protocol.py` of 0.32.
_RC = "request conversion"
_OTHER_ANSWER = ("responses message: prompt", f"responses prompt: {_RC}", "responses raw: prompt")
_BOTH: dict[str, tuple[str, ...]] = {
    "two assistants in a row": _OTHER_ANSWER,
    "two calling assistants in a row": (f"responses prompt: {_RC}",),
    "reasoning of two texts": (f"responses prompt: {_RC}",),
    "two summaries": (f"responses prompt: {_RC}",),
    "answer to be continued": _OTHER_ANSWER,
    "schema without a type": (f"messages prompt: {_RC}",),
    "tool removed in transit": (
        "messages message: prompt",
        f"messages prompt: {_RC}",
        "messages raw: prompt",
        f"messages request: {_RC}",
    ),
    "namespace, by the short name": ("messages message: response", "responses message: response"),
    "custom tool in the history": (f"responses prompt: {_RC}", f"responses request: {_RC}"),
    "result without an id": (f"responses prompt: {_RC}",),
}
_WHOLE: dict[str, tuple[str, ...]] = {
    "both limits": ("messages status: response", "responses message: response"),
    "required, cut": ("messages status: response",),
    "namespace, cut": ("messages status: response",),
}
_STREAMED: dict[str, tuple[str, ...]] = {"stop in the header": ("messages message: response",)}
EXPECTED = {False: {**_BOTH, **_WHOLE}, True: {**_BOTH, **_STREAMED}}
