"""Long texts are tokenized in the sandbox: the same tokens, and none of the memory."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import DebuggerError, RenderError
from prompt_debugger.core.render import load_tokenizer, render_local
from prompt_debugger.core.render.tokenizers import long_texts
from prompt_debugger.core.render.tokenizers.long_texts import LONG_CHARS, MAX_CHARS, encode_long, is_long
from prompt_debugger.core.sandbox import sandbox_of


@pytest.fixture(scope="module")
def tokenizer(lab_model_dir):
    return load_tokenizer(lab_model_dir)


@pytest.mark.slow
def test_a_long_text_has_the_same_tokens_as_in_place(tokenizer, monkeypatch):
    text = "Grüße, 世界! <|im_end|> \U0001f600 x  y\n" * (LONG_CHARS // 20)
    assert is_long(text)

    found = tokenizer.tokens_of_text(text)
    pids = sandbox_of("tokens").pids
    monkeypatch.setattr(long_texts, "LONG_CHARS", len(text))

    assert not is_long(text)
    assert found == tokenizer.tokens_of_text(text)
    assert tokenizer.encode(text) == tuple(token.id for token in found)
    assert pids


def test_a_short_text_takes_no_trip(tokenizer):
    assert not is_long("x" * LONG_CHARS)
    assert is_long("x" * (LONG_CHARS + 1))


def test_a_second_vocabulary_is_not_taken_for_the_first(tokenizer, lab_model_dir):
    other = load_tokenizer(lab_model_dir)
    other._backend.add_tokens(["hello world"])
    text = "hello world " * 10_000

    both = [one.encode(text) for one in (tokenizer, other, tokenizer, other)]

    assert both[0] == both[2] != both[1] == both[3]


def test_thirty_characters_of_template_are_an_error_that_says_so(tokenizer):
    with pytest.raises(DebuggerError) as raised:
        render_local(
            {"messages": [{"role": "user", "content": "x"}]},
            template="{{ 'a1 ' * 26333333 }}",
            tokenizer=tokenizer,
        )

    assert "repetition" in raised.value.hint or "repeated" in raised.value.hint


def test_more_tokens_than_can_be_shown_are_refused(tokenizer, monkeypatch):
    monkeypatch.setattr(long_texts, "MAX_TOKENS", 3)

    with pytest.raises(RenderError, match="at most 3"):
        encode_long("key", "hello world, hello world", tokenizer._backend.to_str())


def test_text_longer_than_any_prompt_is_refused_before_it_travels(tokenizer):
    with pytest.raises(RenderError, match="characters"):
        tokenizer.encode("x" * (MAX_CHARS + 1))
