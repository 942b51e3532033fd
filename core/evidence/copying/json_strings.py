"""Decodes texts that were copied as JSON strings: the whole text, or single lines of it."""

from __future__ import annotations

import ast
import re

from prompt_debugger.core.evidence.recognise import MARKER
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.evidence.values.python_repr import read_printed

_ASSIGNED = re.compile(r"\s{0,20}[A-Za-z_]\w{0,60}\s{0,4}=\s{0,4}(\"{3}|'{3}|\"|')")
_MAX_ASSIGNED = 60_000
_MIN_INNER = 20  # characters of a text inside a JSON string
_MAX_ABOVE = 400  # characters in which the line above is looked for
_DATA = re.compile(r"\s{0,9}(?:[{<]|\[[{\[\"]|(?:data|event): ?\S)")
_TAG = re.compile(r"\s{0,9}(?:<[|/\uff5c\w]|\[[A-Z_]{4,20}\])")
_STRING_LINE = re.compile(r'(?m)^"(?:[^"\\\n]|\\[^"\n])*+\\"(?:[^"\\\n]|\\.)*+"$')
_FLAG = re.compile(r"(?<![\w-])--(?:tool-call-parser|reasoning-parser|chat-template|jinja)\b")
_MARKUP = re.compile(r"[<{]|\[[A-Z_]{4,20}\]")


def decode_text(text: str) -> str | None:
    """Decode a text that is one JSON string, or JSON that Python printed as one; return `None` for any other text."""
    bare = text.strip()
    inner = json_of(bare) if bare.startswith('"') else _printed(bare) if bare.startswith("'") else None
    return inner if isinstance(inner, str) and len(inner) >= _MIN_INNER else None


def _printed(text: str) -> str | None:
    """Return the text that Python printed as a string: JSON, or one with line breaks, which are escapes there."""
    read = read_printed(text) if text.endswith("'") and "\n" not in text else None
    if read is None or read.is_cut or read.stop != len(text) or not isinstance(read.value, str):
        return None
    has_breaks = "\n" in read.value
    is_data = has_breaks and (_DATA.match(read.value) is not None or MARKER.search(read.value) is not None)
    return read.value if is_data or json_of(read.value) else None


def decode_lines(text: str) -> str | None:
    """Decode each line that is a string of JSON with quotes in it, among others that are not.

    A string that words introduce (`The output:`) stays as it is: decoded, it would run on from these words.
    """
    changed = _STRING_LINE.sub(lambda found: found[0] if _is_introduced(text, found) else _decoded(found), text)
    return changed if changed != text else None


def decode_only_line(text: str) -> str | None:
    """Decode the only line that is a string of JSON with markup in it, where words introduce it and nothing follows."""
    found = _only_line(text)
    return None if found is None or _has_flags(text, found) else _decoded(found)


def decode_below_command(text: str) -> str | None:
    """Decode that line below the command of a server, which goes on saying how the text came about."""
    found = _only_line(text)
    return None if found is None or not _has_flags(text, found) else f"{text[: found.start()]}\n{_decoded(found)}"


def _only_line(text: str) -> re.Match[str] | None:
    found = [*_STRING_LINE.finditer(text)]
    is_only = len(found) == 1 and not text[found[0].end() :].strip()
    return found[0] if is_only and _is_introduced(text, found[0]) else None


def _has_flags(text: str, found: re.Match[str]) -> bool:
    return _FLAG.search(text, 0, found.start()) is not None


def _is_introduced(text: str, found: re.Match[str]) -> bool:
    """Return whether a string begins with markup and the line above introduces it in words: `The output:`."""
    above = text[max(0, found.start() - _MAX_ABOVE) : found.start()].rstrip()
    lead = above[above.rfind("\n") + 1 :]
    is_lead = lead.endswith((":", "\uff1a")) and _MARKUP.search(lead) is None
    return is_lead and _TAG.match(_decoded(found)) is not None


def _decoded(found: re.Match[str]) -> str:
    value = json_of(found[0])
    return value if isinstance(value, str) else found[0]


def assigned_text(text: str) -> str | None:
    r"""Return the string that a line of Python assigns, where that is all of a text and has markup in it.

    >>> assigned_text("output = '<|channel|>final<|message|>Hi.'")
    '<|channel|>final<|message|>Hi.'
    >>> assigned_text("name = 'Ada'")
    """
    found = _ASSIGNED.match(text) if len(text) <= _MAX_ASSIGNED else None
    if found is None or MARKER.search(text) is None:
        return None
    quote, rest = found[1], text[found.end() :].rstrip()
    inside = rest.removesuffix(quote)
    if inside == rest or quote in inside:
        return None  # more than one string
    three = quote if len(quote) == 3 else quote * 3  # a string that was wrapped has line breaks
    try:
        value = ast.literal_eval(f"{three}{inside}{three}")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, str) else None
