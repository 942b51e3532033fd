"""A few tokens beside each other as chips: text, kind, ids, bytes. For differences, where every token counts."""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.types import JSON, Token, TokenKind
from prompt_debugger.ui.present.tokens import merge_tokens
from prompt_debugger.ui.present.words import shortened

_MAX_TEXT = 1_500
_MARKS = {TokenKind.TEXT: "text", TokenKind.SPECIAL: "special", TokenKind.ADDED: "added", TokenKind.BYTE: "byte"}


def token_chips(tokens: Sequence[Token], text: str = "", *, count: int | None = None) -> list[JSON]:
    """Return chips as [text, kind, ids, bytes]; kind `more` is a note about what is left out.

    Args:
        tokens: The tokens; empty where there is no tokenizer.
        text: Shown as one chip of kind `word` in that case.
        count: How many tokens there are in all, if `tokens` are only the first of them.
    """
    if not tokens:
        return [[shortened(text, _MAX_TEXT), "word", "", ""]] if text else []
    chips: list[JSON] = [_chip(chip) for chip in merge_tokens(tokens)]
    left_out = 0 if count is None else count - len(tokens)
    if left_out > 0:
        chips.append([f"{left_out:,} more", "more", "", ""])
    return chips


def _chip(tokens: Sequence[Token]) -> JSON:
    text = "".join(token.text for token in tokens)
    piece = b"".join(token.piece for token in tokens)
    kind = "byte" if len(tokens) > 1 else _MARKS[tokens[0].kind]
    if not text and piece:
        text, kind = piece.hex(" "), "byte"
    return [text, kind, " ".join(str(token.id) for token in tokens), piece.hex(" ")]
