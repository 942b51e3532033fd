"""Fields of Ollama's own API in a request that goes to its `/v1/chat/completions`, which does not read them."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.evidence import read_evidence, trace_of

MESSAGES: JSON = [{"role": "user", "content": "Which river is longer?"}]


def curl(path: str, **fields: JSON) -> str:
    body: JSONObject = {"model": "some-model", "messages": MESSAGES, **fields}
    return f"curl http://localhost:11434{path} -d '{json.dumps(body)}'"


def titles(text: str) -> list[str]:
    return [one.title for one in diagnose_trace(trace_of(read_evidence(text))) if one.code == "PD105"]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("think", False, "reasoning_effort"),
        ("format", {"type": "object"}, "response_format"),
        ("options", {"num_ctx": 8192}, "OLLAMA_CONTEXT_LENGTH"),
        ("keep_alive", "10m", "OLLAMA_KEEP_ALIVE"),
    ],
)
def test_a_field_of_the_own_api_is_named_at_the_other_address(name: str, value: JSON, words: str) -> None:
    text = curl("/v1/chat/completions", **{name: value})
    found = [one for one in diagnose_trace(trace_of(read_evidence(text))) if one.code == "PD105"]

    assert [one.title.startswith(f"`{name}` is a field of Ollama's own API") for one in found] == [True]
    assert words in found[0].fix


def test_at_its_own_address_the_field_is_read() -> None:
    text = curl("/api/chat", think=False)

    assert titles(text) == []
    assert "Ollama's own API" in read_evidence(text).words


def test_a_body_without_an_address_is_of_the_own_api() -> None:
    text = json.dumps({"model": "some-model", "messages": MESSAGES, "think": False})

    assert titles(text) == []
    assert "Ollama's own API" in read_evidence(text).words


def test_the_field_that_is_read_there_is_left_alone() -> None:
    assert titles(curl("/v1/chat/completions", reasoning_effort="none")) == []
