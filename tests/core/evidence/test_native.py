"""Servers' own text-generation APIs: prompt and raw output are read; what only looks like them is not.

The shapes are those of KoboldCpp's API page, Triton's generate extension, SGLang's native API, TGI's and llama.cpp's
README files.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence import read_evidence, trace_of

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
PROMPT = "<|im_start|>user\nWeather in Paris?<|im_end|>\n<|im_start|>assistant\n"
PARTS = [CALL[at : at + 7] for at in range(0, len(CALL), 7)]
KOBOLD: JSONObject = {"results": [{"text": CALL, "finish_reason": "stop"}]}
TRITON: JSONObject = {"model_name": "ensemble", "model_version": "1", "sequence_id": 0, "text_output": CALL}
SGLANG: JSONObject = {"text": CALL, "output_ids": [1, 2], "meta_info": {"finish_reason": {"type": "length"}}}
BODIES: dict[str, JSONObject] = {
    "KoboldCpp": {"prompt": PROMPT, "max_length": 80, "rep_pen": 1.1},
    "Triton": {"text_input": PROMPT, "max_tokens": 20, "bad_words": "", "stop_words": ""},
    "Triton, parameters": {"text_input": PROMPT, "parameters": {"max_tokens": 20}},
    "SGLang": {"text": PROMPT, "sampling_params": {"max_new_tokens": 16}},
    "TGI": {"inputs": PROMPT, "parameters": {"max_new_tokens": 20}},
}


def _sse(piece: Callable[[str], JSONObject]) -> str:
    return "".join(f"data: {json.dumps(piece(part))}\n\n" for part in PARTS)


STREAMS = {
    "KoboldCpp": _sse(lambda part: {"token": part, "finish_reason": None}).replace("data:", "event: message\ndata:"),
    "Triton": _sse(lambda part: {**TRITON, "text_output": part}),
    "TGI": _sse(lambda part: {"index": 1, "token": {"id": 5, "text": part}, "generated_text": None, "details": None}),
    "llama.cpp": _sse(lambda part: {"content": part, "stop": False, "id_slot": 0, "tokens_predicted": 3}),
    "SGLang": "".join(
        f"data: {json.dumps({'text': CALL[:end], 'meta_info': {'finish_reason': None}})}\n\n"
        for end in (*range(7, len(CALL), 7), len(CALL))
    ),
}


@pytest.mark.parametrize(
    ("answer", "words", "reason"),
    [
        (KOBOLD, "an answer of a text API in the form of KoboldCpp's", "stop"),
        (TRITON, "an answer of Triton's generate", None),
        ({**TRITON, "text_output": [CALL]}, "an answer of Triton's generate", None),
        (SGLANG, "an answer of SGLang's /generate", "length"),
    ],
)
def test_what_is_answered_is_a_raw_output(answer: JSONObject, words: str, reason: str | None) -> None:
    found = read_evidence(json.dumps(answer))

    assert (found.raw, found.words, found.finish_reason, found.chat) == (CALL, words, reason, None)


@pytest.mark.parametrize("name", BODIES)
def test_what_is_asked_is_a_prompt(name: str) -> None:
    found = read_evidence(json.dumps(BODIES[name]))

    assert (found.prompt, found.words) == (PROMPT, "a request for plain completions")
    assert found.request is not None
    assert PROMPT not in found.request.body.values()


@pytest.mark.parametrize(("body", "answer"), [("KoboldCpp", KOBOLD), ("Triton", TRITON), ("SGLang", SGLANG)])
@pytest.mark.parametrize("form", ["below", "in one object", "after a command"])
def test_a_request_and_its_answer_are_read_together(body: str, answer: JSONObject, form: str) -> None:
    asked, answered = json.dumps(BODIES[body]), json.dumps(answer)
    text = {
        "below": f"{asked}\n\n{answered}",
        "in one object": json.dumps({"request": BODIES[body], "response": answer}),
        "after a command": f"curl http://127.0.0.1:5001/generate -d '{asked}'\n{answered}",
    }[form]
    found = read_evidence(text)

    assert (found.prompt, found.raw) == (PROMPT, CALL)


@pytest.mark.parametrize("name", STREAMS)
def test_the_pieces_of_a_stream_are_joined(name: str) -> None:
    found = read_evidence(STREAMS[name])

    assert found.raw == CALL
    assert found.words == f"a stream of {name}"


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        ({"token": {"text": ""}, "generated_text": CALL, "details": {"finish_reason": "eos_token"}}, "stop"),
        ({"token": {"text": ""}, "generated_text": CALL, "details": {"finish_reason": "length"}}, "length"),
    ],
)
def test_the_last_event_says_how_the_output_ended(last: JSONObject, reason: str) -> None:
    assert read_evidence(STREAMS["TGI"] + f"data: {json.dumps(last)}\n\n").finish_reason == reason


def test_a_prompt_before_tritons_output_is_left_out_and_said() -> None:
    echoed = {"request": BODIES["Triton"], "response": {**TRITON, "text_output": PROMPT + CALL}}
    found = read_evidence(json.dumps(echoed))

    assert (found.prompt, found.raw) == (PROMPT, CALL)
    assert any("begins with the prompt" in note for note in found.notes)


def test_without_its_request_tritons_text_may_hold_the_prompt() -> None:
    assert any("unknown" in note for note in read_evidence(json.dumps(TRITON)).notes)


def test_an_output_of_koboldcpp_that_begins_like_its_prompt_stays_whole() -> None:
    body: JSONObject = {"prompt": "Paris", "max_length": 8}
    found = read_evidence(json.dumps({"request": body, "response": {"results": [{"text": "Paris is a city."}]}}))

    assert found.raw == "Paris is a city."


def test_calls_that_koboldcpp_parsed_are_the_message() -> None:
    call: JSON = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    found = read_evidence(json.dumps({"results": [{"text": "", "tool_calls": [call], "finish_reason": "tool_calls"}]}))

    assert found.chat is not None
    assert found.chat.message["tool_calls"] == [call]
    assert found.raw is None


def test_a_plain_text_is_no_finding() -> None:
    found = read_evidence(json.dumps({"results": [{"text": "It is sunny."}]}))

    assert found.raw == "It is sunny."
    assert trace_of(found).findings == ()


@pytest.mark.parametrize(
    "value",
    [
        {"results": [{"id": 1, "score": 0.5, "text": "a hit"}]},
        {"results": [{"flagged": True, "categories": {}}]},
        {"results": [{"text": "a hit"}], "total": 1},
        {"results": []},
        {"model_name": "m", "model_version": "1", "outputs": [{"name": "logits"}]},
        {"text_output": "a text"},
        {"model_name": "m", "status": "ready"},
        {"text": "a text", "meta": {}},
        {"token": "secret", "expires": 3600},
        {"inputs": "a text"},
    ],
)
def test_what_only_looks_like_one_is_refused(value: JSONObject) -> None:
    with pytest.raises(RequestError, match="not recognized"):
        read_evidence(json.dumps(value))


def test_answers_of_llama_cpp_one_a_line_are_not_a_stream() -> None:
    line = json.dumps({"content": CALL, "stop": True, "tokens_predicted": 5, "id_slot": 0})
    found = read_evidence(f"{line}\n{line}")

    assert (found.raw, found.rows) == (CALL, 2)


def test_an_answer_of_anthropics_text_completions_is_a_raw_output() -> None:
    found = read_evidence(json.dumps({"type": "completion", "completion": CALL, "stop_reason": "max_tokens"}))

    assert (found.raw, found.finish_reason) == (CALL, "length")
    assert found.words == "an answer of Anthropic's text completions"


def test_an_answer_of_coheres_first_chat_api_is_a_message() -> None:
    call = {"name": "get_weather", "parameters": {"city": "Paris"}}
    body = {"text": "I look.", "generation_id": "g", "chat_history": [], "finish_reason": "COMPLETE"}
    found = trace_of(read_evidence(json.dumps({**body, "tool_calls": [call]}))).chat

    assert found is not None
    assert found.finish_reason == "tool_calls"
    assert found.message["content"] == "I look."
    functions = [one["function"] for one in objects_in(found.message["tool_calls"])]
    assert functions == [{"name": "get_weather", "arguments": '{"city": "Paris"}'}]
    alone = trace_of(read_evidence(json.dumps({**body, "finish_reason": "MAX_TOKENS"}))).chat
    assert alone is not None
    assert alone.finish_reason == "length"
    assert "tool_calls" not in alone.message


@pytest.mark.parametrize(
    "value", [{"type": "completion", "completion": 1}, {"text": "a", "generation_id": 1}, {"type": "completion"}]
)
def test_what_lacks_its_fields_is_neither(value: JSONObject) -> None:
    with pytest.raises(RequestError):
        read_evidence(json.dumps(value))


def test_a_body_of_coheres_first_chat_api_is_named() -> None:
    with pytest.raises(RequestError, match="Cohere's first chat API"):
        read_evidence(json.dumps({"message": "Hi", "chat_history": [], "max_tokens": 3}))
    with pytest.raises(RequestError, match="not that of a chat"):
        read_evidence(json.dumps({"message": "Hi", "max_tokens": 3}))
