"""Vocabularies of every kind: token tables tile the text, from the text and from ids."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import PromptSpan, Span, SpanKind, Token, TokenKind
from prompt_debugger.core.render import choose_template, load_template, load_tokenizer
from prompt_debugger.core.render.attribute_tokens import attribute_tokens
from prompt_debugger.core.render.tokenizers.fast import FastTokenizer
from prompt_debugger.core.render.tokenizers.tiles import align_pieces, decode_pieces
from tests.conftest import ROOT
from tests.core.render.vocabularies import KINDS, byte_level, write
from tests.examples import examples

TEXTS = [
    "",
    " ",
    "Hello there, world!",
    "  two spaces, a\ttab\nand lines\n\n",
    "日本語 and 👩\u200d👩\u200d👧 family 𝔘",
    "e\u0301 decomposed, é composed",
    "<s>text<|im_end|> and <think>more</think></s>",
    "<|im_start|>user\nhi<|im_end|>\n",
    "\ud800 lone surrogate",
    "ſtrange ﬁ \u00a0 ẞ",
]


@pytest.fixture(scope="module", params=KINDS)
def tokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> FastTokenizer:
    return load_tokenizer(write(tmp_path_factory.mktemp("tok") / request.param, KINDS[request.param]()))


@pytest.fixture(scope="module")
def lab(lab_model_dir: Path) -> FastTokenizer:
    if not (lab_model_dir / "tokenizer.json").is_file():
        pytest.skip("the lab model has no tokenizer yet")
    return load_tokenizer(lab_model_dir)


def assert_tiles(text: str, tokens: Sequence[Token]) -> None:
    position = 0
    for token in tokens:
        assert token.char_span.start == position
        assert token.text == text[slice(*token.char_span)]
        position = token.char_span.stop
    assert position == len(text) or not tokens


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_of_text_tile_it(tokenizer: FastTokenizer, text: str) -> None:
    tokens = tokenizer.tokens_of_text(text)

    assert tuple(token.id for token in tokens) == tokenizer.encode(text)
    if tokens:
        assert_tiles(text, tokens)


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_made_with_their_origins_are_those_attributed_later(tokenizer: FastTokenizer, text: str) -> None:
    edges = sorted({0, len(text) // 3, len(text) // 2, len(text)})
    kinds = (SpanKind.TEMPLATE, SpanKind.REQUEST, SpanKind.COMPUTED)
    origins = tuple(
        PromptSpan(Span(start, stop), kind, None if kind is SpanKind.TEMPLATE else "messages[0].content", None, line)
        for line, (kind, (start, stop)) in enumerate(zip(kinds, pairwise(edges), strict=False), 1)
    )

    made = tokenizer.tokens_of_text(text, origins)

    assert attribute_tokens(tokenizer.tokens_of_text(text), origins) == made
    assert not made or any(token.template_line for token in made)


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_of_ids_tile_what_they_decode_to(tokenizer: FastTokenizer, text: str) -> None:
    ids = tokenizer.encode(text)

    decoded, tokens = tokenizer.tokens_of_ids(ids)

    assert decoded == tokenizer.decode(ids)
    assert tuple(token.id for token in tokens) == ids
    assert_tiles(decoded, tokens)


@settings(max_examples=examples(200), deadline=None)
@given(text=st.text("ab <|>\n日é\u0301👩\u200d!", max_size=30))
def test_lab_tokens_tile_any_text_and_give_it_back(lab: FastTokenizer, text: str) -> None:
    tokens = lab.tokens_of_text(text)

    assert_tiles(text, tokens)
    assert lab.decode([token.id for token in tokens]) == text
    assert b"".join(token.piece for token in tokens) == text.encode()


def test_special_and_added_tokens_are_distinguished(tokenizer: FastTokenizer) -> None:
    kinds = {token.text: token.kind for token in tokenizer.tokens_of_text("<s>a<think>b<|im_end|>")}

    assert kinds["<s>"] is kinds["<|im_end|>"] is TokenKind.SPECIAL
    assert kinds["<think>"] is TokenKind.ADDED


@pytest.mark.parametrize("kind", ["byte-level", "sentence-piece"])
def test_tokens_that_share_a_character_are_bytes(kind: str, tmp_path: Path) -> None:
    tokens = load_tokenizer(write(tmp_path, KINDS[kind]())).tokens_of_text("𝔘")

    assert [token.text for token in tokens] == ["𝔘", "", "", ""]
    assert {token.kind for token in tokens} == {TokenKind.BYTE}
    assert b"".join(token.piece for token in tokens) == "𝔘".encode()


def test_leading_spaces_belong_to_their_token_although_offsets_leave_them_out(tmp_path: Path) -> None:
    tokens = load_tokenizer(write(tmp_path, byte_level())).tokens_of_text("the quick brown")

    assert [token.text for token in tokens] == ["the", " quick", " brown"]


def test_a_combining_mark_dropped_by_nfc_stays_with_its_letter(tmp_path: Path) -> None:
    tokens = load_tokenizer(write(tmp_path, byte_level(nfc=True))).tokens_of_text("ae\u0301b")

    assert "".join(token.text for token in tokens) == "ae\u0301b"
    assert not any(token.text.startswith("\u0301") for token in tokens)


def test_vocabulary_tells_special_tokens_and_ends(tmp_path: Path) -> None:
    folder = write(tmp_path, byte_level())
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [3, 1]}), encoding="utf-8")

    vocabulary = load_tokenizer(folder).vocabulary

    assert vocabulary.special == {0: "<s>", 1: "</s>", 2: "<|im_start|>", 3: "<|im_end|>"}
    assert (vocabulary.bos_id, vocabulary.eos_ids, vocabulary.adds_bos) == (0, (1, 3), False)
    assert load_tokenizer(write(tmp_path, byte_level(), add_bos_token=True)).vocabulary.adds_bos


def test_entries_of_the_configuration_are_added(tmp_path: Path) -> None:
    added = {"401": {"content": "<|tool|>", "special": True}, "402": {"content": "<note>", "special": False}}

    tokenizer = load_tokenizer(write(tmp_path, byte_level(), added_tokens_decoder=added))

    kinds = [(token.text, token.kind) for token in tokenizer.tokens_of_text("<|tool|><note>")]
    assert kinds == [("<|tool|>", TokenKind.SPECIAL), ("<note>", TokenKind.ADDED)]


def test_ids_outside_the_vocabulary_become_replacement_characters(lab: FastTokenizer) -> None:
    text, tokens = lab.tokens_of_ids([lab.vocabulary.size + 7])

    assert text == "\ufffd"
    assert len(tokens) == 1


@given(st.lists(st.binary(min_size=1, max_size=4), max_size=8))
def test_any_bytes_decode_to_a_tiled_text(pieces: list[bytes]) -> None:
    text, edges = decode_pieces(pieces)

    assert text == b"".join(pieces).decode("utf-8", "replace")
    assert edges == tuple(sorted(edges))
    assert (len(edges), edges[0], edges[-1]) == (len(pieces) + 1, 0, len(text))


@given(st.text("aé日👩", max_size=10), st.lists(st.binary(max_size=3), max_size=6))
def test_alignment_tiles_whatever_the_pieces_are(text: str, pieces: list[bytes]) -> None:
    edges = align_pieces(text, pieces)

    assert edges == tuple(sorted(edges))
    assert (len(edges), edges[0]) == (len(pieces) + 1, 0)
    assert edges[-1] == len(text) or not pieces


def test_templates_are_found_where_models_keep_them(tmp_path: Path) -> None:
    inline = write(tmp_path / "inline", byte_level(), chat_template="inline")
    named = write(
        tmp_path / "named",
        byte_level(),
        chat_template=[{"name": "default", "template": "usual"}, {"name": "tool_use", "template": "for tools"}],
    )
    beside = write(tmp_path / "beside", byte_level(), chat_template="inline")
    (beside / "chat_template.jinja").write_text("beside", encoding="utf-8")
    processor = write(tmp_path / "processor", byte_level())
    (processor / "chat_template.json").write_text(json.dumps({"chat_template": "from the processor"}), encoding="utf-8")

    assert load_template(inline) == "inline"
    assert (load_template(named), load_template(named, has_tools=True)) == ("usual", "for tools")
    assert load_template(beside) == load_template(beside / "chat_template.jinja") == "beside"
    assert load_template(processor) == "from the processor"
    assert load_template(write(tmp_path / "none", byte_level())) is None


def test_named_special_tokens_reach_templates(tmp_path: Path) -> None:
    tokenizer = load_tokenizer(write(tmp_path, byte_level(), extra_special_tokens={"image_token": "<img>"}))

    assert tokenizer.special_tokens == {"bos_token": "<s>", "eos_token": "</s>", "image_token": "<img>"}


@pytest.mark.parametrize("source", ["/no/such/folder", "a/b/c", "not a hub id!", ""])
def test_what_is_not_a_tokenizer_is_reported_plainly(source: str) -> None:
    with pytest.raises(RenderError):
        load_tokenizer(source)


def test_a_hub_id_without_network_or_cache_is_reported_plainly() -> None:
    with pytest.raises(RenderError, match="Hub"):
        load_tokenizer("nobody-at-all/no-such-model")


def test_a_broken_file_is_reported_plainly(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")

    with pytest.raises(RenderError, match=r"tokenizer\.json"):
        load_tokenizer(tmp_path)


def test_a_folder_without_a_tokenizer_is_reported_plainly(tmp_path: Path) -> None:
    with pytest.raises(RenderError, match="has no `tokenizer"):
        load_tokenizer(tmp_path)


@pytest.mark.slow
def test_a_revision_of_a_hub_id_is_named_after_an_at_sign(tmp_path):
    """With a cache as `huggingface_hub` lays it out; a process of its own, as the cache's place is read at import."""
    repository = tmp_path / "models--org--model"
    for revision, commit in (("main", "a" * 40), ("refs/pr/3", "b" * 40)):
        snapshot = repository / "snapshots" / commit
        snapshot.mkdir(parents=True)
        (snapshot / "chat_template.jinja").write_text(f"of {revision}")
        reference = repository / "refs" / revision
        reference.parent.mkdir(parents=True, exist_ok=True)
        reference.write_text(commit)
    source = (
        "import sys\n"
        "from prompt_debugger.core.base.errors import RenderError\n"
        "from prompt_debugger.core.render import load_template\n"
        "for name in sys.argv[1:]:\n"
        "    try: print(load_template(name))\n"
        "    except RenderError as error: print(error.message)\n"
    )
    names = ("org/model", "org/model@refs/pr/3", "org/model@gone")
    environment = {**os.environ, "HF_HUB_CACHE": str(tmp_path), "HF_HUB_OFFLINE": "1"}

    done = subprocess.run(
        [sys.executable, "-c", source, *names], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[:2] == ["of main", "of refs/pr/3"]
    assert "'org/model@gone'" in done.stdout.splitlines()[2]


NAMED = {"default": "plain", "tool_use": "with tools", "rag": "with documents"}


@pytest.mark.parametrize(
    ("has_tools", "name", "expected"),
    [(False, None, "plain"), (True, None, "with tools"), (True, "default", "plain"), (False, "rag", "with documents")],
)
def test_of_several_templates_a_request_gets_the_one_that_transformers_takes(has_tools, name, expected):
    assert choose_template(NAMED, has_tools=has_tools, name=name) == expected


def test_a_template_that_the_model_does_not_have_is_refused_with_those_it_has():
    with pytest.raises(RenderError, match="named 'tools'") as caught:
        choose_template(NAMED, has_tools=True, name="tools")

    assert "`default`, `tool_use`, `rag`" in caught.value.hint
