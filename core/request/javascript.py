"""A pasted JavaScript or TypeScript snippet → the body that its call would send, by reading it; nothing is run.

Read are literals, template strings, names that were given such a value before, members of them, `...spread`,
shorthand keys, texts and lists put together with `+`, and `JSON.stringify(…)`; of a call the object that
`….create({…})`, `….parse({…})`, `….stream({…})` or a `fetch` with a `body` sends.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from prompt_debugger.core.base.errors import RequestError, shorten
from prompt_debugger.core.base.json_values import as_text
from prompt_debugger.core.base.text import line_column
from prompt_debugger.core.base.types import JSON, Api, JSONObject, Notice
from prompt_debugger.core.request.other_bodies import MODEL_LEFT_OUT
from prompt_debugger.core.request.places import Draft, Path, Place, show_path
from prompt_debugger.core.request.servers import Named, base_of_url, named_in_url

_GIVEN = re.compile(r"\b(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::[^=\n]{1,200})?=(?!=)\s*")
_CHANGED = re.compile(r"(?<![\w$])([A-Za-z_$][\w$]*+)\s*+(?:\.(?:push|unshift|splice|concat)\(|\+?=(?!=|>))")


class Names:
    """The names of a snippet.

    >>> names = Names("let a = 1; a += 1; f(a)")
    >>> names.given("a", 20), names.changed("a", 8, 20), names.given("b", 20)
    (8, 11, None)
    """

    def __init__(self, text: str) -> None:
        self._given: dict[str, list[int]] = {}
        self._changed: dict[str, list[int]] = {}
        for found in _GIVEN.finditer(text):
            self._given.setdefault(found[1], []).append(found.end())
        for found in _CHANGED.finditer(text):
            self._changed.setdefault(found[1], []).append(found.start())

    def given(self, name: str, at: int) -> int | None:
        """Return where the value begins that a name was given last, above a place; `None` if it has none there."""
        places = self._given.get(name, [])
        index = bisect_right(places, at)
        return places[index - 1] if index else None

    def changed(self, name: str, start: int, stop: int) -> int | None:
        """Return where a name's value is changed first between two places; `None` if it is not."""
        places = self._changed.get(name, [])
        index = bisect_left(places, start)
        return places[index] if index < len(places) and places[index] < stop else None


MAX_CHARS = 500_000
MAX_DEPTH = 100
MAX_VALUES = 200_000
MAX_REREAD = 2_000_000  # characters of values that are read again where a name stands for them

_CALL = re.compile(
    r"\b(?:chat\s*\.\s*completions|(responses|messages))\s*\.\s*(?:create|parse|stream|runTools)\(\s*(?=\{)"
)
_FETCH = re.compile(r"\b(?:fetch|axios\.post)\(\s*")
_BASE_URL = re.compile(r"\bbaseURL\s*:\s*([\"'`])([^\"'`\n]{1,500})\1")
_BLANK = re.compile(r"(?:\s|\ufeff|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER = re.compile(r"-?(?:\d[\d_]*\.?[\d_]*|\.\d+)(?:[eE][+-]?\d+)?(?![\w$])")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_AS_TYPE = re.compile(r"\s+(?:as|satisfies)\s+(?:const\b|[\w.]+(?:<[\w., ]{1,100}>)?(?:\[\])*)")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"|' + r"'((?:[^'\\\n]|\\.)*)'", re.DOTALL)
_TEMPLATE_TEXT = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|\r?\n|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_MADE_SCHEMA = re.compile(r":\s*([A-Za-z_$][\w$.]*)\([^(){}\n]{0,200}\)")  # zodResponseFormat(Event, "event")
_EXPRESSION = re.compile(r":[^,\n{}]{1,200}(?=[,\n}])")
_WORDS: Mapping[str, JSON] = {"true": True, "false": False, "null": None}
_UNDEFINED = object()


def has_javascript(text: str) -> bool:
    """Return whether a text seems to hold a JavaScript call that sends a request."""
    if _CALL.search(text) is not None:
        return True
    call = _FETCH.search(text)
    return call is not None and (call[0].startswith("axios") or "body" in text)


def read_javascript(text: str) -> Draft:
    """Read the first call of a snippet.

    Raises:
        RequestError: A value in it would have to be computed; says where.
    """
    if len(text) > MAX_CHARS:
        raise RequestError(f"The snippet has {len(text):,} characters; at most {MAX_CHARS:,} of JavaScript are read.")
    reader = _Reader(text)
    call = _CALL.search(text)
    address: str | None = None
    if call is not None:
        value = reader.value(call.end(), ())[0]
        made = _BASE_URL.search(text)
        address = None if made is None else made[2]
    else:
        address, value = _fetched(reader)
    base_url, remarks = (None, ()) if address is None else base_of_url(address)
    notices = (Notice("", "Read from a JavaScript call: the object that it sends."), *reader.notices)
    named = Named() if address is None else named_in_url(address)
    named = named if call is None or not call[1] else Named(Api(call[1]))
    notices = (*notices, *(Notice("", words) for words in remarks))
    return Draft(value, "json", _Locator(text, reader.places), text, base_url, notices, *named)


@dataclass(frozen=True, slots=True)
class _Locator:
    text: str
    places: Mapping[Path, int]

    def __call__(self, paths: Collection[Path]) -> Mapping[Path, Place]:
        known = {path: self.places[path] for path in paths if path in self.places}
        return {path: Place(*line_column(self.text, at)) for path, at in known.items()}


def _fetched(reader: _Reader) -> tuple[str | None, JSON]:
    """Return the address and the body of the first `fetch(url, {body: …})` or `axios.post(url, body)`."""
    text = reader.text
    call = _FETCH.search(text)
    assert call is not None
    address, at = reader.value(call.end(), ("url",))
    at = reader.blank(at)
    if text[at : at + 1] != ",":
        raise reader.error(at, "The call sends no body.")
    start = reader.blank(at + 1)
    if text.startswith("axios", call.start()):
        return as_text(address), reader.value(start, ())[0]
    options = re.compile(r"\bbody\s*:\s*").search(text, start)
    if options is None:
        raise reader.error(start, "The call sends no body.")
    return as_text(address), reader.value(options.end(), (), is_body=True)[0]


@dataclass(slots=True)
class _Reader:
    """Reads expressions of one text, each from its position.

    Attributes:
        places: Position of each value that was read, by its path.
        notices: What was left out.
    """

    text: str
    places: dict[Path, int] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)
    _count: int = 0
    _reread: int = 0
    _names: Names | None = None

    def value(self, at: int, path: Path, depth: int = 0, *, is_body: bool = False) -> tuple[JSON, int]:
        """Return the value of the expression at a position, and where it ends."""
        found, at = self._expression(at, path, depth, is_body=is_body)
        if found is _UNDEFINED:
            return None, at
        return found, at  # type: ignore[return-value]  # the one other value is `_UNDEFINED`

    def blank(self, at: int) -> int:
        """Return the position after whitespace and comments."""
        found = _BLANK.match(self.text, at)
        return at if found is None else found.end()

    def error(self, at: int, message: str, path: Path = ()) -> RequestError:
        """Return the error for a place of the snippet."""
        line, column = line_column(self.text, min(at, len(self.text)))
        hint = "Write the value itself there; the snippet is read, never run."
        return RequestError(message, hint, line=line, column=column, field=show_path(path) or None)

    def _expression(self, at: int, path: Path, depth: int, *, is_body: bool = False) -> tuple[object, int]:
        at = self.blank(at)
        self._count += 1
        if depth > MAX_DEPTH or self._count > MAX_VALUES:
            raise self.error(at, "The snippet's values are too large or nested too deeply.", path)
        self.places.setdefault(path, at)
        left, at = self._operand(at, path, depth, is_body=is_body)
        while True:
            after = self.blank(at)
            if cast := _AS_TYPE.match(self.text, at):
                at = cast.end()
            elif self.text[after : after + 1] == "+" and self.text[after : after + 2] != "++":
                right, at = self._operand(self.blank(after + 1), path, depth + 1)
                left = self._together(left, right, after, path)
            else:
                return left, at

    def _together(self, left: object, right: object, at: int, path: Path) -> JSON:
        if isinstance(left, str) and isinstance(right, str | int) and not isinstance(right, bool):
            return left + str(right)
        raise self.error(at, "The result of this `+` cannot be known without running the snippet.", path)

    def _operand(self, at: int, path: Path, depth: int, *, is_body: bool = False) -> tuple[object, int]:
        char = self.text[at : at + 1]
        if char == "{":
            return self._object(at, path, depth)
        if char == "[":
            return self._list(at, path, depth)
        if char == "(":
            inner, end = self._expression(at + 1, path, depth + 1)
            return inner, self._closed(end, ")", path)
        if char == "`":
            return self._template(at, path, depth)
        if (quoted := _STRING.match(self.text, at)) is not None:
            return _unescaped(quoted[1] if quoted[1] is not None else quoted[2]), quoted.end()
        if (number := _NUMBER.match(self.text, at)) is not None:
            digits = number[0].replace("_", "")
            return (float(digits) if re.search(r"[.eE]", digits) else int(digits)), number.end()
        return self._name(at, path, depth, is_body=is_body)

    def _object(self, at: int, path: Path, depth: int) -> tuple[JSONObject, int]:
        members: JSONObject = {}
        at = self.blank(at + 1)
        while self.text[at : at + 1] != "}":
            if self.text.startswith("...", at):
                spread, at = self._expression(at + 3, path, depth + 1)
                if not isinstance(spread, dict):
                    raise self.error(at, "The value spread here is not an object.", path)
                members |= spread
            else:
                at = self._member(members, at, path, depth)
            at = self._next(at, "}", path)
        return members, at + 1

    def _member(self, members: JSONObject, at: int, path: Path, depth: int) -> int:
        quoted, bare = _STRING.match(self.text, at), _NAME.match(self.text, at)
        key = quoted or bare
        if key is None:
            raise self.error(at, f"A key is expected here, not {shorten(self.text[at : at + 20])}.", path)
        name = bare[0] if quoted is None and bare is not None else _unescaped(key[1] if key[1] is not None else key[2])
        after = self.blank(key.end())
        made = _MADE_SCHEMA.match(self.text, after) if not path and name in ("response_format", "text_format") else None
        if made is not None:
            words = f"The result of `{made[1]}` is not evaluated and was left out of the body."
            self.notices.append(Notice(name, words, *line_column(self.text, after)))
            return made.end()
        if not path and name == "model" and (left_out := self._unread_model(after)) is not None:
            return left_out
        if self.text[after : after + 1] == ":":
            value, end = self._expression(after + 1, (*path, name), depth + 1)
        elif quoted is None:
            value, end = self._expression(at, (*path, name), depth + 1)
        else:
            raise self.error(after, f"A `:` is missing after the key {shorten(name)}.", path)
        if value is not _UNDEFINED:
            members[name] = value  # type: ignore[assignment]  # the one other value is `_UNDEFINED`
        return end

    def _unread_model(self, at: int) -> int | None:
        """Return the end of a model's name that is not written there, such as `: process.env.MODEL`; say so."""
        unread = _EXPRESSION.match(self.text, at)
        if unread is None:
            return None
        try:
            self._expression(at + 1, ("model",), 1)
        except RequestError:
            self.notices.append(Notice("model", MODEL_LEFT_OUT, *line_column(self.text, at + 1)))
            return unread.end()
        return None

    def _list(self, at: int, path: Path, depth: int) -> tuple[list[JSON], int]:
        items: list[JSON] = []
        at = self.blank(at + 1)
        while self.text[at : at + 1] != "]":
            if self.text.startswith("...", at):
                spread, at = self.value(at + 3, (*path, len(items)), depth + 1)
                if not isinstance(spread, list):
                    raise self.error(at, "The value spread here is not a list.", path)
                items += spread
            else:
                item, at = self.value(at, (*path, len(items)), depth + 1)
                items.append(item)
            at = self._next(at, "]", path)
        return items, at + 1

    def _next(self, at: int, end: str, path: Path) -> int:
        """Return the position of the next member, or of the bracket that closes."""
        at = self.blank(at)
        if self.text[at : at + 1] == ",":
            return self.blank(at + 1)
        if self.text[at : at + 1] != end:
            raise self.error(at, f"`,` or `{end}` is expected here, not {shorten(self.text[at : at + 20])}.", path)
        return at

    def _closed(self, at: int, end: str, path: Path) -> int:
        at = self.blank(at)
        if self.text[at : at + 1] != end:
            raise self.error(at, f"What precedes {shorten(self.text[at : at + 20])} could not be read.", path)
        return at + 1

    def _template(self, at: int, path: Path, depth: int) -> tuple[str, int]:
        parts: list[str] = []
        at += 1
        while True:
            plain = _TEMPLATE_TEXT.match(self.text, at)
            assert plain is not None
            parts.append(_unescaped(plain[0]))
            at = plain.end()
            if self.text[at : at + 1] == "`":
                return "".join(parts), at + 1
            if not self.text.startswith("${", at):
                raise self.error(at, "The template string is never closed.", path)
            value, end = self._expression(at + 2, path, depth + 1)
            if not isinstance(value, str | int | float) or isinstance(value, bool):
                raise self.error(at, "The text of this `${…}` cannot be known without running it.", path)
            parts.append(str(value))
            at = self._closed(end, "}", path)

    def _name(self, at: int, path: Path, depth: int, *, is_body: bool = False) -> tuple[object, int]:
        name = _NAME.match(self.text, at)
        if name is None:
            raise self.error(at, f"A value is expected here, not {shorten(self.text[at : at + 20])}.", path)
        if name[0] in _WORDS:
            return _WORDS[name[0]], name.end()
        if name[0] == "undefined":
            return _UNDEFINED, name.end()
        if self.text.startswith("JSON.stringify(", at):
            return self._stringified(at, path, depth, is_body=is_body)
        value = self._given(name[0], at, path, depth)
        end = name.end()
        while (member := re.compile(r"\??\.([A-Za-z_$][\w$]*)(?!\s*\()").match(self.text, end)) is not None:
            if not isinstance(value, dict) or member[1] not in value:
                raise self.error(at, f"The value of {shorten(self.text[at : member.end()], 60)} is unknown.", path)
            value, end = value[member[1]], member.end()
        if self.text[self.blank(end) : self.blank(end) + 1] in ("(", "[", ".", "?"):
            raise self.error(at, f"The value of {shorten(self.text[at : end + 1], 60)}… has to be computed.", path)
        return value, end

    def _given(self, name: str, at: int, path: Path, depth: int) -> object:
        """Return the value that a name was given last, above the place where it is used."""
        if name in self._open:
            raise self.error(at, f"`{name}` is given without a value.", path)
        self._names = self._names or Names(self.text)
        start = self._names.given(name, at)
        if start is None:
            raise self.error(at, f"The snippet assigns no readable value to `{shorten(name, 80)}`.", path)
        if (changed := self._names.changed(name, start, at)) is not None:
            raise self.error(changed, f"`{name}` is modified here; its later value is unknown.", path)
        self._open.append(name)
        try:
            value, end = self._expression(start, path, depth + 1)
        finally:
            self._open.pop()
        self._reread += end - start
        if self._reread > MAX_REREAD:
            raise self.error(at, "The snippet's values are too large.", path)
        return value

    def _stringified(self, at: int, path: Path, depth: int, *, is_body: bool) -> tuple[object, int]:
        value, end = self._expression(at + len("JSON.stringify("), path, depth + 1)
        end = self._closed(end, ")", path)
        if is_body:
            return value, end
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")), end


def _unescaped(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        code = found[1] or found[2] or found[3]
        if code is not None:
            return chr(min(int(code, 16), 0x10FFFF))
        return _ESCAPED.get(found[4] or "", found[4] or "")

    shown = _ESCAPE.sub(plain, text)
    return shown.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
