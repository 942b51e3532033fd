"""Encode texts that share most of what they say, such as the prompts of a growing conversation.

So every piece between two added tokens is encoded once, however many texts it is in
(`FastTokenizer.pieces_of`): the ids are the same, to the last one. Where an added token takes
whitespace from its neighbours, or asks what they are, texts are encoded whole.
"""

from __future__ import annotations

from itertools import chain

from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.render.tokenizers.fast import FastTokenizer
from prompt_debugger.core.tools.experiments.variant import Rendered, units_of


class SharedEncoder:
    """Cuts texts into units, and remembers the pieces that it has encoded."""

    def __init__(self, tokenizer: Tokenizer | None) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, tuple[int, ...]] = {}

    def keys_of(self, text: str) -> Rendered:
        """Return a text with its units alone; spans and tokens are left empty."""
        if self._tokenizer is None:
            return units_of(text, None)
        return Rendered(text, "token", self.encode(text), ())

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the ids of a text, equal to the tokenizer's own."""
        assert self._tokenizer is not None
        pieces = self._tokenizer.pieces_of(text) if isinstance(self._tokenizer, FastTokenizer) else [text]
        if len(pieces) == 1:
            return self._tokenizer.encode(text)
        return tuple(chain.from_iterable(map(self._encode_piece, pieces)))

    def _encode_piece(self, piece: str) -> tuple[int, ...]:
        assert self._tokenizer is not None
        ids = self._known.get(piece)
        if ids is None:
            ids = self._known[piece] = self._tokenizer.encode(piece)
        return ids
