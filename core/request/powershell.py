"""A pasted `Invoke-RestMethod` of PowerShell → the body it would send, by reading it; nothing is run.

The body is a text in quotes or a here-string, a variable that was given one, or a hash table that goes through
`ConvertTo-Json`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from prompt_debugger.core.base.errors import RequestError, shorten
from prompt_debugger.core.base.text import line_column
from prompt_debugger.core.base.types import JSON, JSONObject, Notice
from prompt_debugger.core.request.json_text import JsonText
from prompt_debugger.core.request.places import Draft
from prompt_debugger.core.request.servers import Named, base_of_url, named_in_url

MAX_DEPTH = 100

_CALL = re.compile(r"\b(?:Invoke-RestMethod|Invoke-WebRequest|irm|iwr)\b", re.IGNORECASE)
_ADDRESS = re.compile(r"""["']?(https?://[^\s"'`)]{1,500})["']?""", re.IGNORECASE)
_BODY = re.compile(r"-Body\s+", re.IGNORECASE)
_BLANK = re.compile(r"(?:\s|`\r?\n|#[^\n]*|<#.*?#>)*", re.DOTALL)
_HERE = re.compile(r"@(['\"])[ \t]*\r?\n(.*?)\r?\n\1@", re.DOTALL)
_PLAIN = re.compile(r"'((?:[^']|'')*)'")
_QUOTED = re.compile(r'"((?:[^"`]|`.|"")*)"', re.DOTALL)
_ESCAPE = re.compile(r'`(.)|""', re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_VARIABLE = re.compile(r"\$(?:\{([\w ]{1,80})\}|(\w{1,80}))")
_KEY = re.compile(r"[A-Za-z_]\w*")
_WORDS = {"true": True, "false": False, "null": None}


def is_powershell(text: str) -> bool:
    """Return whether a text seems to hold a call of PowerShell that sends something."""
    return _CALL.search(text) is not None and _BODY.search(text) is not None


def read_powershell(text: str) -> Draft:
    """Read the first call of a snippet.

    Raises:
        RequestError: A value in it would have to be computed; says where.
    """
    call = _CALL.search(text)
    body = None if call is None else _BODY.search(text, call.end())
    if call is None or body is None:
        raise RequestError("The PowerShell snippet sends no body.", "Paste the call with its `-Body`.")
    value = _Reader(text).value(body.end())[0]
    notices: tuple[Notice, ...] = (Notice("", "Read from a PowerShell call: the body that it sends."),)
    if isinstance(value, str):
        reader = JsonText(value)
        value = reader.read()
        notices += tuple(Notice(notice.field, notice.message) for notice in reader.notices)
    address = _ADDRESS.search(text, call.end())
    base_url, remarks = (None, ()) if address is None else base_of_url(address[1])
    named = Named() if address is None else named_in_url(address[1])
    notices = (*notices, *(Notice("", words) for words in remarks))
    return Draft(value, "curl", lambda _: {}, text, base_url, notices, *named)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads expressions of one text, each from its position."""

    text: str

    def value(self, at: int, depth: int = 0) -> tuple[JSON, int]:
        """Return the value of the expression at a position, and where it ends."""
        at = self._blank(at)
        if depth > MAX_DEPTH:
            raise self._error(at, "The snippet's values are nested too deeply.")
        value, at = self._operand(at, depth)
        piped = re.compile(r"\s*\|\s*ConvertTo-Json\b[^\n)|;]*", re.IGNORECASE).match(self.text, at)
        return value, at if piped is None else piped.end()

    def _operand(self, at: int, depth: int) -> tuple[JSON, int]:
        if self.text.startswith("@{", at):
            return self._table(at, depth)
        if self.text.startswith(("@(", "("), at):
            return self._items(at, depth)
        for form, is_plain in ((_HERE, False), (_PLAIN, True), (_QUOTED, False)):
            if (found := form.match(self.text, at)) is not None:
                return self._text(found, at, is_plain=is_plain), found.end()
        if (number := _NUMBER.match(self.text, at)) is not None:
            digits = number[0]
            return (float(digits) if re.search(r"[.eE]", digits) else int(digits)), number.end()
        if (variable := _VARIABLE.match(self.text, at)) is not None:
            name = variable[1] or variable[2]
            if name.lower() in _WORDS:
                return _WORDS[name.lower()], variable.end()
            return self._given(name, at, depth), variable.end()
        raise self._error(at, f"A value is expected here, not {shorten(self.text[at : at + 20])}.")

    def _text(self, found: re.Match[str], at: int, *, is_plain: bool) -> str:
        if found.re is _HERE:
            if found[1] == '"' and "$" in found[2]:
                raise self._error(at, "A variable inside this text is filled in at run time.")
            return found[2]
        if is_plain:
            return found[1].replace("''", "'")
        if re.search(r"(?<!`)\$", found[1]):
            raise self._error(at, "A variable inside this text is filled in at run time.")
        return _ESCAPE.sub(lambda mark: _ESCAPED.get(mark[1], mark[1]) if mark[1] else '"', found[1])

    def _table(self, at: int, depth: int) -> tuple[JSONObject, int]:
        members: JSONObject = {}
        at = self._blank(at + 2)
        while not self.text.startswith("}", at):
            key = _PLAIN.match(self.text, at) or _QUOTED.match(self.text, at) or _KEY.match(self.text, at)
            if key is None:
                raise self._error(at, f"A key is expected here, not {shorten(self.text[at : at + 20])}.")
            name = key[0] if key.re is _KEY else key[1]
            at = self._blank(key.end())
            if not self.text.startswith("=", at):
                raise self._error(at, f"A `=` is missing after the key {shorten(name)}.")
            members[name], at = self.value(at + 1, depth + 1)
            at = self._blank(at)
            while self.text.startswith(";", at):
                at = self._blank(at + 1)
        return members, at + 1

    def _items(self, at: int, depth: int) -> tuple[JSON, int]:
        """Return the list of `@(…)`, or what is in plain parentheses."""
        is_list = self.text.startswith("@", at)
        items: list[JSON] = []
        at = self._blank(at + (2 if is_list else 1))
        while not self.text.startswith(")", at):
            item, at = self.value(at, depth + 1)
            items.append(item)
            at = self._blank(at)
            while self.text.startswith((",", ";"), at):
                at = self._blank(at + 1)
        return (items if is_list or len(items) != 1 else items[0]), at + 1

    def _given(self, name: str, at: int, depth: int) -> JSON:
        """Return the value that a variable was given last, above the place where it is used."""
        given = [*re.compile(rf"\${re.escape(name)}\s*=(?!=)\s*", re.IGNORECASE).finditer(self.text, 0, at)]
        if not given:
            raise self._error(at, f"The snippet assigns no readable value to `${name}`.")
        return self.value(given[-1].end(), depth + 1)[0]

    def _blank(self, at: int) -> int:
        found = _BLANK.match(self.text, at)
        return at if found is None else found.end()

    def _error(self, at: int, message: str) -> RequestError:
        line, column = line_column(self.text, min(at, len(self.text)))
        hint = "Write the value itself there; the snippet is read, never run."
        return RequestError(message, hint, line=line, column=column)
