"""Which tokens touch a stretch of characters, also where one of the two has no width."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import CallStatus, ParsedMessage, Place, Span, Token, TokenKind, ToolCallAttempt
from prompt_debugger.core.diagnose.trace_queries import token_span
from prompt_debugger.core.pipeline.census import with_token_spans

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
    assert with_token_spans(parsed, TOKENS).calls[0].token_span == expected


def test_a_stretch_without_width_between_tokens_touches_none() -> None:
    assert token_span(TOKENS, Span(2, 2)) is None
    assert token_span(TOKENS, Span(7, 7)) is None
    assert token_span(None, Span(0, 1)) is None
