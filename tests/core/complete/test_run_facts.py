"""Where servers put the ids of a run. The answers have the shapes of real ones, cut down."""

from __future__ import annotations

import json

from prompt_debugger.core.base.types import JSON, JSONObject, Usage
from prompt_debugger.core.complete import run_facts
from prompt_debugger.core.complete.answers import read_chat

# llama.cpp's server of the wheel xllamacpp 2026.10.11549, 2026-11-22
LLAMA_CPP: JSONObject = {
    "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": ""}}],
    "usage": {"prompt_tokens": 122, "completion_tokens": 3, "total_tokens": 125},
    "__verbose": {
        "content": "<|tool_call_begin|>f",
        "tokens": [10, 324, 3],
        "prompt": "<|im_user|>hi",
        "stop_type": "eos",
        "stopping_word": "",
        "generation_settings": {
            "grammar": "root ::= x",
            "grammar_lazy": True,
            "grammar_triggers": [{"type": 0, "value": "<|tool_call_begin|>", "token": 10}],
            "temperature": 0,
        },
    },
}
# LiteLLM's proxy 1.106.2 in front of vLLM 0.32 (`hosted_vllm/`), 2026-11-22
PROXIED: JSONObject = {
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {"role": "assistant", "content": None},
            "provider_specific_fields": {"stop_reason": None, "token_ids": [8, 10, 3]},
        }
    ],
    "usage": {"prompt_tokens": 4, "completion_tokens": 3, "total_tokens": 7},
    "prompt_token_ids": [1, 2, 4, 5],
    "prompt_text": "hi",
}


def read(answer: JSONObject) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None, str | None]:
    chat = read_chat(answer, json.dumps(answer), 0.0)
    return chat.token_ids, chat.prompt_token_ids, chat.prompt_text


def test_llama_cpp_reports_its_run_in_a_field_of_its_own() -> None:
    body = json.dumps(LLAMA_CPP)

    assert read(LLAMA_CPP) == ((10, 324, 3), None, "<|im_user|>hi")
    assert run_facts.read_facts(body).sampler_word == "stop"
    grammar = run_facts.read_facts(body).grammar
    assert grammar is not None
    assert json.loads(grammar) == {
        "grammar": "root ::= x",
        "grammar_lazy": True,
        "grammar_triggers": [{"type": 0, "value": "<|tool_call_begin|>", "token": 10}],
    }


def test_a_stop_string_of_llama_cpp_is_its_stop_reason() -> None:
    verbose: JSONObject = {"tokens": [1], "stop_type": "word", "stopping_word": "###"}
    answer: JSONObject = {**LLAMA_CPP, "__verbose": verbose}

    assert read_chat(answer, "", 0.0).stop_reason == "###"
    assert run_facts.read_facts(json.dumps(answer)).sampler_word == "stop"
    assert run_facts.read_facts(json.dumps(answer)).reports_grammar is False


def test_a_run_without_a_grammar_says_so() -> None:
    body = json.dumps({"__verbose": {"generation_settings": {"grammar": ""}}})

    facts = run_facts.read_facts(body)
    assert (facts.reports_grammar, facts.grammar) == (True, None)


def test_a_proxy_hands_the_ids_on_in_a_field_of_its_own() -> None:
    assert read(PROXIED) == ((8, 10, 3), (1, 2, 4, 5), "hi")


def test_answers_of_other_shapes_tell_nothing() -> None:
    odd: JSONObject = {"choices": [{"index": 0, "message": {}, "provider_specific_fields": [1]}], "__verbose": "x"}

    assert read(odd) == (None, None, None)
    assert run_facts.read_facts("no JSON") == run_facts.RunFacts()


def test_zeros_throughout_are_not_accounting() -> None:
    def usage(**counts: JSON) -> Usage | None:
        return read_chat({"choices": [{"message": {}}], "usage": counts}, "", 0.0).usage

    assert usage(prompt_tokens=0, completion_tokens=0, total_tokens=0) is None
    assert usage(prompt_tokens=5, completion_tokens=0, total_tokens=5) == Usage(5, 0, 5)
