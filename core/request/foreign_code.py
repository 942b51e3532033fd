"""Two forms that are rewritten before they are read: a client's JavaScript call, and curl as Windows shells write it.

Nothing is run. Of a JavaScript call the object literal that it sends is taken, if every value stands in it.
"""

from __future__ import annotations

import re

_CALL = re.compile(r"\b(?:chat\.completions|responses|messages)\.(?:create|parse|stream)\(\s*(?=\{)")
_BASE_URL = re.compile(r"\bbaseURL\s*:\s*([\"'`])([^\"'`\n]{1,500})\1")
_LINE_GOES_ON = re.compile(r"[\^`]\r?\n(?=[ \t]*(?:\^?\"?https?:|-))")  # an option or the address follows
_CARET_QUOTES = re.compile(r"(?:\bcurl(?:\.exe)?|-d|--data(?:-raw|-binary)?)[ \t]+\^\"")
_CARET = re.compile(r"\^(.)", re.DOTALL)


def javascript_body(text: str) -> str | None:
    """Return a text with everything but the object of its first call blanked out; `None` if it makes no such call.

    Lines and columns of what is left are those of the text.
    """
    call = _CALL.search(text)
    if call is None:
        return None
    stop = _end_of_object(text, call.end())
    before, after = text[: call.end()], text[stop:]
    return re.sub(r"[^\n]", " ", before) + text[call.end() : stop] + re.sub(r"[^\n]", " ", after)


def javascript_base_url(text: str) -> str | None:
    """Return the server's address that a JavaScript client is made with."""
    found = _BASE_URL.search(text)
    return None if found is None else found[2]


def is_windows_command(text: str) -> bool:
    """Say whether a shell text is written for `cmd` or PowerShell: its lines go on with `^` or a backtick."""
    return _LINE_GOES_ON.search(text) is not None or _CARET_QUOTES.search(text) is not None


def from_windows(text: str) -> str:
    """Return a command of `cmd` or PowerShell as other shells write it; lines stay where they are."""
    has_carets = _CARET_QUOTES.search(text) is not None
    text = _LINE_GOES_ON.sub("\\\\\n", text)
    return _CARET.sub(r"\1", text) if has_carets else text


def _end_of_object(text: str, start: int) -> int:
    """Return the position behind the object literal that begins at `start`, or the end of the text."""
    depth, at, quote = 0, start, ""
    while at < len(text):
        char = text[at]
        if quote:
            at += char == "\\"
            quote = "" if char == quote else quote
        elif char in "\"'`":
            quote = char
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return len(text)
