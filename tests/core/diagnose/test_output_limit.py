"""Which limit cut an output, and the advice that fits it: never to raise a limit that did not end it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import (
    ChatResult,
    JSONObject,
    Prompt,
    Request,
    Server,
    Span,
    Token,
    TokenKind,
    Trace,
    Usage,
)
from prompt_debugger.core.diagnose.output_limit import more_output, output_limit

CONTEXT = "the context is full."
ASKED: JSONObject = {"model": "m", "messages": [{"role": "user", "content": "Hi."}]}


def cut(
    body: JSONObject,
    *,
    prompt: int | None = None,
    written: int | None = None,
    context: int | None = None,
    finish_reason: str = "length",
) -> Trace:
    usage = None if prompt is None and written is None else Usage(prompt, written)
    server = None if context is None else Server("http://127.0.0.1:1/v1", "vllm", max_model_len=context)
    chat = ChatResult({"role": "assistant", "content": "Hi"}, finish_reason, usage=usage)
    return Trace(Request(body, ""), server=server, chat=chat)


@pytest.mark.parametrize("word", ["model_length", "model_context_window_exceeded"])
def test_the_context_is_the_limit_where_the_server_says_so(word: str) -> None:
    limit = output_limit(cut({**ASKED, "max_tokens": 5}, written=5, finish_reason=word))

    assert limit.name == "the model's context, as the server reports"
    assert limit.step.text.endswith(CONTEXT)
    assert not limit.is_requested


@pytest.mark.parametrize(("written", "is_full"), [(60, True), (58, True), (57, False)])
def test_the_context_is_the_limit_where_prompt_and_output_fill_it(written: int, *, is_full: bool) -> None:
    limit = output_limit(cut(ASKED, prompt=40, written=written, context=100))

    assert ("the context of 100 tokens" in limit.name) is is_full
    assert limit.step.text.endswith(CONTEXT) is is_full
    assert ("which 40 of prompt and 60 of output fill" in limit.name) is (written == 60)


@pytest.mark.parametrize(("written", "is_it"), [(None, True), (20, True), (18, True), (17, False)])
def test_max_tokens_is_the_limit_where_that_many_were_written(written: int | None, *, is_it: bool) -> None:
    limit = output_limit(cut({**ASKED, "max_tokens": 20}, written=written))

    assert limit.is_requested is is_it
    assert limit.name == ("max_tokens" if is_it else f"a limit other than max_tokens, after {written} of 20 tokens")
    assert limit.step.text.startswith("Raise `max_tokens` (20 now)" if is_it else "Check the server")


def test_the_field_that_the_request_uses_is_named() -> None:
    both: JSONObject = {**ASKED, "max_tokens": 9, "max_completion_tokens": 20}

    assert output_limit(cut(both, written=20)).step.text == "Raise `max_completion_tokens` (20 now)."
    assert output_limit(cut({**both, "max_completion_tokens": None}, written=9)).step.text == (
        "Raise `max_tokens` (9 now)."
    )


def test_max_tokens_that_were_written_are_the_limit_though_the_context_is_full_as_well() -> None:
    assert output_limit(cut({**ASKED, "max_tokens": 60}, prompt=40, written=60, context=100)).name == "max_tokens"


def test_without_a_limit_in_the_request_one_is_to_be_sent() -> None:
    assert output_limit(cut(ASKED)).name == "a limit that the request does not set"
    assert more_output(cut(ASKED)).text.startswith("Send your own `max_tokens`")


def test_messages_that_were_copied_alone_may_have_come_with_a_limit():
    alone: JSONObject = {"messages": ASKED["messages"]}

    assert output_limit(cut(alone)).name == "a limit on its tokens"
    assert "if it sets none" in more_output(cut(alone)).text
    assert output_limit(cut({})).name == "a limit on its tokens"
    assert more_output(cut({})).text.startswith("Raise `max_tokens` of the request; if it sets none")


def test_the_prompts_ids_count_before_the_servers_accounting() -> None:
    trace = cut(ASKED, prompt=1, written=60, context=100)
    tokens = (Token(1, "", Span(0, 0), TokenKind.TEXT, b""),) * 40

    assert "context" not in output_limit(trace).name
    known = replace(trace, prompt=Prompt("server", "", (), tokens))
    assert "the context of 100 tokens" in output_limit(known).name


@pytest.mark.parametrize(
    ("native", "name"),
    [
        ({"input": "Hi.", "max_output_tokens": 20}, "max_output_tokens"),
        ({"messages": [], "max_tokens": 20}, "max_tokens"),
        ({"contents": [], "generationConfig": {"maxOutputTokens": 20}}, "maxOutputTokens"),
        ({"messages": [], "inferenceConfig": {"maxTokens": 20}}, "maxTokens"),
    ],
)
def test_the_field_is_named_as_the_api_of_the_request_has_it(native: JSONObject, name: str) -> None:
    trace = cut({**ASKED, "max_completion_tokens": 20}, written=20)
    trace = replace(trace, request=replace(trace.request, native=native))

    assert output_limit(trace).step.text == f"Raise `{name}` (20 now)."


def test_the_field_of_the_request_is_named_though_another_api_was_asked() -> None:
    """What went out is converted, and the person can change only what is written in the request."""
    trace = replace(cut({**ASKED, "max_tokens": 20}, written=20), sent={**ASKED, "max_completion_tokens": 20})

    assert output_limit(trace).step.text == "Raise `max_tokens` (20 now)."
