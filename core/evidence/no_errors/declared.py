"""What packages say of errors in their own text: classes and fields with docstrings, and functions by what they raise.

Raised when a bucket does not exist.                 how the docstring of an exception begins
class ConnectionFailed(BaseModel):                   a class with its docstring
timeout: int                                         a field with one
``type`` is required and ``param`` is nullable        names between two backticks each
- `connect_error` - The endpoint cannot be reached.  what each of several values means
"invalid_base64_image",                              values of a type, one a line
x.a=>{throw new Error("Could not load")}             a page's script without its line breaks
"""

from __future__ import annotations

import re
from itertools import islice

_DECLARED = re.compile(
    r"(?m)^[ \t]*(?:\w{1,60}: (?:[A-Z]\w{0,40}\[|(?:str|int|bool|float|dict|list|None|Any|[A-Z]\w{1,60})\b)[^\n]{0,120}"
    r"|(?:class|def|async def) \w{1,80}(?:\([^\n]{0,200}\))?(?: -> [^\n]{1,80})?:)[ \t]*\n[ \t]*\"{3}"
)
_TRACE = re.compile(r"(?m)^Traceback \(most recent call last\)|^[ \t]+File \"[^\"\n]{1,200}\", line \d")
_DESCRIBES = re.compile(
    r"\W{0,12}(?:(?:Error|Exception)s? )?(?:[Rr]aised|[Tt]hrown) (?:when|if|by|for|on|instead)\b"
    r"|\W{0,12}(?:Raise|Throw)s? (?:an? )?(?:HTTP[ -]?\d{3}|`{0,2}[A-Z]\w{1,60}(?:Error|Exception)`{0,2})"
    r" (?:when|if|for|unless)\b"
)
_VALUE = re.compile(
    r"(?m)^[ \t]*[-*] `{1,2}(?P<name>[a-z]+(?:_[a-z]+)*)`{1,2} (?:-|\u2013|\u2014|\([\w, ]{1,40}\):) \S"
)
_LITERAL = re.compile(r"(?<!`)``[^`\n]{1,80}``(?!`)")
_OF_PERSON = re.compile(r"\bI(?:'m|'ve)? [a-z]|\b[Mm]y [a-z`]|Traceback|(?m:^)[ \t]*[\w.]{1,80}(?:Error|Exception): ")
_MIN_VALUES = 3
_MAX_VALUES = 50  # that are looked at
_STRING = re.compile(r"[\"'][\w.:/-]{1,80}[\"'],?")
_CODE = re.compile(r"=>[{(]|\)\{|;(?:return|let|const|var|if)\b|&&|\|\||[!=]==|\?\.\w|\},\w{1,3}\(|void 0")
_LONG_LINE = 300
_MIN_CODE = 8
_MAX_CHARS = 100_000


def is_declared(text: str) -> bool:
    r"""Return whether a text is a piece of a package: declarations with docstrings, a list of values, packed script.

    >>> is_declared('"a_b",\n"c_d",\n"e_f",'), is_declared('"a_b", "c_d"')
    (True, False)
    """
    text = text[:_MAX_CHARS]
    if _TRACE.search(text) is not None:
        return False
    return _DECLARED.search(text) is not None or _is_list_of_strings(text) or _is_packed(text)


def is_description(text: str) -> bool:
    r"""Return whether a text describes when an error comes, or what each of several values means.

    >>> is_description("Raised when the key is invalid."), is_description("Raised an issue: it is invalid.")
    (True, False)
    """
    if _DESCRIBES.match(text) is not None or (_OF_PERSON.search(text) is None and _is_in_rst(text)):
        return True
    names = {found["name"] for found in islice(_VALUE.finditer(text), _MAX_VALUES)}
    return len(names) >= _MIN_VALUES and any("_" in name for name in names)


def _is_in_rst(text: str) -> bool:
    """Return whether a text has names between two backticks each, as docstrings do, and no fence."""
    return "```" not in text and len({found[0] for found in islice(_LITERAL.finditer(text), _MAX_VALUES)}) > 1


def _is_list_of_strings(text: str) -> bool:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return len(lines) >= _MIN_VALUES and all(_STRING.fullmatch(line) is not None for line in lines)


def _is_packed(text: str) -> bool:
    """Return whether a text has a line of a script whose line breaks and blanks a program took out."""
    longest = max(text.split("\n"), key=len)
    found = islice(_CODE.finditer(longest), _MIN_CODE) if len(longest) > _LONG_LINE else ()
    return sum(1 for _ in found) == _MIN_CODE
