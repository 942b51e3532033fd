"""Texts encoded piece by piece: the same ids as whole, for every kind of vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.render import load_tokenizer
from prompt_debugger.core.render.tokenizers.fast import FastTokenizer
from prompt_debugger.core.tools.experiments import RenderSetup, follow_turns
from prompt_debugger.core.tools.experiments.encoding import SharedEncoder
from prompt_debugger.core.tools.experiments.turns import TurnReport
from tests.core.tools.experiments.setups import CHATML, STRIPPING, chat
from tests.examples import examples

MARKERS = ("<|a|>", "<|a|><|b|>", "<|b|>", "<s>")
PARTS = [*MARKERS, "<|a", "|>", " ", "\n", "  ", "a", "b", "ab", "é", "e\u0301", "▁", "日", "<|a|", "\ud800"]
texts = st.lists(st.sampled_from(PARTS), max_size=14).map("".join)


class Kind(NamedTuple):
    """How a vocabulary treats whitespace and added tokens."""

    scheme: str | None = None
    rstrip: bool = False
    normalized: bool = False
    prepend: bool = False


KINDS = {
    "byte-level": Kind(),
    "metaspace first": Kind(scheme="first"),
    "metaspace always": Kind(scheme="always"),
    "metaspace never": Kind(scheme="never"),
    "prepending normaliser": Kind(scheme="never", prepend=True),
    "markers that take whitespace": Kind(rstrip=True),
    "markers found in normalised text": Kind(normalized=True),
}


@pytest.fixture(scope="module", params=KINDS)
def tokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> FastTokenizer:
    return build(KINDS[request.param], tmp_path_factory.mktemp("vocabulary"))


def build(kind: Kind, folder: Path) -> FastTokenizer:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = ["▁", "a", "b", "ab", "▁a", "▁ab", "<", "|", ">", "é", "日", "\n", " "]
    pieces = list(dict.fromkeys([*alphabet, *words])) if kind.scheme is None else ["<unk>", *dict.fromkeys(words)]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    merges = [("a", "b")] + ([("▁", "a"), ("▁", "ab")] if kind.scheme else [])
    made = Tokenizer(models.BPE(vocabulary, merges, unk_token=None if kind.scheme is None else "<unk>"))
    if kind.scheme is None:
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = decoders.ByteLevel()
    else:
        made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=kind.scheme)
        made.normalizer = normalizers.Sequence(
            [normalizers.NFC(), *([normalizers.Prepend("▁")] if kind.prepend else [])]
        )
        made.decoder = decoders.Metaspace()
    made.add_special_tokens(
        [AddedToken(text, rstrip=kind.rstrip, normalized=kind.normalized, special=True) for text in MARKERS]
    )
    made.save(str(folder / "tokenizer.json"))
    return load_tokenizer(folder)


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(texts, min_size=1, max_size=4))
def test_pieces_have_the_ids_of_the_whole(tokenizer: FastTokenizer, several: list[str]) -> None:
    encoder = SharedEncoder(tokenizer)

    for text in ["".join(several), *several, "".join(reversed(several))]:
        assert encoder.encode(text) == tokenizer.encode(text)


def test_only_markers_that_leave_their_neighbours_alone_are_boundaries(tmp_path: Path) -> None:
    assert build(KINDS["byte-level"], tmp_path).boundaries == frozenset(MARKERS)
    assert build(KINDS["markers that take whitespace"], tmp_path).boundaries == frozenset()
    assert build(KINDS["markers found in normalised text"], tmp_path).boundaries == frozenset()


def test_a_piece_is_encoded_once(lab: RenderSetup) -> None:
    assert isinstance(lab.tokenizer, FastTokenizer)
    encoder = SharedEncoder(lab.tokenizer)

    encoder.encode("<|im_user|>one<|im_end|><|im_user|>two")
    encoder.encode("<|im_user|>one<|im_end|><|im_user|>two<|im_end|><|im_user|>one")

    assert sorted(encoder._known) == ["<|im_end|>", "<|im_user|>one", "<|im_user|>two"]


def whole(self: SharedEncoder, text: str) -> tuple[int, ...]:
    assert self._tokenizer is not None
    return self._tokenizer.encode(text)


@pytest.mark.parametrize("template", [CHATML, STRIPPING])
def test_turns_are_the_same_as_with_texts_encoded_whole(
    template: str, lab: RenderSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = [{**one, "reasoning": "hm"} for one in chat("a", "b c", "d ", "e\n", "f", "g", "h") if isinstance(one, dict)]
    body: JSONObject = {"messages": [*talk]}
    setup = RenderSetup(template, lab.tokenizer)
    pieces = follow_turns(body, setup)

    monkeypatch.setattr(SharedEncoder, "encode", whole)

    assert follow_turns(body, setup) == pieces
    assert spans(pieces) == sorted(spans(pieces))


def spans(report: TurnReport) -> Sequence[int]:
    return [turn.known for turn in report.turns]
