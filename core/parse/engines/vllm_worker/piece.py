"""One token of an output, as it is cut, fed and shown. No vLLM here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

_DECODED_AGAIN = 32  # tokens; no character and no rule of a decoder reaches so far back


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


def texts_by_prefix(decode: Callable[[list[int]], str], ids: Sequence[int]) -> list[str]:
    """Return the text that each id adds to those before; bytes of an unfinished character wait for the next token.

    Args:
        decode: Returns the text of some ids.
        ids: In order. Only the last of those before are decoded again: all of them cost a square.
    """
    texts: list[str] = []
    begin, done = 0, ""
    for stop in range(1, len(ids) + 1):
        text = decode([*ids[begin:stop]])
        if text.endswith("\ufffd"):
            texts.append("")
            continue
        texts.append(text[len(done) :])
        done = text
        if stop - begin >= 2 * _DECODED_AGAIN:
            begin = stop - _DECODED_AGAIN
            done = decode([*ids[begin:stop]])
    return texts
