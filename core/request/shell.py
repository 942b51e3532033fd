"""Shell text → words, each knowing where its characters are in the paste.

Reads what people paste: line continuations, `'…'`, `"…"`, `$'…'` and unquoted
text, comments. Nothing is run or expanded: `$NAME` and `$(…)` stay as written
and are reported with the word. A command ends at a line break, `|`, `;`, `&`,
`>` or `<`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.text import line_column

_UNQUOTED = re.compile(r"[^\s'\"\\$`|;&<>]+")
_DOUBLE_QUOTED = re.compile(r"[^\"\\$`]+")
_ANSI_QUOTED = re.compile(r"[^'\\]+")
_ANSI_ESCAPE = re.compile(
    r"(?:\\x[0-9A-Fa-f]{1,2}|\\[0-7]{1,3})+|(?:\\u[0-9A-Fa-f]{1,4})+|\\U[0-9A-Fa-f]{1,8}|\\c.|\\.", re.DOTALL
)
_ANSI_BYTE = re.compile(r"\\x([0-9A-Fa-f]{1,2})|\\([0-7]{1,3})")
_ANSI_UNIT = re.compile(r"\\[uU]([0-9A-Fa-f]{1,8})")
_ANSI_CHARS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_EXPANSION = re.compile(r"\$(?:\w+|[{(][^\n]{0,200}?[})]|[?!#@*$-])|`[^`\n]{0,200}`")
_CONTINUED = re.compile(r"\\\r?\n")
_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n)+")


@dataclass(slots=True)
class Word:
    """One word of a command, under construction while it is read.

    Attributes:
        start: Offset of its first character in the shell text.
        parts: Its decoded pieces in order.
        expansions: `$NAME` and the like that it holds, unexpanded.
    """

    start: int
    parts: list[str] = field(default_factory=list)
    expansions: list[str] = field(default_factory=list)
    _decoded_at: list[int] = field(default_factory=list)
    _source_at: list[int] = field(default_factory=list)
    _length: int = 0

    @property
    def text(self) -> str:
        """The word as the program would receive it."""
        return "".join(self.parts)

    def add(self, part: str, source_offset: int) -> None:
        """Append decoded text that begins at `source_offset`."""
        if part:
            self._decoded_at.append(self._length)
            self._source_at.append(source_offset)
            self._length += len(part)
            self.parts.append(part)

    def source_offset(self, offset: int) -> int:
        """Return where a character of `text` is in the shell text."""
        piece = bisect_right(self._decoded_at, offset) - 1
        if piece < 0:
            return self.start
        return self._source_at[piece] + offset - self._decoded_at[piece]


def split_commands(text: str) -> Iterator[tuple[Word, ...]]:
    """Yield the commands of a shell text, each as its words; empty ones are left out.

    Raises:
        RequestError: A quote is never closed.
    """
    reader = _ShellReader(text)
    while not reader.at_end:
        words = reader.read_command()
        if words:
            yield words


class _ShellReader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0

    @property
    def at_end(self) -> bool:
        return self._position >= len(self._text)

    def read_command(self) -> tuple[Word, ...]:
        words: list[Word] = []
        while not self.at_end:
            blank = _BLANK.match(self._text, self._position)
            if blank is not None:
                self._position = blank.end()
                continue
            char = self._text[self._position]
            if char == "#":
                self._skip_line()
            elif char in "\n|;&<>":
                self._position += 1
                break
            elif char.isspace():
                self._position += 1
            else:
                words.append(self._read_word())
        return tuple(words)

    def _skip_line(self) -> None:
        end = self._text.find("\n", self._position)
        self._position = len(self._text) if end < 0 else end

    def _read_word(self) -> Word:
        word = Word(self._position)
        while not self.at_end:
            char = self._text[self._position]
            if char.isspace() or char in "|;&<>":
                break
            if char == "'":
                self._read_single(word)
            elif char == '"':
                self._read_double(word)
            elif self._text.startswith("$'", self._position):
                self._read_ansi(word)
            elif char == "\\":
                self._read_escape(word)
            elif char in "$`":
                self._read_expansion(word)
            else:
                self._read_run(word, _UNQUOTED)
        return word

    def _read_run(self, word: Word, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self._text, self._position)
        end = match.end() if match else self._position + 1
        word.add(self._text[self._position : end], self._position)
        self._position = end

    def _read_single(self, word: Word) -> None:
        end = self._text.find("'", self._position + 1)
        if end < 0:
            raise self._unclosed("'", self._position)
        word.add(self._text[self._position + 1 : end], self._position + 1)
        self._position = end + 1

    def _read_double(self, word: Word) -> None:
        opened = self._position
        self._position += 1
        while not self.at_end:
            char = self._text[self._position]
            if char == '"':
                self._position += 1
                return
            if char == "\\":
                self._read_escape(word, only='"\\$`')
            elif char in "$`":
                self._read_expansion(word)
            else:
                self._read_run(word, _DOUBLE_QUOTED)
        raise self._unclosed('"', opened)

    def _read_escape(self, word: Word, *, only: str | None = None) -> None:
        following = self._text[self._position + 1 : self._position + 2]
        newline = _CONTINUED.match(self._text, self._position)
        if newline is not None:
            self._position = newline.end()
        elif not following or (only is not None and following not in only):
            word.add("\\", self._position)
            self._position += 1
        else:
            word.add(following, self._position + 1)
            self._position += 2

    def _read_expansion(self, word: Word) -> None:
        match = _EXPANSION.match(self._text, self._position)
        end = match.end() if match else self._position + 1
        if match is not None:
            word.expansions.append(match[0])
        word.add(self._text[self._position : end], self._position)
        self._position = end

    def _read_ansi(self, word: Word) -> None:
        opened = self._position
        self._position += 2
        while not self.at_end:
            if self._text[self._position] == "'":
                self._position += 1
                return
            escape = _ANSI_ESCAPE.match(self._text, self._position)
            if escape is None:
                self._read_run(word, _ANSI_QUOTED)
            else:
                word.add(_unescape_ansi(escape[0]), self._position)
                self._position = escape.end()
        raise self._unclosed("$'", opened)

    def _unclosed(self, quote: str, offset: int) -> RequestError:
        line, column = line_column(self._text, offset)
        return RequestError(
            f"The shell quote {quote} that opens here is never closed.",
            "Inside '…' an apostrophe ends the quote; write it as '\\'' (quote, backslash, two quotes).",
            line=line,
            column=column,
        )


def _unescape_ansi(escape: str) -> str:
    """Decode what bash calls ANSI-C quoting; runs of bytes are UTF-8, runs of `u` escapes may be surrogate pairs."""
    if _ANSI_BYTE.match(escape):
        octets = [int(match[1], 16) if match[1] else int(match[2], 8) & 0xFF for match in _ANSI_BYTE.finditer(escape)]
        return bytes(octets).decode("utf-8", "replace")
    if _ANSI_UNIT.match(escape):
        points = [min(int(match[1], 16), 0x10FFFF) for match in _ANSI_UNIT.finditer(escape)]
        return "".join(map(chr, points)).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if escape[1] == "c":
        return chr(ord(escape[2]) & 0x1F) if len(escape) == 3 else escape
    return _ANSI_CHARS.get(escape[1], escape[1])
