"""A table of tokens is what the tokens are, one by one; only faster."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.types import (
    NOWHERE,
    Entry,
    Origin,
    Prompt,
    PromptSpan,
    Span,
    SpanKind,
    Token,
    TokenKind,
    TokenTable,
    columns_of,
    count_special,
    forged_in,
)
from prompt_debugger.core.report.wire import prompt_to_json
from prompt_debugger.core.sandbox.frames import HEADER, pack, unpack
from prompt_debugger.ui.present import tokens_payload

ENTRIES = {
    0: Entry(b"a", TokenKind.TEXT),
    1: Entry(b"<x>", TokenKind.SPECIAL),
    2: Entry(b"\xe4", TokenKind.BYTE),
    3: Entry(b"\xb8\xad", TokenKind.BYTE),
}
ORIGINS = (NOWHERE, Origin("a", 1, True), Origin("b", None, True))
TEXT = "a<x>中 b"


@st.composite
def tables(draw: st.DrawFn) -> TokenTable:
    ids = draw(st.lists(st.sampled_from([*ENTRIES]), max_size=12))
    edges = sorted(draw(st.lists(st.integers(0, len(TEXT)), min_size=len(ids) + 1, max_size=len(ids) + 1)))
    places = st.sets(st.integers(0, len(ids) - 1)) if ids else st.just(set[int]())
    has_origins = draw(st.booleans())
    return TokenTable(
        TEXT,
        tuple(ids),
        tuple(edges),
        ENTRIES,
        {place: Entry(b"?", TokenKind.ADDED) for place in draw(places)},
        ORIGINS if has_origins else (),
        tuple(draw(st.integers(0, len(ORIGINS) - 1)) for _ in ids) if has_origins else (),
        tuple(sorted(draw(places))),
    )


def one_by_one(table: TokenTable) -> tuple[Token, ...]:
    """Return what a table says, put together here."""
    made = []
    for index, (token_id, (start, stop)) in enumerate(zip(table.ids, pairwise(table.edges), strict=True)):
        entry = table.odd[index] if index in table.odd else table.entries[token_id]
        origin = table.origins[table.origin_of[index]] if table.origin_of else Origin()
        made.append(
            Token(
                token_id,
                TEXT[start:stop],
                Span(start, stop),
                entry.kind,
                entry.piece,
                origin.field,
                origin.line,
                index in table.forged,
            )
        )
    return tuple(made)


@given(table=tables(), start=st.integers(-14, 14), stop=st.integers(-14, 14))
def test_a_table_is_its_tokens_in_order(table: TokenTable, start: int, stop: int) -> None:
    tokens = one_by_one(table)

    assert [*table] == [*tokens]
    assert table == tokens
    assert tokens == table
    assert hash(table) == hash(tokens)
    assert len(table) == len(tokens)
    assert table[start:stop] == tokens[start:stop]
    assert table[::-1] == tokens[::-1]
    if -len(tokens) <= start < len(tokens):
        assert table[start] == tokens[start]
    else:
        with pytest.raises(IndexError):
            table[start]


@given(tables())
def test_columns_and_counts_are_those_of_the_tokens(table: TokenTable) -> None:
    tokens = one_by_one(table)

    assert [[*column] for column in columns_of(table)] == [[*column] for column in columns_of(tokens)]
    assert count_special(table) == count_special(tokens) == sum(one.kind is TokenKind.SPECIAL for one in tokens)
    assert forged_in(table) == forged_in(tokens) == table.forged
    assert tokens_payload(table) == tokens_payload(tokens)


@given(tables())
def test_a_table_arrives_from_a_sandbox_as_a_table(table: TokenTable) -> None:
    arrived = unpack(pack(table)[HEADER:])

    assert isinstance(arrived, TokenTable)
    assert arrived == table


@given(tables())
def test_a_document_says_the_tokens_one_by_one(table: TokenTable) -> None:
    spans = (PromptSpan(Span(0, len(TEXT)), SpanKind.TEMPLATE),)
    prompt = Prompt("local", TEXT, spans, table)

    document = prompt_to_json(prompt)

    assert document == prompt_to_json(replace(prompt, tokens=one_by_one(table)))


def test_a_table_is_no_other_sequence_and_no_other_table() -> None:
    table = TokenTable("aa", (0, 0), (0, 1, 2), ENTRIES)

    assert table != [*table]
    assert table != TokenTable("aa", (0, 0), (0, 2, 2), ENTRIES)
    assert table != replace(table, forged=(1,))
    assert table != replace(table, origins=ORIGINS, origin_of=(0, 1))


@given(st.lists(st.text(max_size=3), max_size=5))
def test_a_token_is_made_of_its_stretch_of_the_text(texts: list[str]) -> None:
    edges = (*accumulate(map(len, texts), initial=0),)
    table = TokenTable("".join(texts), (0,) * len(texts), edges, ENTRIES)

    assert [token.text for token in table] == texts == table.texts
