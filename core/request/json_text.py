"""JSON as people paste it: read with positions, small slips repaired and reported.

Strict JSON is read as it is. Repaired, each with a notice: trailing commas,
comments (`//`, `#`, `/* */`), single and typographic quotes, bare keys, `True`,
`False`, `None`, what Python prints of dates and objects, raw line breaks in strings.
Read and reported: `NaN`, `Infinity`, numbers that overflow, keys that occur twice (the last one counts, as in
Python's `json`). Anything else is an error with line, column and field.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection

from prompt_debugger.core.base.errors import RequestError, shorten
from prompt_debugger.core.base.text import line_column
from prompt_debugger.core.base.types import JSON, JSONObject, Notice
from prompt_debugger.core.request.places import Path, Place, show_path

MAX_DEPTH = 100
MAX_NOTICES = 50

_BLANK = re.compile(r"[\s\ufeff\u200b]*")
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?(?![\w.])", re.ASCII)
_WORD = re.compile(r"-?[A-Za-z_$][\w$]*")
_STRINGS = {
    '"': re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL),
    "'": re.compile(r"'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL),
    # An editor may have changed only the first of a pair.
    "“": re.compile(r"“((?=[^”\"\\\n]*\"\s*[,:}\]])[^”\"\\\n]*(?=\")|[^”\\]*(?:\\.[^”\\]*)*(?=”))[”\"]", re.DOTALL),
    "”": re.compile(r"”([^”\\]*(?:\\.[^”\\]*)*)”", re.DOTALL),
    "‘": re.compile(r"‘([^’\\]*(?:\\.[^’\\]*)*)’", re.DOTALL),
}
_CONTROL = re.compile(r"[\x00-\x1f]")
_BARE_QUOTE = re.compile(r'\\(.)|"', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS: dict[str, JSON] = {"true": True, "false": False, "null": None}
_PYTHON_WORDS: dict[str, JSON] = {"True": True, "False": False, "None": None}
# Dates, objects and members of enums as Python prints them: `datetime.date(2026, 1, 2)`, `<Kind.A: 'a'>`, `<Image …>`.
_PRINTED = re.compile(
    r"(?:(?:datetime|decimal|uuid|numpy|np|pathlib|torch)\.[\w.]{1,60}|UUID|[A-Z][a-z]\w{1,60})"
    r"\((?:[^()'\"]|'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")*+\)"
    r"|<[A-Z]\w{0,60}\.\w{1,60}: '(?P<member>[^'\n<>]{0,100})'>|<(?:[A-Za-z_]\w{0,60}\.){1,8}\w{1,60} [^<>\n]{1,200}>"
)
_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

_MENDED = {
    "comma": "A comma before the closing bracket was left out; JSON does not allow it.",
    "comment": "A comment was left out; JSON has none.",
    "quotes": 'Typographic quotes were read as `"`, the only ones that JSON allows.',
    "single": 'Single quotes were read as `"`, the only ones that JSON allows.',
    "key": "A key without quotes was read as if it were quoted.",
    "python": "Python's `True`, `False` or `None` was read as JSON's `true`, `false` or `null`.",
    "control": "A raw line break or control character inside a string was kept; JSON requires it to be escaped.",
    "float": "`NaN` and `Infinity` are not valid JSON; vLLM reads them, other servers refuse them.",
    "printed": "What Python printed of a value that JSON has no form for was read as a string.",
    "overflow": "This number is too large for a float and becomes `Infinity`.",
}


class JsonText:
    """Reads one JSON value from a text, position by position.

    Attributes:
        notices: Repairs so far, at most one per kind and line.
        python_like: True once something was repaired that is correct in Python.
        is_bad_json: True after an error that Python would let pass silently.
    """

    def __init__(self, text: str, *, wanted: Collection[Path] = ()) -> None:
        self.notices: list[Notice] = []
        self.python_like = False
        self.is_bad_json = False
        self.found: dict[Path, int] = {}
        self._text = text
        self._wanted = frozenset(wanted)
        self._wanted_ends = frozenset(path[-1:] for path in wanted)
        self._position = 0
        self._path: list[str | int] = []
        self._noted: set[str] = set()

    def read(self) -> JSON:
        """Return the value of the whole text.

        Raises:
            RequestError: The text is not JSON, nor nearly JSON.
        """
        plain = None if self._wanted else _read_plain(self._text)
        if plain is not None:
            return plain
        value = self._read_value()
        self._skip_blank()
        if self._position < len(self._text):
            raise self._error(
                f"Text follows the end of the JSON: {shorten(self._text[self._position :][:60], 40)}.",
                "Paste only one JSON value.",
            )
        return value

    def _read_value(self) -> JSON:
        self._skip_blank()
        if tuple(self._path[-1:]) in self._wanted_ends and (path := tuple(self._path)) in self._wanted:
            self.found[path] = self._position
        char = self._text[self._position : self._position + 1]
        if char == "{":
            return self._read_object()
        if char == "[":
            return self._read_array()
        if char in _STRINGS:
            return self._read_string(char)
        return self._read_scalar()

    def _read_object(self) -> dict[str, JSON]:
        opened = self._open()
        members: dict[str, JSON] = {}
        while not self._closes("}", opened, first=not members):
            key_at = self._position
            key = self._read_key()
            self._skip_blank()
            if self._text[self._position : self._position + 1] != ":":
                is_half = self._text.startswith('"', self._position) and self._text[key_at] != '"'
                missing = "A quotation mark is missing before" if is_half else "A `:` is missing after"
                raise self._error(f"{missing} the key {shorten(key)}.", opened=opened)
            self._position += 1
            self._path.append(key)
            if key in members:
                path = show_path(self._path)
                self._note(f"twice {path}", f"`{path}` occurs twice; the last one is used.", key_at)
            members[key] = self._read_value()
            self._path.pop()
        return members

    def _read_array(self) -> list[JSON]:
        opened = self._open()
        items: list[JSON] = []
        while not self._closes("]", opened, first=not items):
            self._path.append(len(items))
            items.append(self._read_value())
            self._path.pop()
        return items

    def _open(self) -> int:
        opened = self._position
        if len(self._path) >= MAX_DEPTH:
            raise self._error(f"Values are nested more than {MAX_DEPTH} deep.", "No server accepts this.")
        self._position += 1
        return opened

    def _closes(self, bracket: str, opened: int, *, first: bool) -> bool:
        """Step over a comma or the closing bracket; True at the bracket."""
        self._skip_blank()
        char = self._text[self._position : self._position + 1]
        comma_at = self._position
        if char == "," and not first:
            self._position += 1
            self._skip_blank()
            char = self._text[self._position : self._position + 1]
            if char == bracket:
                self._repair("comma", comma_at)
        elif not first and char and char != bracket:
            raise self._error(f"A `,` or `{bracket}` is missing here, before {shorten(char)}.", opened=opened)
        if not char:
            raise self._error(f"The text ends before the closing `{bracket}`.", opened=opened)
        if char == bracket:
            self._position += 1
            return True
        return False

    def _read_key(self) -> str:
        char = self._text[self._position : self._position + 1]
        if char in _STRINGS:
            return self._read_string(char)
        word = _WORD.match(self._text, self._position)
        if word is None or word[0].startswith("-"):
            if char == "\u2026" or self._text.startswith("...", self._position):
                raise self._error(
                    "Something was left out of the JSON at `...`.", "Paste all of it, or take the shortened field out."
                )
            raise self._error(f"A key in double quotes is expected here, not {shorten(char)}.")
        self._repair("key", self._position)
        self._position = word.end()
        return word[0]

    def _read_string(self, quote: str) -> str:
        start = self._position
        match = _STRINGS[quote].match(self._text, start)
        if match is None:
            raise self._error("The string that begins here has no closing quote.")
        inner = match[1]
        if quote != '"':
            self._repair("single" if quote == "'" else "quotes", start)
            self.python_like |= quote == "'"
            inner = _BARE_QUOTE.sub(_escape_quote, inner)
        if _CONTROL.search(inner):
            self._repair("control", start)
        if "\\" in inner:
            inner = self._unescape(inner, start)
        if _SURROGATE.search(inner):
            raise self._error("This string contains an unpaired surrogate.")
        self._position = match.end()
        return inner

    def _unescape(self, inner: str, start: int) -> str:
        try:
            return str(json.loads(f'"{inner}"', strict=False))
        except json.JSONDecodeError as error:
            self._position = min(start + error.pos, len(self._text))
            self.is_bad_json = not self.python_like
            raise self._error(
                "This backslash escape does not exist in JSON.", "Write `\\\\` for a backslash."
            ) from None

    def _read_scalar(self) -> JSON:
        start = self._position
        number = _NUMBER.match(self._text, start)
        if number is not None:
            self._position = number.end()
            return self._number(number[0], is_whole=number[1] is None and number[2] is None, start=start)
        word = _WORD.match(self._text, start)
        name = word[0] if word else ""
        if word is None or name not in _WORDS | _PYTHON_WORDS | _FLOATS:
            if start >= len(self._text):
                raise self._error("The text ends where a value is expected.")
            if (printed := self._printed(start)) is not None:
                return printed
            shown = name or self._text[start : start + 20].split("\n")[0]
            if shown.startswith(("...", "\u2026")):
                raise self._error(
                    "Something was left out of the JSON at `...`.", "Paste all of it, or take the shortened field out."
                )
            raise self._error(f"A JSON value is expected here, not {shorten(shown, 40)}.")
        self._position = word.end()
        if name in _FLOATS:
            self._repair("float", start)
            return _FLOATS[name]
        if name in _PYTHON_WORDS:
            self._repair("python", start)
            self.python_like = True
        return (_WORDS | _PYTHON_WORDS)[name]

    def _printed(self, start: int) -> str | None:
        """Read what Python prints of a value that JSON has no form for, as its text; `None` of anything else."""
        found = _PRINTED.match(self._text, start) if self.python_like else None
        if found is None:
            return None
        self._repair("printed", start)
        self._position = found.end()
        return found["member"] or found[0]

    def _number(self, digits: str, *, is_whole: bool, start: int) -> int | float:
        if is_whole:
            try:
                return int(digits)
            except ValueError:
                self._position = start
                raise self._error(f"This number has {len(digits)} digits.", "No server accepts this number.") from None
        value = float(digits)
        if math.isinf(value):
            self._repair("overflow", start)
        return value

    def _skip_blank(self) -> None:
        while True:
            blank = _BLANK.match(self._text, self._position)
            self._position = blank.end() if blank else self._position
            comment = _COMMENT.match(self._text, self._position)
            if comment is None:
                return
            self._repair("comment", self._position)
            self.python_like |= comment[0].startswith("#")
            self._position = comment.end()

    def _repair(self, kind: str, offset: int) -> None:
        self._note(kind, _MENDED[kind], offset)

    def _note(self, kind: str, message: str, offset: int) -> None:
        """Note something once per kind; the first place is the telling one."""
        if kind in self._noted or len(self.notices) >= MAX_NOTICES:
            return
        self._noted.add(kind)
        self.notices.append(Notice(show_path(self._path), message, *line_column(self._text, offset)))

    def _error(self, message: str, hint: str = "", *, opened: int | None = None) -> RequestError:
        if opened is not None:
            line, column = line_column(self._text, opened)
            hint = f"The bracket was opened at line {line}, column {column}."
        line, column = line_column(self._text, self._position)
        return RequestError(message, hint, line=line, column=column, field=show_path(self._path) or None)


def locate_in_json(text: str, paths: Collection[Path]) -> dict[Path, Place]:
    """Return where the values at `paths` begin; paths that are not there are left out."""
    reader = JsonText(text, wanted=paths)
    reader.read()
    return {path: Place(*line_column(text, offset)) for path, offset in reader.found.items()}


def _read_plain(text: str) -> JSON:
    """Return the value if Python's own, far faster reader finds nothing that has to be reported; else `None`."""
    if "\\u" in text:
        return None  # may be half of a surrogate pair
    try:
        value: JSON = json.loads(text, object_pairs_hook=_unique, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            child
            for item in level
            if isinstance(item, (dict, list))
            for child in (item.values() if isinstance(item, dict) else item)
        ]
    return None if level else value


def _unique(pairs: list[tuple[str, JSON]]) -> JSONObject:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError
    return members


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError
    return value


def _escape_quote(match: re.Match[str]) -> str:
    if match[1] == "'":
        return "'"
    return '\\"' if match[0] == '"' else match[0]
