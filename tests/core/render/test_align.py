"""Attribution without proof: what is carried over is equal, and everything tiles."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.types import JSONObject, PromptSpan, Span, SpanKind
from prompt_debugger.core.render.align import align_spans, find_fields

TEXTS = st.text("ab <|>\n.", max_size=30)


def spans_of(text: str) -> tuple[PromptSpan, ...]:
    """Return one request span per character."""
    return tuple(
        PromptSpan(Span(i, i + 1), SpanKind.REQUEST, "messages[0].content", Span(i, i + 1)) for i in range(len(text))
    )


@given(TEXTS, TEXTS)
def test_carried_spans_tile_the_text_and_repeat_their_field(known: str, text: str) -> None:
    made = align_spans(text, known, spans_of(known))

    position = 0
    for span in made:
        assert span.char_span.start == position < span.char_span.stop
        position = span.char_span.stop
        if span.field_span is not None:
            assert known[slice(*span.field_span)] == text[slice(*span.char_span)]
    assert position == len(text)


@given(TEXTS)
def test_equal_texts_carry_every_span(text: str) -> None:
    assert align_spans(text, text, spans_of(text)) == spans_of(text)


@given(TEXTS, st.lists(TEXTS, max_size=4))
def test_fields_that_are_found_are_really_there(text: str, contents: list[str]) -> None:
    body: JSONObject = {"messages": [{"role": "user", "content": content} for content in contents]}

    made = find_fields(text, body)

    assert "".join(text[slice(*span.char_span)] for span in made) == text
    for span in made:
        if span.field is not None:
            assert contents[int(span.field[9])] == text[slice(*span.char_span)]
