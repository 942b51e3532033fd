"""What the first characters of a marker say: nothing but markup begins so, or ordinary text may as well.

    <|im_end|>   <｜User｜>   ]<]minimax[>[   ◁think▷   ⟦call⟧     nothing else begins so
    <tool_call>   </s>   [TOOL_CALLS]                              HTML and lists may

Asked of markers alone, never of text: prose has signs of every script.
"""

from __future__ import annotations

_ASCII = ("<|", "<｜", "]<]")
_BRACKETS = frozenset("<[]")


def is_sign(char: str) -> bool:
    """Return whether a character is punctuation or a symbol beyond ASCII; "" is neither."""
    return bool(char) and not (char.isascii() or char.isalnum() or char.isspace())


def is_control(marker: str) -> bool:
    """Return whether a marker begins as no ordinary text does."""
    return marker.startswith(_ASCII) or is_sign(marker[:1])


def is_bracketed(marker: str) -> bool:
    """Return whether a marker, or the half of one, begins with a bracket of any script or with another such sign."""
    return marker[:1] in _BRACKETS or is_sign(marker[:1])
