"""A lexer whose line numbers also know the token's offsets in the template source."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jinja2 import nodes
from jinja2.lexer import Lexer

_NEWLINE = re.compile(r"\r\n|\r")


class Position(int):
    """A line number, from 1, that knows where its token is.

    Attributes:
        start: Offset of the token's first character in the normalised source.
        stop: Offset after its last character.
    """

    start: int
    stop: int


class PositionLexer(Lexer):
    """Jinja's lexer; every line number it gives is a `Position`."""

    def tokeniter(
        self, source: str, name: str | None, filename: str | None = None, state: str | None = None
    ) -> Iterator[tuple[int, str, str]]:
        """Yield the tokens that Jinja's lexer yields, with positions."""
        text = normalise_newlines(source)
        offset = 0
        for line, token, value in super().tokeniter(source, name, filename, state):
            if value and not text.startswith(value, offset):
                offset = text.find(value, offset)  # whitespace that the lexer trims without a token
            position = Position(line)
            position.start, position.stop = offset, offset + len(value)
            offset = position.stop
            yield position, token, value


def normalise_newlines(source: str) -> str:
    """Return the source as the lexer numbers it: every line ends with a line feed alone."""
    return _NEWLINE.sub("\n", source)


def extent(node: nodes.Node) -> tuple[int, int] | None:
    """Return where a node's tokens start and stop in the source, as far as they are known."""
    start: int | None = None
    stop = 0
    stack = [node]
    while stack:
        here = stack.pop()
        line: object = here.lineno
        if isinstance(line, Position):
            start = line.start if start is None else min(start, line.start)
            stop = max(stop, line.stop)
        stack.extend(here.iter_child_nodes())
    return None if start is None else (start, stop)
