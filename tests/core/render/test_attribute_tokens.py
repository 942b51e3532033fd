"""Which tokens request data forged: by what kind they are, how they look, and who wrote their characters."""

from __future__ import annotations

import pytest

from prompt_debugger.core.render.attribute_tokens import attribute_tokens, is_control
from prompt_debugger.core.types import PromptSpan, Span, SpanKind, Token, TokenKind


def token(text: str, kind: TokenKind, start: int = 0) -> Token:
    return Token(7, text, Span(start, start + len(text)), kind, text.encode())


def span(start: int, stop: int, kind: SpanKind, field: str | None = None, line: int | None = None) -> PromptSpan:
    return PromptSpan(Span(start, stop), kind, field, None, line, None)


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("</s>", TokenKind.SPECIAL, True),
        ("pad", TokenKind.SPECIAL, True),
        ("<think>", TokenKind.ADDED, True),
        (" <tool_call>\n", TokenKind.ADDED, True),
        ("[TOOL_CALLS]", TokenKind.ADDED, True),
        ("<|a\nb|>", TokenKind.ADDED, True),
        ("Brüssel", TokenKind.ADDED, False),
        ("<half", TokenKind.ADDED, False),
        ("half>", TokenKind.ADDED, False),
        ("    ", TokenKind.ADDED, False),
        ("<think>", TokenKind.TEXT, False),
        ("<0x0A>", TokenKind.BYTE, False),
    ],
)
def test_an_added_token_is_a_control_token_if_it_looks_like_a_marker(
    text: str, kind: TokenKind, expected: bool
) -> None:
    assert is_control(token(text, kind)) is expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (SpanKind.REQUEST, True),
        (SpanKind.ESCAPED, True),
        (SpanKind.SCALAR, True),
        (SpanKind.STRUCTURE, True),
        (SpanKind.TEMPLATE, False),
        (SpanKind.COMPUTED, False),
        (SpanKind.UNKNOWN, False),
    ],
)
def test_only_request_data_forges(kind: SpanKind, expected: bool) -> None:
    (found,) = attribute_tokens([token("<think>", TokenKind.ADDED)], [span(0, 7, kind, line=3)])

    assert (found.injected, found.template_line) == (expected, 3)


def test_a_marker_is_forged_if_request_data_wrote_any_of_it() -> None:
    spans = [span(0, 3, SpanKind.TEMPLATE, line=1), span(3, 7, SpanKind.REQUEST, "messages[0].content")]

    (found,) = attribute_tokens([token("<think>", TokenKind.ADDED)], spans)

    assert (found.injected, found.field, found.template_line) == (True, "messages[0].content", 1)


def test_a_marker_between_texts_of_the_request_is_the_templates() -> None:
    spans = [span(0, 2, SpanKind.REQUEST, "a"), span(2, 9, SpanKind.TEMPLATE), span(9, 10, SpanKind.REQUEST, "b")]
    tokens = [token("hi", TokenKind.TEXT), token("<think>", TokenKind.ADDED, 2), token("!", TokenKind.TEXT, 9)]

    found = attribute_tokens(tokens, spans)

    assert [(one.injected, one.field) for one in found] == [(False, "a"), (False, None), (False, "b")]


def test_a_token_without_width_belongs_to_what_comes_next() -> None:
    spans = [span(0, 2, SpanKind.TEMPLATE, line=1), span(2, 4, SpanKind.REQUEST, "b", 2)]
    tokens = [token("ab", TokenKind.TEXT), token("", TokenKind.BYTE, 2), token("cd", TokenKind.TEXT, 2)]

    found = attribute_tokens(tokens, spans)

    assert [(one.field, one.template_line) for one in found] == [(None, 1), ("b", 2), ("b", 2)]


def test_without_spans_nothing_is_said_of_tokens() -> None:
    tokens = (token("<think>", TokenKind.SPECIAL),)

    assert attribute_tokens(tokens, []) == tokens
