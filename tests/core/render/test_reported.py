"""Tokens as servers tell them: bytes, or vocabulary entries in any spelling."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import TokenKind
from prompt_debugger.core.render import pieces_of_reported, tokens_of_pieces
from prompt_debugger.core.render.tokenizers import load_tokenizer
from tests.conftest import ROOT

CALL = '<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Zürich 🌞"}<|tool_call_end|>'


def test_entries_of_a_byte_level_vocabulary_are_its_bytes() -> None:
    shown = ("Hello", "Ġworld", "ðŁĮ", "ŀ", "<|im_end|>")
    text = "Hello world🌞<|im_end|>"

    pieces = pieces_of_reported(shown, text)

    assert pieces == (b"Hello", b" world", b"\xf0\x9f\x8c", b"\x9e", b"<|im_end|>")


def test_entries_of_a_sentence_piece_vocabulary_are_its_bytes() -> None:
    shown = ("▁Hello", "▁w", "<0xF0>", "<0x9F>", "<0x8C>", "<0x9E>", "</s>")

    for text in ("Hello w🌞</s>", " Hello w🌞</s>"):
        assert pieces_of_reported(shown, text) == (b" Hello", b" w", b"\xf0", b"\x9f", b"\x8c", b"\x9e", b"</s>")


def test_a_cut_character_is_one_unreadable_place_however_it_is_shown() -> None:
    assert pieces_of_reported((b"a", b"\xf0\x9f"), "a\ufffd\ufffd") == (b"a", b"\xf0\x9f")


@pytest.mark.parametrize("text", ["Hello world", "Hello worlds.", ""])
def test_entries_that_do_not_make_up_the_text_are_not_believed(text: str) -> None:
    assert pieces_of_reported(("Hello", "Ġworlds"), text) is None


def test_a_table_from_told_bytes_is_that_of_the_tokenizer() -> None:
    tokenizer = load_tokenizer(str(ROOT / "assets" / "lab-model"))
    ours = tokenizer.tokens_of_text(CALL)

    text, theirs = tokens_of_pieces([token.id for token in ours], [token.piece for token in ours])

    assert text == CALL
    assert [(token.id, token.text, token.char_span) for token in theirs] == [
        (token.id, token.text, token.char_span) for token in ours
    ]
    assert {token.kind for token in theirs if token.text.startswith("<|")} == {TokenKind.ADDED}
