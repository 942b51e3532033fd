"""Answers in the form of another API are told by what makes each that form, and by nothing less."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.diagnose.other_forms import is_read_when_pasted, other_form

MESSAGES: list[JSONObject] = [
    {"type": "message", "content": []},
    {"type": "message_start", "message": {"role": "assistant"}},
]
RESPONSES: list[JSONObject] = [
    {"object": "response", "output": []},
    {"type": "response.created", "response": {"id": "r"}},
]
WORKERS_AI: list[JSONObject] = [{"result": {"response": "Hi."}, "success": True}]
OLLAMA: list[JSONObject] = [
    {"message": {"role": "assistant"}, "done": True},
    {"response": "Hi.", "done": False},
]
GEMINI: list[JSONObject] = [{"candidates": [{"finishReason": "STOP"}, {"content": {"parts": []}}]}]
COHERE: list[JSONObject] = [
    {"message": {"role": "assistant"}, "finish_reason": "COMPLETE"},
    {"type": "message-start", "id": "a", "delta": {"message": {"role": "assistant"}}},
]
FIRST_COHERE: list[JSONObject] = [{"generation_id": "g", "text": "Hi."}]
CONVERSE: list[JSONObject] = [{"output": {"message": {"role": "assistant"}}, "stopReason": "end_turn"}]
SGLANG: list[JSONObject] = [{"text": "Hi.", "meta_info": {}}]
TRITON: list[JSONObject] = [{"text_output": "Hi."}]
COMPLETIONS: list[JSONObject] = [{"choices": [{"text": "Hi."}]}]
READ = ("Cohere's chat", "Converse", "Messages", "Responses", "Workers AI", "Ollama", "Gemini", "raw completions")
NEITHER: list[JSONObject] = [
    {"message": {"role": "assistant"}},
    {"message": "Hi.", "done": True},
    {"response": "Hi.", "done": "yes"},
    {"candidates": [{"finishReason": "STOP"}]},
    {"candidates": "content"},
    {"generation_id": "g"},
    {"text": "Hi."},
    {"message": {"role": "assistant"}, "finish_reason": None},
    {"output": {"message": {"role": "assistant"}}},
    {"output": {"text": "Hi."}, "stopReason": "end_turn"},
    {"meta_info": {}},
    {"text": "Hi.", "meta_info": "none"},
    {"choices": [{"text": "Hi.", "message": {}}]},
    {"choices": [{"text": "Hi.", "delta": {}}]},
    {"choices": []},
    {"result": {"choices": {}}},
    {"result": {"answer": "Hi."}, "success": True},
    {"type": "message", "content": "Hi."},
    {"type": "message_start"},
    {"type": "message_stop", "message": {}},
    {"object": "response", "output": "Hi."},
    {"object": "list", "output": []},
    {"type": "response.created"},
    {"type": "message", "content": [], "error": {"message": "no"}},
    {},
]


@pytest.mark.parametrize(
    ("bodies", "api"),
    [
        (MESSAGES, "Messages"),
        (RESPONSES, "Responses"),
        (WORKERS_AI, "Workers AI"),
        (OLLAMA, "Ollama"),
        (GEMINI, "Gemini"),
        (COHERE, "Cohere's chat"),
        (FIRST_COHERE, "first version of Cohere"),
        (CONVERSE, "Converse"),
        (SGLANG, "SGLang"),
        (TRITON, "Triton"),
        (COMPLETIONS, "raw completions"),
    ],
)
def test_each_body_of_an_api_is_told_as_its_answer(bodies: list[JSONObject], api: str) -> None:
    shown = {other_form(json.dumps(body)) for body in bodies}

    assert len(shown) == 1
    form = str(shown.pop())
    assert api in form
    assert is_read_when_pasted(form) is (api in READ)


@pytest.mark.parametrize("wrapper", ["result", "data", "response", "body", "output"])
def test_a_chat_completion_in_a_wrapper_is_found_in_it(wrapper: str) -> None:
    assert other_form(json.dumps({wrapper: {"choices": []}, "ok": True})) == f"a chat completion inside `{wrapper}`"


def test_lines_and_events_are_looked_at_one_by_one() -> None:
    line = json.dumps(OLLAMA[1])

    assert "Ollama" in str(other_form(f": keep-alive\n\ndata: {{}}\n  {line}"))
    assert "Ollama" in str(other_form(f"data: {line}\n"))
    assert other_form("{}\n" * 40 + line) is None
    assert other_form(f"see {line}") is None


@pytest.mark.parametrize("body", NEITHER, ids=json.dumps)
def test_half_of_a_form_is_none(body: JSONObject) -> None:
    assert other_form(json.dumps(body)) is None
