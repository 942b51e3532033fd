"""The token that ends a turn is known by its text, whatever token the tokenizer names; one that goes on is none."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from prompt_debugger.core.tools.plugin.inside.ends import end_ids, end_texts, ends_here

EOS, IM_END, WORD, STOP = 1, 2, 3, 4


class Tokenizer:
    eos_token_id = EOS

    def get_vocab(self):
        return {"<eos>": EOS, "<|im_end|>": IM_END, "word": WORD}


@pytest.mark.parametrize(
    ("family", "text", "is_end"),
    [
        ("kimi_k2", "<|im_end|>", True),
        ("auto", "<|im_end|>", True),
        ("auto", "<|eot_id|>", True),
        ("phi4_mini", "<|end|>", True),
        ("auto", "<|end|>", False),  # gpt-oss goes on behind it
        ("muse_glimmer", "<|eom|>", False),
        ("muse_glimmer", "<|eot|>", True),
        ("kimi_k2", "<|eot_id|>", False),
    ],
)
def test_text_ends_a_turn_in_the_families_that_end_with_it(family, text, is_end):
    assert (text in end_texts(family)) is is_end


def test_ids_are_those_of_the_texts_that_the_vocabulary_has_and_the_tokenizers_own():
    assert end_ids(Tokenizer(), {"<|im_end|>", "<|eot_id|>"}) == {EOS, IM_END}
    assert end_ids(object(), {"<|im_end|>"}) == frozenset()


def test_a_delta_is_the_last_by_its_token_a_stop_token_or_the_limit():
    ends = end_ids(Tokenizer(), {"<|im_end|>"})
    request = SimpleNamespace(stop_token_ids=[STOP], max_tokens=3)

    assert ends_here(ends, None, [WORD, IM_END], [IM_END])
    assert ends_here(ends, request, [WORD, STOP], [STOP])
    assert ends_here(ends, request, [WORD] * 3, [WORD])
    assert not ends_here(ends, request, [IM_END, WORD], [WORD])
