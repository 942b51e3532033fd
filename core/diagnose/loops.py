"""Texts that end in one piece, written again and again."""

from __future__ import annotations

MAX_UNIT = 120
MIN_REPEATS = 8
MIN_REPEATS_OF_CUT_ARGUMENTS = 5  # where a server reports the cut, less proves it
MIN_CHARS = 80
MIN_WHITE_SPACE = 50


def looping_length(text: str, min_repeats: int = MIN_REPEATS) -> int:
    """Return how many characters at the end repeat one unit; 0 if none do.

    >>> looping_length("[" + "1, " * 30), looping_length("[1, 2, 3, 4]")
    (90, 0)
    """
    white = len(text) - len(text.rstrip())
    if white >= MIN_WHITE_SPACE:
        return white
    for unit in range(1, MAX_UNIT + 1):
        piece = text[-unit:]
        repeats = 0
        while len(piece) == unit and text.endswith(piece, 0, len(text) - repeats * unit):
            repeats += 1
        if repeats >= min_repeats and repeats * unit >= MIN_CHARS and piece.strip():
            return repeats * unit
    return 0
