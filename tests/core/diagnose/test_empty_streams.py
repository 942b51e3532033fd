"""A stream that ended before it contained anything: its cause where both lengths are known, else how to learn it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import (
    ChatResult,
    Finding,
    Prompt,
    Request,
    Server,
    Span,
    Stage,
    Token,
    TokenKind,
    Trace,
)
from prompt_debugger.core.complete.backends.sse import SseEvent, SseParser
from prompt_debugger.core.complete.chat_stream import ChatStreamReader
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.evidence.answers.read import read_stream

NOTHING = "the stream ended without any event; it contained ''"


def streamed(context: int | None, *, prompt_tokens: int | None, kind: str = "openai-compatible") -> Trace:
    chat = ChatResult({}, None, body="", elapsed_s=0.1, error=NOTHING)
    server = Server("http://127.0.0.1:1/v1", kind, max_model_len=context)
    prompt = None
    if prompt_tokens is not None:
        token = Token(1, "a", Span(0, 1), TokenKind.TEXT, b"a")
        prompt = Prompt("server", "a" * prompt_tokens, (), (token,) * prompt_tokens)
    return Trace(Request({"stream": True}, ""), server=server, prompt=prompt, chat=chat)


def found_in(trace: Trace) -> Finding:
    return next(one for one in diagnose_trace(trace) if one.code == "PD310")


@pytest.mark.parametrize("count", [200, 201, 5000])
def test_a_prompt_that_does_not_fit_the_context_is_the_cause(count: int) -> None:
    finding = found_in(streamed(200, prompt_tokens=count, kind="llama-cpp-python"))

    assert finding.title.endswith(f": the prompt has {count:,} tokens, and the context holds 200.")
    assert (finding.stage, finding.fix.endswith("(`--n_ctx`).")) == (Stage.REQUEST, True)


@pytest.mark.parametrize(("length", "count"), [(200, 199), (200, None), (None, 5000), (0, 5)])
def test_otherwise_the_cause_is_not_guessed(length: int | None, count: int | None) -> None:
    finding = found_in(streamed(length, prompt_tokens=count))

    assert finding.title == "The streamed answer ended before it contained anything."
    assert finding.stage is Stage.COMPLETE
    assert finding.fix.startswith("Send the same request without `stream`")


def received(body: str) -> Trace:
    parser, reader = SseParser(), ChatStreamReader()
    for event in (*parser.feed(body.encode()), *parser.finish()):
        reader.feed(event, 0.0)
    trace = streamed(None, prompt_tokens=None)
    return replace(trace, chat=replace(reader.finish(body, 0.1), elapsed_s=0.1))


@pytest.mark.parametrize(
    "body",
    [
        ": ping\n\n: ping\n\n", ":\n\n", "retry: 1000\n\n", "event: ping\n\n: \n\n", "id: 1\nevent: start\n\n",
        "\ufeffdata: [DONE]\n\n", "\ufeff: ping\n\n", ": ping\n\ndata: [DONE]\n\n", "\n\n",
    ],
)  # fmt: skip
def test_what_only_keeps_a_stream_open_is_no_other_page_and_no_error(body: str) -> None:
    finding = found_in(received(body))

    assert finding.title == "The streamed answer ended before it contained anything."
    assert finding.fix.startswith("Send the same request without `stream`")


@pytest.mark.parametrize("body", ["It works!", "event loop is closed", "retrying later", ": ping\nIt works!"])
def test_words_are_no_stream(body: str) -> None:
    assert found_in(received(body)).title == "What came in place of the streamed answer is neither an event nor JSON."


def test_a_stream_that_began_is_not_called_empty() -> None:
    trace = streamed(200, prompt_tokens=5000)
    assert trace.chat is not None
    begun = replace(trace, chat=replace(trace.chat, message={"content": "The"}))

    assert found_in(begun).title.startswith("The streamed answer broke off")


def test_a_stream_of_its_end_alone_contains_nothing() -> None:
    reader = ChatStreamReader()
    reader.feed(SseEvent("[DONE]"), 0.0)

    assert reader.finish("data: [DONE]\n\n", 0.1).error == "the stream contains nothing but `[DONE]`"


def test_events_before_the_end_keep_their_own_words() -> None:
    reader = ChatStreamReader()
    reader.feed(SseEvent('{"choices": []}'), 0.0)
    reader.feed(SseEvent("[DONE]"), 0.0)

    assert reader.finish("", 0.1).error == "no event of the stream contains a choice"


def test_a_pasted_stream_of_its_end_alone_is_read_as_one() -> None:
    assert read_stream("data: [DONE]\n\n").stream is not None


@pytest.mark.parametrize("text", ["data: [DONE]\n\ndata: 17\n\n", ": ping\n\n", "data: done\n\n"])
def test_anything_else_without_an_answer_is_not(text: str) -> None:
    with pytest.raises(RequestError):
        read_stream(text)
