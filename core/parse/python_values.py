"""Read Python literals that a model wrote, without evaluating anything.

Strings in any quotes, numbers, `True`/`true`, `None`/`null`, lists, tuples,
sets, dicts. Line breaks inside ordinary strings are tolerated, as models write them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.parse.scan import skip_space

_MAX_DEPTH = 100
_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_WORDS: dict[str, JSON] = {"True": True, "true": True, "False": False, "false": False, "None": None, "null": None}
_STRING_START = re.compile(r"[bBrRuU]{0,2}('''|\"\"\"|'|\")")
_ESCAPE = re.compile(r"\\(?:(\n)|([\\'\"abfnrtv])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3}))")
_SIMPLE = {
    "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip
_ARGUMENT_END = r"(?=\s*(?:,\s*[A-Za-z_]\w*\s*=(?!=)|,?\s*\)\s*(?:\]|,\s*[A-Za-z_][\w.\-]*\s*\(|\Z)))"
_CLOSING = {"[": "]", "(": ")", "{": "}"}


@dataclass(frozen=True, slots=True)
class PythonValue:
    """One literal as it occurs in a text.

    Attributes:
        value: Decoded, as JSON.
        stop: The end of its last character, or where it breaks.
        problem: What is wrong; `None` if it is complete.
        is_cut: Whether the text ended inside it.
    """

    value: JSON
    stop: int
    problem: str | None = None
    is_cut: bool = False


def read_python_value(text: str, start: int, stop: int) -> PythonValue:
    """Read the literal at `start`, not looking past `stop`; never raises."""
    return _Reader(text, stop).value(start, 0)


def read_loose_string(text: str, start: int, stop: int) -> PythonValue | None:
    """Read a string that contains its own quotation mark unescaped: it ends where an argument can end.

    Returns:
        The string; `None` if none begins there, or none of its quotation marks is followed
        by `)` and the end of a call, or by a comma and another argument.
    """
    opening = _STRING_START.match(text, start, stop)
    if opening is None:
        return None
    end = re.compile(re.escape(opening.group(1)) + _ARGUMENT_END).search(text, opening.end(), stop)
    if end is None:
        return None
    return PythonValue(_ESCAPE.sub(_unescape, text[opening.end() : end.start()]), end.start() + len(opening.group(1)))


class _Reader:
    def __init__(self, text: str, stop: int) -> None:
        self._text = text
        self._stop = stop

    def value(self, start: int, depth: int) -> PythonValue:
        """Read one value at nesting depth `depth`."""
        text = self._text
        start = skip_space(text, start, self._stop)
        if start >= self._stop:
            return self._cut()
        if depth > _MAX_DEPTH:
            return PythonValue(None, start, "nested too deeply")
        if (opening := _STRING_START.match(text, start, self._stop)) is not None:
            return self._string(opening)
        if text[start] in _CLOSING:
            return self._container(start, depth)
        if (number := _NUMBER.match(text, start, self._stop)) is not None:
            return self._number(number)
        word = _WORD.match(text, start, self._stop)
        if word is not None and word.group() in _WORDS:
            return PythonValue(_WORDS[word.group()], word.end())
        if word is not None and word.end() == self._stop:
            return self._cut()
        return PythonValue(None, start, f"no literal at {text[start : start + 20]!r}")

    def _cut(self) -> PythonValue:
        return PythonValue(None, self._stop, "cut inside a value", is_cut=True)

    def _string(self, opening: re.Match[str]) -> PythonValue:
        quotes = opening.group(1)
        begin = position = opening.end()
        while (found := self._text.find(quotes, position, self._stop)) != -1 and self._is_escaped(begin, found):
            position = found + 1
        if found == -1:
            return PythonValue(None, self._stop, "cut inside a string", is_cut=True)
        written = self._text[begin:found]
        is_raw = "r" in opening.group().lower().partition(quotes)[0]
        return PythonValue(written if is_raw else _ESCAPE.sub(_unescape, written), found + len(quotes))

    def _is_escaped(self, begin: int, position: int) -> bool:
        start = position
        while start > begin and self._text[start - 1] == "\\":
            start -= 1
        return (position - start) % 2 == 1

    def _number(self, match: re.Match[str]) -> PythonValue:
        written = match.group().replace("_", "")
        try:
            if "x" in written.lower():
                return PythonValue(int(written, 16), match.end())
            is_float = any(char in written for char in ".eE")
            return PythonValue(float(written) if is_float else int(written), match.end())
        except ValueError:
            return PythonValue(None, match.start(), f"no number: {written[:20]!r}")

    def _container(self, start: int, depth: int) -> PythonValue:
        closing = _CLOSING[self._text[start]]
        items: list[JSON] = []
        members: dict[str, JSON] = {}
        is_dict = closing == "}" and not self._is_set(start)
        position = skip_space(self._text, start + 1, self._stop)
        while position < self._stop and self._text[position] != closing:
            if is_dict and self._text[position] in "{[":
                return PythonValue(None, position, "a key is missing")
            item = self.value(position, depth + 1)
            if item.problem is None and is_dict:
                item = self._member(item, members, depth)
            if item.problem is not None:
                return PythonValue(None, item.stop, item.problem, item.is_cut)
            items.append(item.value)
            position = skip_space(self._text, item.stop, self._stop)
            if position < self._stop and self._text[position] == ",":
                position = skip_space(self._text, position + 1, self._stop)
            elif position < self._stop and self._text[position] != closing:
                return PythonValue(None, position, f"{closing!r} or a comma is missing")
        if position >= self._stop:
            return self._cut()
        return PythonValue(members if is_dict else items, position + 1)

    def _is_set(self, start: int) -> bool:
        """Return whether braces hold values without keys; a set is read as a list."""
        first = skip_space(self._text, start + 1, self._stop)
        opening = _STRING_START.match(self._text, first, self._stop)
        item = None if opening is None else self._string(opening)
        after = self._stop if item is None else skip_space(self._text, item.stop, self._stop)
        return item is not None and item.problem is None and self._text[after : after + 1] in (",", "}")

    def _member(self, key: PythonValue, members: dict[str, JSON], depth: int) -> PythonValue:
        colon = skip_space(self._text, key.stop, self._stop)
        if colon >= self._stop:
            return self._cut()
        if self._text[colon] != ":":
            return PythonValue(None, colon, "a colon is missing")
        value = self.value(colon + 1, depth + 1)
        if value.problem is None:
            members[key.value if isinstance(key.value, str) else str(key.value)] = value.value
        return value


def _unescape(match: re.Match[str]) -> str:
    line_break, simple, two, four, eight, octal = match.groups()
    if line_break:
        return ""
    if simple:
        return _SIMPLE[simple]
    if octal:
        return chr(int(octal, 8))
    code = int(two or four or eight, 16)
    return chr(code) if code <= 0x10FFFF else match.group()
