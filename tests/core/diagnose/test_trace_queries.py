"""What a trace shows: which tokens touch a stretch of characters, and whether the prompt leaves reasoning open."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import (
    JSON,
    CallStatus,
    ParsedMessage,
    Place,
    Prompt,
    Request,
    Span,
    Token,
    TokenKind,
    ToolCallAttempt,
    Trace,
)
from prompt_debugger.core.diagnose.trace_queries import open_think_tail, token_span
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
