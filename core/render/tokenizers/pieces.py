"""Vocabulary entry -> bytes: how each family writes bytes into its vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

from prompt_debugger.core.base.types import JSON, JSONObject

_BYTE_ENTRY = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_WORD_START = "\u2581"  # the lower block that SentencePiece writes for a space


class PieceStyle(Enum):
    """How a vocabulary spells its entries."""

    BYTE_LEVEL = "byte-level"  # every byte is one printable character
    SENTENCE_PIECE = "sentence-piece"  # spaces are ▁, bytes are <0xNN>
    WORD_PIECE = "word-piece"  # continuations begin with ##
    PLAIN = "plain"


def style_of(tokenizer_json: JSONObject) -> PieceStyle:
    """Return the style that a `tokenizer.json` uses, by its decoder and pre-tokenizer."""
    kinds = set(_types(tokenizer_json.get("decoder"))) | set(_types(tokenizer_json.get("pre_tokenizer")))
    if "ByteLevel" in kinds:
        return PieceStyle.BYTE_LEVEL
    if "WordPiece" in kinds:
        return PieceStyle.WORD_PIECE
    if kinds & {"Metaspace", "ByteFallback"}:
        return PieceStyle.SENTENCE_PIECE
    return PieceStyle.PLAIN


def bytes_of_entry(entry: str, style: PieceStyle) -> bytes:
    """Return the bytes that a vocabulary entry stands for."""
    if style is PieceStyle.BYTE_LEVEL:
        try:
            return bytes(_BYTE_OF_CHAR[char] for char in entry)
        except KeyError:
            return entry.encode("utf-8", "replace")
    if style is PieceStyle.SENTENCE_PIECE:
        match = _BYTE_ENTRY.fullmatch(entry)
        return bytes([int(match[1], 16)]) if match else entry.replace(_WORD_START, " ").encode("utf-8", "replace")
    if style is PieceStyle.WORD_PIECE and entry.startswith("##"):
        return entry[2:].encode("utf-8", "replace")
    return entry.encode("utf-8", "replace")


def entry_of_bytes(piece: bytes) -> str:
    """Return the byte-level vocabulary entry that stands for these bytes."""
    return "".join(_CHAR_OF_BYTE[byte] for byte in piece)


def _types(part: JSON) -> Iterator[str]:
    """Yield the type names of a component and of those inside it."""
    if isinstance(part, dict):
        kind = part.get("type")
        if isinstance(kind, str):
            yield kind
        for key in ("decoders", "pretokenizers"):
            inner = part.get(key)
            for item in inner if isinstance(inner, list) else ():
                yield from _types(item)


def _byte_characters() -> dict[str, int]:
    """Return the byte of each character: printable Latin-1 as itself, the others from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    table = {chr(byte): byte for byte in printable}
    return table | {chr(0x100 + index): byte for index, byte in enumerate(others)}


_BYTE_OF_CHAR = _byte_characters()
_CHAR_OF_BYTE = {byte: char for char, byte in _BYTE_OF_CHAR.items()}
