"""Which tokens request data forged: by what kind they are, how they look, and who wrote their characters."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.types import Entry, Origin, Prompt, PromptSpan, Span, SpanKind, TokenKind, TokenTable
from prompt_debugger.core.render.attribute_tokens import attribute_tokens, is_control, origins_of

FROM_REQUEST = {SpanKind.REQUEST, SpanKind.ESCAPED, SpanKind.SCALAR, SpanKind.STRUCTURE}


def table(*tokens: tuple[str, TokenKind]) -> TokenTable:
    edges = [*accumulate((len(text) for text, _ in tokens), initial=0)]
    entries = {number: Entry(text.encode(), kind) for number, (text, kind) in enumerate(tokens)}
    return TokenTable("".join(text for text, _ in tokens), tuple(entries), tuple(edges), entries)


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
    assert is_control(kind, text) is expected


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
    (found,) = attribute_tokens(table(("<think>", TokenKind.ADDED)), [span(0, 7, kind, line=3)])

    assert (found.injected, found.template_line) == (expected, 3)


def test_a_marker_is_forged_if_request_data_wrote_any_of_it() -> None:
    spans = [span(0, 3, SpanKind.TEMPLATE, line=1), span(3, 7, SpanKind.REQUEST, "messages[0].content")]

    (found,) = attribute_tokens(table(("<think>", TokenKind.ADDED)), spans)

    assert (found.injected, found.field, found.template_line) == (True, "messages[0].content", 1)


def test_a_marker_between_texts_of_the_request_is_the_templates() -> None:
    spans = [span(0, 2, SpanKind.REQUEST, "a"), span(2, 9, SpanKind.TEMPLATE), span(9, 10, SpanKind.REQUEST, "b")]
    tokens = table(("hi", TokenKind.TEXT), ("<think>", TokenKind.ADDED), ("!", TokenKind.TEXT))

    found = attribute_tokens(tokens, spans)

    assert [(one.injected, one.field) for one in found] == [(False, "a"), (False, None), (False, "b")]


def test_a_token_without_width_belongs_to_what_comes_next() -> None:
    spans = [span(0, 2, SpanKind.TEMPLATE, line=1), span(2, 4, SpanKind.REQUEST, "b", 2)]
    tokens = table(("ab", TokenKind.TEXT), ("", TokenKind.BYTE), ("cd", TokenKind.TEXT))

    found = attribute_tokens(tokens, spans)

    assert [(one.field, one.template_line) for one in found] == [(None, 1), ("b", 2), ("b", 2)]


def test_without_spans_nothing_is_reported_of_tokens() -> None:
    tokens = table(("<think>", TokenKind.SPECIAL))

    assert attribute_tokens(tokens, []) == tokens


@pytest.mark.parametrize("is_same", [True, False])
def test_tokens_of_the_same_prompt_take_the_origins_that_are_known(is_same: bool) -> None:
    spans = (span(0, 2, SpanKind.REQUEST, "a"), span(2, 9, SpanKind.REQUEST, "b"))
    texts = ("hi", TokenKind.TEXT), ("<think>", TokenKind.ADDED)
    ours = attribute_tokens(table(*texts), spans)
    theirs = table(*texts) if is_same else table(("h", TokenKind.TEXT), ("i<think>", TokenKind.ADDED))
    like = Prompt("local", theirs.text, spans, ours)

    found = attribute_tokens(theirs, spans, like)

    assert found == attribute_tokens(theirs, spans)
    assert (found.origin_of is ours.origin_of) is is_same


EDGES = st.lists(st.integers(0, 24), max_size=8).map(lambda cuts: sorted({0, 24, *cuts}))
KINDS = st.sampled_from([*SpanKind])


@given(edges=EDGES, data=st.data())
def test_an_origin_is_that_of_the_first_span_that_has_one(edges: list[int], data: st.DataObject) -> None:
    spans = [
        span(start, stop, data.draw(KINDS), data.draw(st.sampled_from([None, "a", "b"])), data.draw(st.integers(1, 3)))
        for start, stop in pairwise(edges)
    ]
    cuts = sorted([0, 24, *data.draw(st.lists(st.integers(0, 24), max_size=8))])

    origins, places = origins_of(cuts, spans)

    assert len({*origins}) == len(origins)
    for (start, stop), place in zip(pairwise(cuts), places, strict=True):
        covered = [one for one in spans if one.char_span.start < max(stop, start + 1) and start < one.char_span.stop]
        written = [one for one in covered if one.kind in FROM_REQUEST]
        expected = Origin(
            next((one.field for one in written if one.field is not None), None),
            covered[0].template_line if covered else None,
            bool(written),
        )
        assert origins[place] == expected
