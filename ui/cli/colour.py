"""Colours for what a command prints, where a person reads it: on a terminal, unless `NO_COLOR` says otherwise.

One set for light and dark terminals: each colour has a contrast of 4.5 on white and on black.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TextIO

from pygments import highlight
from pygments.formatters.terminal256 import Terminal256Formatter
from pygments.lexers.data import JsonLexer
from pygments.style import Style
from pygments.token import Comment, Keyword, Name, Number, String, Token

MOST_CHARS = 200_000  # a longer document is for a program, and colouring it would take seconds


class PlainStyle(Style):
    """Colours of the 256 that every terminal has, those alone that are told from white and from black."""

    styles = {  # noqa: RUF012  # pygments reads it from the class
        Token: "",
        Name.Tag: "#5f5fff",
        String: "#00875f",
        Number: "#af5f5f",
        Keyword: "#875fd7",
        Comment: "#767676",
    }


def wants_colour(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Say whether a person looks at a stream and takes colours."""
    return stream.isatty() and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def coloured_json(text: str, stream: TextIO) -> str:
    """Return JSON text as a stream should show it; without its colours it is the same text."""
    if len(text) > MOST_CHARS or not wants_colour(stream, os.environ):
        return text
    return highlight(text, JsonLexer(stripnl=False, ensurenl=False), Terminal256Formatter(style=PlainStyle))
