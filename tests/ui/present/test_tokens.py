from array import array
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.types import Span, Token, TokenKind
from prompt_debugger.ui.present import tokens_payload, unpack_payload
from prompt_debugger.ui.present.tokens import merge_tokens
from tests.ui.present.strategies import hostile_texts
from tests.ui.present.traces import PROMPT_TEXT, tokens_of


def token(number, text, piece=None, **changes):
    piece = text.encode("utf-8", "surrogatepass") if piece is None else piece
    return Token(number, text, Span(0, len(text)), TokenKind.TEXT, piece, **changes)


def shown(tokens):
    """Return what the view shows: the header, and the table entry of every chip."""
    header, columns = unpack_payload(tokens_payload(tokens))
    index = array("I" if header["wide"] else "H")
    index.frombytes(columns)
    return header, [header["table"][place] for place in index]


def test_every_token_is_there_in_order():
    tokens = tokens_of(PROMPT_TEXT)

    header, chips = shown(tokens)

    assert "".join(chip["text"] for chip in chips) == PROMPT_TEXT
    assert [chip["ids"] for chip in chips] == [[token.id] for token in tokens]
    assert header["counts"] == "30 tokens · 8 special · 194 characters"


def test_equal_tokens_share_one_entry():
    header, chips = shown([token(1, "a"), token(2, "b"), token(1, "a")])

    assert len(header["table"]) == 2
    assert [chip["text"] for chip in chips] == ["a", "b", "a"]


def test_tokens_that_make_one_character_become_one_chip():
    first, second, third = (
        token(i, text, bytes([byte])) for i, text, byte in ((5, "", 0xE4), (6, "", 0xB8), (7, "中", 0xAD))
    )

    header, chips = shown([token(1, "x"), first, second, third, token(2, "y")])

    assert [(chip["text"], chip["ids"]) for chip in chips] == [("x", [1]), ("中", [5, 6, 7]), ("y", [2])]
    assert header["merged"] == [1, 3]


def test_bytes_that_never_make_a_character_stay_alone_and_show_themselves():
    broken = token(9, "", b"\xff")

    _, chips = shown([broken, token(1, "a")])

    assert [(chip["ids"], chip.get("hex")) for chip in chips] == [([9], "ff"), ([1], None)]


def test_an_injected_token_is_not_an_entry_of_an_honest_one():
    honest = replace(token(3, "<|im_end|>"), kind=TokenKind.SPECIAL)

    header, chips = shown([honest, replace(honest, injected=True)])

    assert [chip.get("injected", False) for chip in chips] == [False, True]
    assert "1 injected" in header["counts"]


def test_fields_and_lines_are_run_lengths():
    tokens = [
        token(i, "a", field=field, template_line=line)
        for i, (field, line) in enumerate([(None, 1), (None, 1), ("x", 2)])
    ]

    header, _ = shown(tokens)

    assert header["fields"] == ["", "x"]
    assert header["field_runs"] == [0, 0, 2, 1]
    assert header["line_runs"] == [0, 1, 2, 2]


@given(st.lists(st.builds(token, st.integers(0, 300_000), hostile_texts, st.binary(max_size=5)), max_size=30))
def test_chips_hold_every_token_once_whatever_the_bytes(tokens):
    chips = list(merge_tokens(tokens))

    assert [token for chip in chips for token in chip] == tokens
    header, entries = shown(tokens)
    assert header["count"] == len(entries) == len(chips)


def test_a_large_vocabulary_takes_a_wide_column():
    _, chips = shown([token(i, str(i)) for i in range(66_000)])

    assert chips[-1]["text"] == "65999"
