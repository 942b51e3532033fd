"""One token of an output, as it is cut, fed and shown. No vLLM here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Piece:
    """One output token.

    Attributes:
        id: Its number in the vocabulary.
        text: The characters that it added to the output text; "" for none.
        shown: How to name it to people.
        is_marker: True for special and added tokens.
    """

    id: int
    text: str
    shown: str
    is_marker: bool
