"""Sampling of a chat request, carried over to a raw completion of its prompt."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete.backends.vllm import RenderAnswer
from prompt_debugger.core.complete.sampling import plain_body, raw_body, sampling_of_chat

TOOL: JSONObject = {"type": "function", "function": {"name": "f"}}
STRICT: JSONObject = {"type": "function", "function": {"name": "f", "strict": True}}


def test_everything_that_steers_sampling_is_carried_and_nothing_else() -> None:
    steering: JSONObject = {
        "model": "m", "temperature": 0.5, "top_p": 0.9, "top_k": 5, "min_p": 0.1, "seed": 3, "presence_penalty": 0.1,
        "frequency_penalty": 0.2, "repetition_penalty": 1.1, "stop": ["x"], "stop_token_ids": [3], "min_tokens": 2,
        "logit_bias": {"5": 1}, "ignore_eos": True, "bad_words": ["y"], "allowed_token_ids": [1, 2],
        "include_stop_str_in_output": True, "max_tokens": 9,
    }  # fmt: skip
    chat: JSONObject = {
        "messages": [], "tools": [TOOL], "tool_choice": "auto", "chat_template_kwargs": {}, "stream": True, "n": 2,
        "skip_special_tokens": True, "truncate_prompt_tokens": 4, "echo": True, "reasoning_effort": "low",
    }  # fmt: skip

    assert sampling_of_chat({**steering, **chat}, prompt_length=4, max_model_len=99) == steering


@pytest.mark.parametrize(
    ("body", "prompt_length", "max_model_len", "rendered", "expected"),
    [
        ({"max_tokens": 5}, 4, 99, None, 5),
        ({"max_tokens": 5, "max_completion_tokens": 6}, 4, 99, None, 6),
        ({}, 4, 99, None, 95),
        ({"max_tokens": None}, 4, 99, None, 95),
        ({}, None, 99, None, 1024),
        ({}, 4, None, None, 1024),
        ({}, 4, 99, RenderAnswer((1,), {"max_tokens": 33}), 33),
    ],
)
def test_raw_generates_as_many_tokens_as_chat_would(
    body: JSONObject, prompt_length: int | None, max_model_len: int | None, rendered: RenderAnswer | None, expected: int
) -> None:
    sampling = sampling_of_chat(body, prompt_length=prompt_length, max_model_len=max_model_len, rendered=rendered)

    assert sampling["max_tokens"] == expected


def test_the_grammar_of_the_servers_render_replaces_that_of_the_request() -> None:
    body: JSONObject = {"response_format": {"type": "json_object"}}
    rendered = RenderAnswer((1,), {}, constraint={"json_object": True})

    assert sampling_of_chat(body, prompt_length=1, max_model_len=9)["response_format"] == {"type": "json_object"}
    with_render = sampling_of_chat(body, prompt_length=1, max_model_len=9, rendered=rendered)
    assert with_render["structured_outputs"] == {"json_object": True}
    assert "response_format" not in with_render


@pytest.mark.parametrize(("body", "expected"), [({"logprobs": True}, 0), ({"logprobs": True, "top_logprobs": 3}, 3)])
def test_logprobs_change_their_shape(body: JSONObject, expected: int) -> None:
    assert sampling_of_chat(body, prompt_length=1, max_model_len=9)["logprobs"] == expected


def test_special_tokens_are_kept_and_none_is_added_to_text() -> None:
    on_ids, on_text = raw_body((1, 2), {"max_tokens": 3}), raw_body("<|im_user|>", {})

    assert on_ids == {
        "prompt": [1, 2], "max_tokens": 3, "skip_special_tokens": False, "spaces_between_special_tokens": False,
        "return_token_ids": True,
    }  # fmt: skip
    assert (on_text["prompt"], on_text["add_special_tokens"]) == ("<|im_user|>", False)
    assert plain_body(on_ids) == {"prompt": [1, 2], "max_tokens": 3}
