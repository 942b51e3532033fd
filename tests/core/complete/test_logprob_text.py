"""Raw output from log-probabilities: all tokens or none, and what an empty string means."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import JSON, Basis, ChatResult, Completeness, TokenLogprob, Usage
from prompt_debugger.core.complete.answers import read_chat
from prompt_debugger.core.complete.logprob_text import completion_of_logprobs, ids_of_logprobs


def token(text: str, token_id: int | None = None, piece: bytes | None = None) -> TokenLogprob:
    return TokenLogprob(text, token_id, -0.5, (), piece)


CHAT = ChatResult(
    message={"content": None},
    finish_reason="tool_calls",
    usage=Usage(9, 4, 13),
    logprobs=(token("<call>"), token("f"), token("{}"), token("</call>")),
)


def test_the_text_of_every_token_is_the_raw_output_of_the_run() -> None:
    found = completion_of_logprobs(CHAT, "stop", None)

    assert found is not None
    assert (found.text, found.evidence, found.token_ids) == ("<call>f{}</call>", Basis.SAME_RUN, None)
    assert found.completeness is Completeness.WHOLE


def test_a_character_in_several_tokens_is_put_together_from_bytes() -> None:
    pieces = (token("\ufffd", piece=b"\xf0\x9f"), token("\ufffd", piece=b"\x8c\x9e"))
    found = completion_of_logprobs(replace(CHAT, logprobs=pieces, usage=Usage(9, 2)), "stop", None)

    assert found is not None
    assert found.text == "🌞"


def test_the_end_token_may_be_counted_and_not_listed() -> None:
    assert completion_of_logprobs(replace(CHAT, usage=Usage(9, 5)), "stop", None) is not None


@pytest.mark.parametrize(
    "chat",
    [
        replace(CHAT, usage=Usage(9, 12)),  # the visible content alone
        replace(CHAT, usage=Usage(9, 5), finish_reason="length"),  # no end token was written
        replace(CHAT, usage=Usage(9, 3)),
        replace(CHAT, usage=None),
        replace(CHAT, usage=Usage(9, None)),
        replace(CHAT, logprobs=()),
        replace(CHAT, logprobs=None),
    ],
)
def test_tokens_that_are_not_all_are_not_raw_output(chat: ChatResult) -> None:
    assert completion_of_logprobs(chat, "stop", None) is None
    assert ids_of_logprobs(chat) is None


def test_a_token_without_text_in_the_middle_is_a_stripped_one() -> None:
    tokens = (token("", 8, b""), token("f", 9), token("{}", 10), token("", 3, b""))
    found = completion_of_logprobs(replace(CHAT, logprobs=tokens), "stop", None)

    assert found is not None
    assert (found.text, found.completeness) == ("f{}", Completeness.STRIPPED)
    assert "2 of them without text" in found.completeness_reason


def test_an_end_token_without_text_is_everywhere() -> None:
    tokens = (token("I"), token(" am"), token("."), token("", 3, b""))
    found = completion_of_logprobs(replace(CHAT, logprobs=tokens), "stop", None)

    assert found is not None
    assert found.completeness is Completeness.WHOLE


def test_ids_in_the_log_probabilities_are_the_ids_of_the_run() -> None:
    """llama.cpp's server lists `id` beside an empty string for control tokens."""
    content: list[JSON] = [
        {"id": 8, "token": "", "bytes": [], "logprob": -0.1, "top_logprobs": []},
        {"id": 324, "token": "functions.", "bytes": [102], "logprob": -0.1, "top_logprobs": []},
        {"id": 3, "token": "", "bytes": [], "logprob": -0.1, "top_logprobs": []},
    ]
    choice: JSON = {"index": 0, "message": {}, "finish_reason": "stop", "logprobs": {"content": content}}
    chat = read_chat({"choices": [choice], "usage": {"completion_tokens": 3}}, "", 0.0)

    assert ids_of_logprobs(chat) == (8, 324, 3)


def test_ids_of_vllm_spelled_as_tokens_have_no_bytes() -> None:
    entry: JSON = {"token": "token_id:7", "bytes": list(b"token_id:7"), "logprob": -0.1}
    choice: JSON = {"index": 0, "message": {}, "logprobs": {"content": [entry]}}

    assert read_chat({"choices": [choice]}, "", 0.0).logprobs == (TokenLogprob("", 7, -0.1),)


def test_bytes_next_to_an_id_in_place_of_text_are_those_of_the_token() -> None:
    entry: JSON = {"token": "token_id:7", "bytes": list(b"to"), "logprob": -0.1}
    choice: JSON = {"index": 0, "message": {}, "logprobs": {"content": [entry]}}

    assert read_chat({"choices": [choice]}, "", 0.0).logprobs == (TokenLogprob("", 7, -0.1, piece=b"to"),)


@pytest.mark.parametrize("given", [[300], "x", [1, "2"], None])
def test_bytes_of_another_shape_are_none(given: JSON) -> None:
    entry: JSON = {"token": "a", "bytes": given, "logprob": -0.1}
    choice: JSON = {"index": 0, "message": {}, "logprobs": {"content": [entry]}}

    assert read_chat({"choices": [choice]}, "", 0.0).logprobs == (TokenLogprob("a", None, -0.1),)
