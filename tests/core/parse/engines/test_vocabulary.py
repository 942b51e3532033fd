"""Where an approximate vocabulary cuts a text: parsers that stream by tokens count on it."""

from types import SimpleNamespace

import pytest

from prompt_debugger.core.parse.engines.vllm_worker.vocabulary import StandIn

TAG = '<｜DSML｜invoke name="f">\n</｜DSML｜invoke>'


def cuts(text, *markers):
    bare = SimpleNamespace(get_vocab=dict, all_special_tokens=[])
    return [piece for _, piece in StandIn(bare, markers=markers).pieces(text)]


def test_tags_of_deepseek_are_cut_as_its_own_vocabulary_cuts_them():
    whole = ("<｜DSML｜invoke name=", "</｜DSML｜invoke>", "<｜end▁of▁sentence｜>")

    assert cuts(TAG + "<｜end▁of▁sentence｜>", *whole) == [
        "<", "｜DSML｜", "invoke", " ", "name", "=", '"', "f", '"', ">", "\n", "</", "｜DSML｜", "invoke", ">",
        "<｜end▁of▁sentence｜>",
    ]  # fmt: skip


def test_such_a_tag_is_no_token_for_a_parser_that_asks_either():
    vocabulary = StandIn(SimpleNamespace(get_vocab=dict, all_special_tokens=[])).get_vocab()

    assert vocabulary.get("<｜DSML｜function_calls>") is None
    assert "<｜DSML｜function_calls>" not in vocabulary
    assert "｜DSML｜" in vocabulary
    assert "<｜tool▁calls▁begin｜>" in vocabulary


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("<tool_call>x</tool_call>", ["<tool_call>", "x", "</tool_call>"]),
        ("a</b>", ["a", "<", "/", "b", ">"]),
        ("｜tool▁call｜", ["｜", "tool", "▁", "call", "｜"]),
    ],
)
def test_other_texts_are_cut_as_ever(text, wanted):
    assert cuts(text, "<tool_call>", "</tool_call>") == wanted
