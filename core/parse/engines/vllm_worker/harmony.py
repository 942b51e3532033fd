# ruff: noqa: ANN401 - the objects of harmony's package are untyped
"""The vocabulary of gpt-oss, from the package with which vLLM reads its outputs: harmony's parser goes by token ids."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from typing import Any

from prompt_debugger.core.parse.engines.vllm_worker.piece import texts_by_prefix
from prompt_debugger.core.parse.engines.vllm_worker.vocabulary import InventedVocabulary, StandIn, byte_tokenizer

PARSERS = frozenset({"openai", "openai_gptoss", "GptOss"})


class HarmonyVocabulary(StandIn):
    """Harmony's own ids where the model's tokenizer is not known."""

    def __init__(self) -> None:
        super().__init__(byte_tokenizer())
        self._encoding = _encoding()
        special = self._encoding.special_tokens_set
        self.all_special_tokens = sorted(special)
        ids = self.encode("".join(self.all_special_tokens))  # one by one they would take thirty times as long
        self._vocabulary = InventedVocabulary(dict(zip(self.all_special_tokens, ids, strict=True)))

    @property
    def markers(self) -> frozenset[str]:
        """Its special tokens."""
        return frozenset(self.all_special_tokens)

    def encode(self, text: str, **_: Any) -> list[int]:
        """Return the ids of a text, its markers whole."""
        ids: list[int] = self._encoding.encode(text, allowed_special="all")
        return ids

    def decode(self, token_ids: Any, **_: Any) -> str:
        """Return the text of ids."""
        return str(self._encoding.decode([token_ids] if isinstance(token_ids, int) else list(token_ids)))

    def pieces(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield ids, and the text that each adds."""
        ids = self.encode(text)
        yield from zip(ids, texts_by_prefix(self.decode, ids), strict=True)


@functools.lru_cache(maxsize=1)
def _encoding() -> Any:
    package: Any = importlib.import_module("openai_harmony")
    return package.load_harmony_encoding(package.HarmonyEncodingName.HARMONY_GPT_OSS)
