"""What a trace shows: which tokens touch a stretch of characters, and whether the prompt leaves reasoning open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import (
    JSON,
    Basis,
    CallStatus,
    ChatResult,
    Completion,
    ParsedMessage,
    Place,
    Prompt,
    Request,
    Span,
    Token,
    TokenKind,
    ToolCallAttempt,
    Trace,
    Usage,
    Vocabulary,
)
from prompt_debugger.core.diagnose.trace_queries import (
    completion_tokens,
    counted_beyond_render,
    ends_with_stop,
    open_think_tail,
    opens_with_thought,
    quote,
    token_span,
    why_cut,
)
from prompt_debugger.core.formats import TABLES
from prompt_debugger.core.pipeline.census import add_token_spans

ENDS = ((0, 2), (2, 2), (2, 5), (5, 5), (5, 7))  # a token without width shows nothing by itself
TOKENS = tuple(Token(i, "", Span(*ends), TokenKind.TEXT, b"") for i, ends in enumerate(ENDS))


@pytest.mark.parametrize(
    ("span", "expected"),
    [((2, 5), (2, 3)), ((1, 5), (0, 3)), ((2, 6), (2, 5)), ((0, 7), (0, 5)), ((5, 7), (4, 5)), ((3, 4), (2, 3))],
)
def test_a_token_that_only_meets_a_stretch_does_not_touch_it(span: tuple[int, int], expected: tuple[int, int]) -> None:
    call = ToolCallAttempt("f", "{}", {}, None, CallStatus.COMPLETE, Place.BODY, Span(*span))
    parsed = ParsedMessage("kimi_k2", None, None, (call,), ())

    assert token_span(TOKENS, Span(*span)) == expected
    assert add_token_spans(parsed, TOKENS).calls[0].token_span == expected


def test_a_stretch_without_width_between_tokens_touches_none() -> None:
    assert token_span(TOKENS, Span(2, 2)) is None
    assert token_span(TOKENS, Span(7, 7)) is None
    assert token_span(None, Span(0, 1)) is None


def trace_of(prompt: str, *contents: JSON, continues: JSON = None) -> Trace:
    """Return a trace of messages with such contents and the prompt they were rendered to."""
    messages: list[JSON] = [{"role": "assistant", "content": content} for content in contents]
    body: dict[str, JSON] = {"messages": messages, "continue_final_message": continues}
    return Trace(Request(body, ""), local_prompt=Prompt("local", prompt, (), None))


@pytest.mark.parametrize("pair", TABLES.prompt_pairs, ids=lambda pair: repr(pair.opener))
def test_a_prompt_that_ends_with_what_opens_reasoning_leaves_it_open(pair):
    for end in (pair.opener, f"{pair.opener.rstrip()} \n\n"):
        for continues in (None, False, "yes", 1):
            found = open_think_tail(trace_of(f"<s>hi{end}", "hi", continues=continues))
            assert found is not None
            assert (found.opener.rstrip(), found.closer) == (pair.opener.rstrip(), pair.closer)
    assert open_think_tail(trace_of(f"<s>hi{pair.opener}well")) is None
    assert open_think_tail(trace_of(f"<s>hi{pair.opener}well", "well", continues=1)) is None


def test_of_a_prompt_that_is_not_there_nothing_is_open():
    assert open_think_tail(Trace(Request({}, ""))) is None
    assert open_think_tail(Trace(Request({}, ""), prompt_tail="<think>")) is not None


THINK = next(pair for pair in TABLES.prompt_pairs if pair.opener == "<think>")


@pytest.mark.parametrize(
    ("written", "is_open"),
    [
        ("<think>Well", True),
        ("<think>", True),
        ("Well, <think>so", True),
        ("<think>Well</think>", False),
        ("<think>Well</think>So", False),
        ("<think>Well</think>So<think>and", True),
        ("Well</think>", False),
        ("Well", False),
    ],
)
def test_a_message_that_is_continued_leaves_open_what_it_opens_itself(written, is_open):
    earlier = "<think>earlier"
    trace = trace_of(f"Weigh this up at length.{earlier}\n{written}\n ", earlier, written, continues=True)

    assert open_think_tail(trace) == (THINK if is_open else None)


@pytest.mark.parametrize("contents", [(), ("",), (None,), ([],)], ids=repr)
def test_of_a_continued_message_without_words_the_whole_prompt_counts(contents):
    assert open_think_tail(trace_of("hi<think>well", *contents, continues=True)) == THINK
    assert open_think_tail(trace_of("hi<think>well</think>so", *contents, continues=True)) is None


SPECIAL = Vocabulary(10, {7: "<end>", 8: ""}, eos_ids=(7, 8, 9))
CUT_AT_FIVE: dict[str, JSON] = {"max_tokens": 5}


def answered(finish_reason: str | None, completion_tokens: int | None = None, body: JSON = None) -> Trace:
    chat = ChatResult({"content": "a"}, finish_reason, usage=Usage(12, completion_tokens))
    return Trace(Request(CUT_AT_FIVE if body is None else {}, ""), chat=chat)


@pytest.mark.parametrize(
    ("finish_reason", "count", "reason"),
    [
        ("length", 1, "finish_reason is `length`"),
        ("stop", 4, None),
        ("stop", 5, "5 tokens were written, max_tokens is 5"),
        ("stop", 7, "7 tokens were written, max_tokens is 5"),
        ("stop", 8, None),  # thought is counted and not limited
        (None, 8, "8 tokens were written, max_tokens is 5"),
        ("stop", None, None),
    ],
)
def test_a_count_shows_a_cut_at_the_limit_and_hidden_thought_far_above(
    finish_reason: str | None, count: int | None, reason: str | None
) -> None:
    assert why_cut(answered(finish_reason, count)) == reason
    assert why_cut(answered("stop", count, body={})) is None


def test_a_count_of_none_beside_an_answer_is_no_count() -> None:
    """As of gateways that stream without the server's accounting."""
    empty = answered("length", 0)
    assert empty.chat is not None
    said = replace(empty, chat=replace(empty.chat, message={"role": "assistant", "content": "The wea"}))
    silent = replace(empty, chat=replace(empty.chat, message={"role": "assistant", "content": ""}))

    assert completion_tokens(said) is None
    assert completion_tokens(silent) == 0


def test_ids_are_counted_before_what_the_server_says() -> None:
    raw = Completion("abc", (1,) * 8, None, usage=Usage(1, 3))
    trace = replace(answered("stop", 4), raw=raw)

    assert completion_tokens(trace) == 8
    assert str(why_cut(trace)).startswith("8 tokens were written")
    assert completion_tokens(replace(trace, raw=replace(raw, token_ids=None))) == 4
    assert completion_tokens(replace(trace, raw=replace(raw, token_ids=None), chat=None)) == 3
    assert completion_tokens(Trace(Request({}, ""))) is None


@pytest.mark.parametrize(
    ("has_chat", "evidence", "whose"),
    [
        (False, Basis.TEXT_ONLY, "the raw completion"),
        (True, Basis.SAME_RUN, "a run that wrote the same tokens"),
        (True, Basis.TEXT_ONLY, "a second run of the same prompt"),
    ],
)
def test_a_raw_output_that_the_limit_ended_says_which_run_it_is_of(has_chat: bool, evidence: Basis, whose: str) -> None:
    chat = ChatResult({}, "stop") if has_chat else None
    trace = Trace(Request({}, ""), raw=Completion("a", None, "length"), chat=chat, evidence=evidence)

    assert why_cut(trace) == f"{whose} ended with finish_reason `length`"


@pytest.mark.parametrize(("of_stream", "is_cut"), [((1, 2), True), ((1, 3), False), (None, False)])
def test_a_stream_of_the_same_tokens_shows_the_cut(of_stream: tuple[int, ...] | None, *, is_cut: bool) -> None:
    chat = ChatResult({}, "stop", token_ids=(1, 2) if of_stream else None)
    trace = Trace(Request({}, ""), chat=chat, chat_stream=ChatResult({}, "length", token_ids=of_stream))

    assert why_cut(trace) == ("the stream of the same tokens has finish_reason `length`" if is_cut else None)


@pytest.mark.parametrize(
    ("text", "ids", "stop_reason", "of_chat", "ends"),
    [
        ("a", (1, 2), None, None, False),
        ("a", (1, 9), None, None, True),
        ("a", (9, 1), None, None, False),
        ("a<end>", None, None, None, True),
        ("<end>a", None, None, None, False),
        ("a", None, "b", None, True),
        ("a", None, None, "b", True),
    ],
)
def test_an_output_ends_with_a_stop_by_its_id_its_text_or_the_servers_word(
    text: str, ids: tuple[int, ...] | None, stop_reason: str | None, of_chat: str | None, *, ends: bool
) -> None:
    raw = Completion(text, ids, None, stop_reason)
    trace = Trace(Request({}, ""), raw=raw, chat=ChatResult({}, None, of_chat), vocabulary=SPECIAL)

    assert ends_with_stop(trace) is ends
    assert ends_with_stop(replace(trace, vocabulary=None)) is (stop_reason is not None or of_chat is not None)
    assert ends_with_stop(replace(trace, chat=None)) is (ends and of_chat is None)
    assert not ends_with_stop(replace(trace, raw=None))


@pytest.mark.parametrize(("counted", "beyond"), [(5, 0), (6, 0), (7, 2), (4, 0), (3, -2), (0, 0), (None, 0)])
def test_a_bos_more_or_less_than_our_render_counts_as_none(counted: int | None, beyond: int) -> None:
    chat = ChatResult({}, None, usage=Usage(counted))
    trace = Trace(Request({}, ""), chat=chat, local_prompt=Prompt("local", "", (), TOKENS))

    assert counted_beyond_render(trace) == beyond
    assert counted_beyond_render(replace(trace, prompt=trace.local_prompt)) == 0


def test_a_text_opens_with_a_thought_only_at_its_beginning() -> None:
    assert opens_with_thought(" \n<think>a") == THINK
    assert str(opens_with_thought("<thought>a")).count("</thought>") == 1
    assert opens_with_thought("a<think>") is None


def test_a_quotation_is_cut_to_its_limit() -> None:
    assert (quote("abcde", 5), quote("abcdef", 5), len(quote("a" * 500))) == ("abcde", "abcd…", 120)
