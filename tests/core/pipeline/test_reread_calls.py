"""A call whose name and values stand in the text is not invented by the parser that returns it."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import JSONObject, Parse
from prompt_debugger.core.pipeline.census import read_raw
from prompt_debugger.core.pipeline.reread_calls import families_of_name

_JSON = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
_INVOKE = '<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</invoke>'
_PYTHON = "get_weather(city='Paris')"


def _message(*calls: tuple[str, JSONObject]) -> JSONObject:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for index, (name, arguments) in enumerate(calls)
        ],
    }


def _read(raw: str, parser: str, message: JSONObject) -> Parse:
    return read_raw(raw, ReadContext(), message=message, families=families_of_name(parser))


_ONE = _message(("get_weather", {"city": "Paris"}))


@pytest.mark.parametrize(
    ("raw", "parser", "family"),
    [
        (_PYTHON, "vllm:olmo3", "olmo3"),
        (f"{_PYTHON}\n", "vllm@0.11.0:olmo3", "olmo3"),
        (f"{_PYTHON};", "vllm:olmo3", "olmo3"),
        (f"{_PYTHON}<|im_end|>", "vllm:olmo3", "olmo3"),
        (f"<think>\nI need it.\n</think>\n\n{_PYTHON}", "vllm:olmo3", "olmo3"),
        (f"```json\n{_JSON}\n```", "vllm:llama3_json", None),
        (f"```python\n<function_calls>{_PYTHON}</function_calls>\n```", "vllm:olmo3", "olmo3"),
        (f"Sure, {_JSON}", "vllm:llama3_json", "llama3_json"),
        (f"<tool>{_JSON}</tool>", "vllm:llama3_json", "llama3_json"),
        (f"<think>\n<tool>{_JSON}</tool>", "vllm:llama3_json", None),
        (f"Sure, {_INVOKE}", "vllm:minimax_m2", "minimax_m2"),
    ],
)  # fmt: skip
def test_a_returned_call_that_stands_in_the_text_is_written(raw: str, parser: str, family: str | None) -> None:
    parse = _read(raw, parser, _ONE)
    assert [match.outcome for match in parse.ledger.matches] == ["kept"]
    assert parse.parsed.calls[0].arguments_json == {"city": "Paris"}
    assert family is None or parse.parsed.format == family
    assert "".join(raw[slice(*segment.char_span)] for segment in parse.parsed.segments) == raw


def test_calls_one_a_line_are_all_written() -> None:
    raw = "get_weather(city='Paris')\nget_time(zone=\"UTC\", when=None)"
    message = _message(("get_weather", {"city": "Paris"}), ("get_time", {"zone": "UTC", "when": None}))
    parse = _read(raw, "vllm:olmo3", message)
    assert [match.outcome for match in parse.ledger.matches] == ["kept", "kept"]
    assert parse.parsed.content is None


@pytest.mark.parametrize(
    "raw",
    [
        f"Call `{_PYTHON}` now.",
        f"The format is {_JSON}.",
        f"Write it like this:\n```json\n{_JSON}\n```\nThen wait.",
        "get_weather(city='Rome')",
        "get_weather is for Paris.",
        "I get_weather(city=Paris)",
        f"my_{_PYTHON}",
    ],
)
def test_what_is_quoted_or_says_something_else_stays_text(raw: str) -> None:
    parse = _read(raw, "vllm:olmo3", _ONE)
    assert [match.outcome for match in parse.ledger.matches] == ["invented"]
    assert parse.parsed.format == "generic"


def test_without_a_returned_call_a_bare_line_stays_text() -> None:
    parse = _read(_PYTHON, "vllm:olmo3", {"role": "assistant", "content": _PYTHON})
    assert parse.parsed.calls == ()


def test_a_flood_is_read_in_time() -> None:
    raw = 'get_weather({"name": "get_weather", ' * 6_000
    assert [match.outcome for match in _read(raw, "vllm:olmo3", _ONE).ledger.matches] == ["invented"]


def test_a_call_that_lost_its_arguments_is_altered() -> None:
    raw = '{"name": "get_weather", "args": {"city": "Paris"}}'
    parse = _read(raw, "sglang:llama3", _message(("get_weather", {})))
    assert [match.outcome for match in parse.ledger.matches] == ["altered"]


_BARE = '{"city": "Paris"}'


@pytest.mark.parametrize(
    ("raw", "message", "outcomes"),
    [
        (_BARE, _ONE, ["kept"]),
        (f"{_BARE} <|im_end|>", _ONE, ["kept"]),
        (f"<think>\nI must.\n</think>\n\n{_BARE}", _ONE, ["kept"]),
        (f"Here: {_BARE}", _ONE, ["invented"]),
        ('{"city": "Rome"}', _ONE, ["invented"]),
        (_BARE, _message(("search", {"city": "Paris"})), ["invented"]),
        (_BARE, _message(("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Oslo"})), ["invented"] * 2),
    ],
)
def test_of_a_forced_tool_the_model_may_write_the_arguments_alone(
    raw: str, message: JSONObject, outcomes: list[str]
) -> None:
    """A grammar of the tool's parameters leaves nothing else to write; the server adds the name."""
    forced = read_raw(raw, ReadContext(), message=message, forced="get_weather")
    free = read_raw(raw, ReadContext(), message=message)

    assert [match.outcome for match in forced.ledger.matches] == outcomes
    assert {match.outcome for match in free.ledger.matches} == {"invented"}
    assert "".join(raw[slice(*segment.char_span)] for segment in forced.parsed.segments) == raw
    if outcomes == ["kept"]:
        assert not forced.parsed.content
        assert [raw[slice(*entry.char_span)] for entry in forced.ledger.entries if entry.target] == [_BARE]
