"""Encode texts that share most of what they say, such as the prompts of a growing conversation.

A tokenizer cuts a text at its added tokens before it does anything else, and then encodes
what lies between them piece by piece, none knowing of the others. So a text may be cut in
front of each such token and every piece be encoded once, however many texts it stands in:
the ids are the same, to the last one. Where an added token takes white space from its
neighbours, or asks what they are, texts are encoded whole.
"""

from __future__ import annotations

import re
from itertools import chain, pairwise

from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.render.tokenizers.fast import FastTokenizer
from prompt_debugger.core.tools.experiments.variant import Rendered, units_of


class SharedEncoder:
    """Cuts texts into units, and remembers the pieces that it has encoded."""

    def __init__(self, tokenizer: Tokenizer | None) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, tuple[int, ...]] = {}
        markers = tokenizer.boundaries if isinstance(tokenizer, FastTokenizer) else frozenset[str]()
        # The library takes the longest added token that begins at a place.
        longest_first = sorted(markers, key=len, reverse=True)
        self._cuts = re.compile("|".join(map(re.escape, longest_first))) if markers else None

    def keys_of(self, text: str) -> Rendered:
        """Return a text with its units alone; spans and tokens are left empty."""
        if self._tokenizer is None:
            return units_of(text, None)
        return Rendered(text, "token", self.encode(text), ())

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the ids of a text, equal to the tokenizer's own."""
        assert self._tokenizer is not None
        if self._cuts is None:
            return self._tokenizer.encode(text)
        return tuple(chain.from_iterable(self._encode_piece(piece) for piece in self._pieces(text)))

    def _encode_piece(self, piece: str) -> tuple[int, ...]:
        assert self._tokenizer is not None
        ids = self._known.get(piece)
        if ids is None:
            ids = self._known[piece] = self._tokenizer.encode(piece)
        return ids

    def _pieces(self, text: str) -> list[str]:
        """Return the text in pieces, each but the first beginning with an added token."""
        assert self._cuts is not None
        starts = [match.start() for match in self._cuts.finditer(text)]
        edges = [0, *(start for start in starts if start), len(text)]
        return [text[start:stop] for start, stop in pairwise(edges)]
