"""What Python prints of its values → JSON values. Read with its own scanner; nothing is ever evaluated.

Understood are literals (`None`, `'a' 'b'`, JavaScript's `'a' + 'b'`, tuples, sets), calls of classes with keywords
(`Choice(index=0, …)`), which become objects, members of enums (`<Reason.STOP: 'STOP'>`), and fields without a class
(`content='' id=None`), as pydantic prints them. A text that ends early is read as far as it goes.

An object that was a call has its class under `CLASS`, its unnamed values under `ARGUMENTS`, and `CUT`
where the text ended inside of it; `plain` takes these out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from prompt_debugger.core.base.types import JSON, JSONObject

CLASS, ARGUMENTS, CUT = "$class", "$arguments", "$cut"
MAX_DEPTH = 80
MAX_DIGITS = 300
_MAX_OBJECTS = 5_000
_MAX_READ = 4  # times the text: objects that are never closed are each read to its end

_SPACE = re.compile(r"(?:\s|\\\n)*+")
_JOINT = re.compile(r"(?:\s|\\\n)*+(?:\+\s*+(?=['\"]))?+")  # between two parts of a text, `+` as JavaScript prints it
_NAME = re.compile(r"[A-Za-z_][\w.]*+")
_FIELD = re.compile(r"([A-Za-z_]\w*+)[ \t]*+=(?!=)")
_NUMBER = re.compile(r"[-+]?(?:0x[0-9a-fA-F]++|\d[\d_]*+(?:\.\d*+)?(?:[eE][-+]?\d++)?|\.\d++|inf\b|nan\b)")
_STRING = re.compile(
    r"""[rRbBuUfF]{0,2}+(?:'''(?P<a>(?:[^'\\]|\\.|'(?!''))*+)'''|\"""(?P<b>(?:[^"\\]|\\.|"(?!""))*+)\"""
    |'(?P<c>[^'\\]*+(?:\\.[^'\\]*+)*+)'|"(?P<d>[^"\\]*+(?:\\.[^"\\]*+)*+)")""",
    re.DOTALL | re.VERBOSE,
)
_BLANK_LINE = re.compile(r"\n[ \t]*+\n")
_STRING_START = re.compile(r"[rRbBuUfF]{0,2}+['\"]")
_ANGLE = re.compile(r"<(?P<what>[^<>\n]{1,200})>")
_MEMBER = re.compile(r"[\w.]+: (?P<value>'[^'\n]{0,100}'|-?\d{1,18})\Z")
_NEWLINE = re.compile("\n")
_ELLIPSIS = re.compile(r"\.\.\.|…")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|\n|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": "", "/": "/"}
_CLOSERS = {"[": "]", "(": ")", "{": "}"}
_OF_OTHER_TEXT = "@/#$~!%&"  # what follows a word of another text, such as a shell's prompt, and no name of a value
_WORDS: dict[str, JSON] = {"None": None, "True": True, "False": False, "null": None, "true": True, "false": False}


class Printed(NamedTuple):
    """A value that was read.

    Attributes:
        value: With `CLASS` and `CUT` in it.
        stop: Where it ends in the text.
        is_cut: Whether the text ended, or turned into something else, inside it.
    """

    value: JSON
    stop: int
    is_cut: bool


def read_printed(text: str, start: int = 0) -> Printed | None:
    """Return the value that is printed at a place; `None` if none begins there."""
    scanner = _Scanner(text, start)
    try:
        value = scanner.value(0)
    except _UnreadableError:
        return None
    return Printed(value, scanner.at, scanner.is_cut)


def read_fields(text: str) -> Printed | None:
    """Return the fields that a text begins with, one after the other, without a class around them."""
    scanner = _Scanner(text, 0)
    members = scanner.fields()
    return Printed(members, scanner.at, scanner.is_cut) if members else None


def printed_objects(text: str, start: re.Pattern[str]) -> Iterator[JSONObject]:
    """Yield the objects that a text prints, in order, each where a pattern finds its beginning; none within another."""
    at, left = 0, _MAX_READ * len(text)
    for _ in range(_MAX_OBJECTS):
        found = start.search(text, at) if left > 0 else None
        read = None if found is None else read_printed(text, found.start())
        if found is None or read is None or not isinstance(read.value, dict):
            return
        left -= read.stop - found.start()
        at = max(read.stop, found.end())
        yield read.value


def plain(value: JSON) -> JSON:
    """Return a value without what was put in for classes and cuts."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items() if name not in (CLASS, ARGUMENTS, CUT)}
    return [plain(item) for item in value] if isinstance(value, list) else value


class _UnreadableError(Exception):
    """No value begins here; never leaves this module."""


class _Scanner:
    """Reads from left to right, each character once.

    Attributes:
        at: How far it is.
        is_cut: Whether a value did not end as it should; nothing is read after that.
    """

    def __init__(self, text: str, start: int) -> None:
        self.at = start
        self.is_cut = False
        self._text = text
        self._width = 0  # of the longest line, once it is asked for

    def value(self, depth: int) -> JSON:
        """Read one value."""
        self._skip()
        text, at = self._text, self.at
        if at >= len(text) or depth > MAX_DEPTH:
            return self._cut()
        if text[at] in _CLOSERS:
            return self._dict(depth) if text[at] == "{" else self._items(depth)
        if _STRING_START.match(text, at):
            return self._string()
        if found := _ELLIPSIS.match(text, at):
            self.at = found.end()
            return None
        if found := _ANGLE.match(text, at):
            self.at = found.end()
            return _member(found["what"])
        if found := _NUMBER.match(text, at):
            self.at = found.end()
            return _number(found[0])
        if found := _NAME.match(text, at):
            self.at = found.end()
            return self._named(found[0], depth)
        raise _UnreadableError

    def fields(self) -> JSONObject:
        """Read consecutive fields, with or without commas between them."""
        members: JSONObject = {}
        while not self.is_cut:
            self._skip()
            found = _FIELD.match(self._text, self.at)
            if found is None:
                break
            self.at = found.end()
            self._member(members, found[1], 0)
            self._skip()
            if self._text.startswith(",", self.at):
                self.at += 1
        return members

    def _skip(self) -> None:
        found = _SPACE.match(self._text, self.at)
        self.at = self.at if found is None else found.end()

    def _cut(self) -> JSON:
        self.is_cut = True
        return None

    def _member(self, members: JSONObject, name: str, depth: int) -> None:
        """Read the value of a field; one that is broken off is left out, but for what is complete in it."""
        value = self._inner(depth)
        if not self.is_cut:
            members[name] = value
            return
        members[CUT] = True
        if isinstance(value, dict | list):
            members[name] = value

    def _inner(self, depth: int) -> JSON:
        try:
            return self.value(depth + 1)
        except _UnreadableError:
            return self._cut()

    def _named(self, name: str, depth: int) -> JSON:
        if name in _WORDS:
            return _WORDS[name]
        if depth > 0 and (self.at >= len(self._text) or self._text[self.at] in _OF_OTHER_TEXT):
            return self._cut()
        if not self._text.startswith("(", self.at):
            return name.rpartition(".")[2]
        self.at += 1
        members: JSONObject = {CLASS: name.rpartition(".")[2]}
        arguments: list[JSON] = []
        while self._goes_on(")"):
            found = _FIELD.match(self._text, self.at)
            if found is not None:
                self.at = found.end()
                self._member(members, found[1], depth)
            else:
                value = self._inner(depth)
                if not self.is_cut:
                    arguments.append(value)
        if arguments:
            members[ARGUMENTS] = arguments
        if self.is_cut:
            members[CUT] = True
        return members

    def _goes_on(self, closer: str) -> bool:
        """Step over a comma and any sign of omission; return whether another member follows."""
        while not self.is_cut:
            self._skip()
            if self._text.startswith(closer, self.at):
                self.at += 1
                return False
            if self._text.startswith(",", self.at):
                self.at += 1
            elif found := _ELLIPSIS.match(self._text, self.at):
                self.at = found.end()
            elif self.at >= len(self._text):
                self._cut()
            else:
                return True
        return False

    def _items(self, depth: int) -> JSON:
        closer = _CLOSERS[self._text[self.at]]
        self.at += 1
        items: list[JSON] = []
        while self._goes_on(closer):
            value = self._inner(depth)
            if not self.is_cut or isinstance(value, dict):
                items.append(value)
        return items

    def _dict(self, depth: int) -> JSON:
        self.at += 1
        members: JSONObject = {}
        items: list[JSON] = []
        while self._goes_on("}"):
            key = self._inner(depth)
            if self.is_cut:
                break
            self._skip()
            if self._text.startswith(":", self.at):
                self.at += 1
                self._member(members, key if isinstance(key, str) else json.dumps(plain(key)), depth)
            else:
                items.append(key)
        if self.is_cut:
            members[CUT] = True
        return items if items and not members else members

    def _string(self) -> JSON:
        parts: list[str] = []
        while found := _STRING.match(self._text, self.at):
            if found["a"] is None and found["b"] is None and _BLANK_LINE.search(found[0]):
                break  # what is below a blank line is another text, in which a quotation mark closed it
            parts.append(_text(found if "\n" not in found[0] else self._unwrapped(found)))
            self.at = found.end()
            after = _JOINT.match(self._text, self.at)
            if after is None or not _STRING_START.match(self._text, after.end()):
                return "".join(parts)
            self.at = after.end()
        self.at = len(self._text)  # the string is never closed
        return self._cut()

    def _unwrapped(self, found: re.Match[str]) -> re.Match[str]:
        """Return a string without a terminal's breaks: between single quotes Python prints none."""
        if found["a"] is not None or found["b"] is not None:
            return found
        if self._width == 0:  # of its own paragraph
            start, stop = self._text.rfind("\n\n", 0, found.start()) + 1, self._text.find("\n\n", found.end())
            self._width = max(map(len, self._text[start : stop if stop >= 0 else None].split("\n")))
        kept: list[str] = []
        at = found.start()
        for place in _NEWLINE.finditer(self._text, found.start(), found.end()):
            is_full = place.start() - self._text.rfind("\n", 0, place.start()) - 1 == self._width
            kept += [self._text[at : place.start()], "" if is_full else " "]
            at = place.end()
        joined = _STRING.fullmatch("".join([*kept, self._text[at : found.end()]]))
        return found if joined is None else joined


def _text(found: re.Match[str]) -> str:
    body = next((part for part in found.groups() if part is not None), "")
    prefix = found[0][:2].lower()
    if "r" in prefix.partition("'")[0].partition('"')[0]:
        return body
    text = _ESCAPE.sub(_unescaped, body)
    if prefix.startswith(("b'", 'b"')) and all(ord(letter) < 256 for letter in text):
        return text.encode("latin-1").decode("utf-8", "replace")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 else "\ufffd"
    if code[0] in "01234567":
        return chr(int(code, 8))
    return _SIMPLE.get(code, code if code in "\\'\"" else found[0])


def _number(digits: str) -> JSON:
    digits = digits.replace("_", "")
    if digits.lower().lstrip("+-").startswith("0x"):
        return int(digits[:MAX_DIGITS], 16)
    if digits.lstrip("+-").isdecimal():
        return int(digits) if len(digits) <= MAX_DIGITS else None
    value = float(digits)
    return value if abs(value) < float("inf") else None


def _member(member: str) -> JSON:
    """Return the value of a member of an enum; `None` of another thing that prints in angles."""
    found = _MEMBER.match(member)
    if found is None:
        return None
    return found["value"][1:-1] if found["value"].startswith("'") else int(found["value"])
