"""Vocabularies that ship as `tiktoken.model` and code, loaded without the code, against tiktoken itself."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import TokenKind
from prompt_debugger.core.render import load_tokenizer
from prompt_debugger.core.render.tokenizers.fast import FastTokenizer
from prompt_debugger.core.render.tokenizers.pieces import PieceStyle, bytes_of_entry
from prompt_debugger.core.render.tokenizers.tiktoken import find_pattern
from tests.core.render.vocabularies import byte_level
from tests.examples import examples

tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")

HAN = r"[\p{Han}]+"
WORDS = r"[^\r\n\p{L}\p{N}]?[\p{L}&&[^\p{Han}]]+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CODE = f'''
import os
os.abort()  # proves that nothing here is run

class Tokenizer:
    pat_str = "|".join([
        r"""{HAN}""",
        r"""{WORDS}""",
    ])
'''
TEXTS = st.text("ab the日本語 é\n\t12345'<|>_im end👩", max_size=40)


def ranks() -> dict[bytes, int]:
    """Return the ranks of a small vocabulary: single bytes first, then what training merged."""
    vocabulary = byte_level().get_vocab(with_added_tokens=False)
    pieces = {bytes_of_entry(entry, PieceStyle.BYTE_LEVEL) for entry in vocabulary if not entry.startswith("<")}
    tokens = [bytes([byte]) for byte in range(256)]
    tokens.extend(sorted((piece for piece in pieces if len(piece) > 1), key=lambda piece: (len(piece), piece)))
    return {token: rank for rank, token in enumerate(tokens)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("kimi")
    lines = [f"{base64.b64encode(token).decode()} {rank}" for token, rank in ranks().items()]
    (made / "tiktoken.model").write_text("\n".join(lines), encoding="ascii")
    first = len(ranks())
    added = {
        str(first): {"content": "[BOS]", "special": True},
        str(first + 2): {"content": "<|im_end|>", "special": True},
        str(first + 3): {"content": "<think>", "special": False},
    }
    config = {"bos_token": "[BOS]", "eos_token": "<|im_end|>", "added_tokens_decoder": added, "chat_template": "t"}
    (made / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    (made / "tokenization_kimi.py").write_text(CODE, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def ours(folder: Path) -> FastTokenizer:
    return load_tokenizer(folder)


@pytest.mark.slow
@settings(max_examples=examples(300), deadline=None)
@given(text=TEXTS)
def test_ids_are_those_of_tiktoken(ours: FastTokenizer, text: str) -> None:
    special = {entry: token_id for token_id, entry in ours.vocabulary.special.items()}
    reference = tiktoken.Encoding(
        "small",
        pat_str=f"{HAN}|{WORDS}",
        mergeable_ranks=ranks(),
        special_tokens={**special, "<think>": len(ranks()) + 3},
    )

    assert list(ours.encode(text)) == reference.encode(text, allowed_special="all")
    assert ours.decode(ours.encode(text)) == text


def test_special_tokens_come_from_the_table_and_the_rest_is_reserved(ours: FastTokenizer) -> None:
    first = len(ranks())

    assert ours.vocabulary.bos_id == first
    assert ours.vocabulary.eos_ids == (first + 2,)
    assert ours.vocabulary.special[first + 1] == f"<|reserved_token_{first + 1}|>"
    assert [(token.text, token.kind) for token in ours.tokens_of_text("<|im_end|><think>")] == [
        ("<|im_end|>", TokenKind.SPECIAL),
        ("<think>", TokenKind.ADDED),
    ]


def test_the_pattern_is_read_from_code_that_is_not_run(folder: Path) -> None:
    assert find_pattern(folder) == f"{HAN}|{WORDS}"


def test_without_the_code_the_pattern_is_not_guessed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "tiktoken.model").write_bytes((folder / "tiktoken.model").read_bytes())

    with pytest.raises(RenderError, match="pattern"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize("content", ["", "not base64 at all", "YQ== 5"])
def test_a_broken_list_is_reported_plainly(content: str, tmp_path: Path) -> None:
    (tmp_path / "tiktoken.model").write_text(content, encoding="ascii")

    with pytest.raises(RenderError, match=r"tiktoken\.model"):
        load_tokenizer(tmp_path)
