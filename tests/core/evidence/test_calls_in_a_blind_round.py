"""Answers, errors and commands of public reports on tool calls, told as their maintainers would tell them."""

from __future__ import annotations

import json

from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.evidence.commands.command_lines import find_commands
from prompt_debugger.core.known_errors import recognise_error

ASKED = {"model": "m", "messages": [{"role": "user", "content": "go"}]}
ANSWERED = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}


def test_what_the_model_wrote_is_read_beside_a_request_and_its_response() -> None:
    evidence = read_evidence(json.dumps({"request": ASKED, "raw": "<think>So</think>Hi", "response": ANSWERED}))

    assert evidence.raw == "<think>So</think>Hi"
    assert evidence.chat is not None
    assert evidence.request is not None


def test_the_text_of_a_body_is_not_what_the_model_wrote() -> None:
    body = json.dumps(ANSWERED)
    found = [
        read_evidence(json.dumps({"request": ASKED, "raw": raw, "response": ANSWERED})).raw
        for raw in (body, f"HTTP/1.1 200 OK\n\n{body}", json.dumps(ASKED), f"data: {body}", " ")
    ]

    assert found == [None] * 5


def test_the_server_of_llama_cpp_python_is_not_llama_server() -> None:
    python = find_commands("python3 -m llama_cpp.server --model a.gguf --chat_format chatml-function-calling")
    other = find_commands("llama-server -m a.gguf --jinja")

    assert [one.kind for one in (*python, *other)] == ["llama-cpp-python", "llama.cpp"]


def test_a_tool_that_an_agent_puts_in_place_of_a_broken_call_is_not_to_be_declared() -> None:
    own = recognise_error("Model tried to call unavailable tool 'invalid'. Available tools: bash, read.")
    other = recognise_error("Model tried to call unavailable tool 'invalidate'. Available tools: bash, read.")

    assert own is not None
    assert "Declaring a tool of this name does not help" in own.error.remedy
    assert other is not None
    assert other.error.remedy.startswith("Declare the tool")


def test_extra_data_is_about_the_history_only_where_a_history_was_decoded() -> None:
    words = "litellm.APIConnectionError: Extra data: line 1 column 9 (char 8)"
    history = recognise_error(f'{words}\n  File "main.py", line 9, in completion\n    _complete_ollama_chat(context)')
    unknown = recognise_error(json.dumps({"error": words}))

    assert history is not None
    assert history.error.field == "messages"
    assert unknown is not None
    assert unknown.error.field != "messages"
