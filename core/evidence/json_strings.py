"""Texts that were copied as strings of JSON: the whole text, or lines of it."""

from __future__ import annotations

import re

from prompt_debugger.core.evidence.json_of import json_of

_MIN_INNER = 20  # characters of a text inside a JSON string
_MAX_ABOVE = 400  # characters in which the line above is looked for
_TAG = re.compile(r"\s{0,9}(?:<[|/\uff5c\w]|\[[A-Z_]{4,20}\])")
_STRING_LINE = re.compile(r'(?m)^"(?:[^"\\\n]|\\.)*\\"(?:[^"\\\n]|\\.)*"$')
_MARKUP = re.compile(r"[<{]|\[[A-Z_]{4,20}\]")


def unstringed(text: str) -> str | None:
    """Return what a text is a JSON string of; `None` of another text."""
    inner = json_of(text) if text.lstrip().startswith('"') else None
    return inner if isinstance(inner, str) and len(inner) >= _MIN_INNER else None


def unstringed_lines(text: str) -> str | None:
    """Decode each line that is a string of JSON with quotes in it, among others that are not.

    What a line of words leads to stays a string: decoded, it would be one output with them.
    """
    changed = _STRING_LINE.sub(lambda found: found[0] if _is_led_to(text, found) else _decoded(found), text)
    return changed if changed != text else None


def unstringed_alone(text: str) -> str | None:
    """Decode the only line that is a string of JSON with markup in it, where words lead to it and nothing follows."""
    found = [*_STRING_LINE.finditer(text)]
    if len(found) != 1 or text[found[0].end() :].strip() or not _is_led_to(text, found[0]):
        return None
    return _decoded(found[0])


def _is_led_to(text: str, found: re.Match[str]) -> bool:
    """Return whether a string begins with markup, and words without any lead to it: `The output:`."""
    above = text[max(0, found.start() - _MAX_ABOVE) : found.start()].rstrip()
    lead = above[above.rfind("\n") + 1 :]
    is_lead = lead.endswith((":", "\uff1a")) and _MARKUP.search(lead) is None
    return is_lead and _TAG.match(_decoded(found)) is not None


def _decoded(found: re.Match[str]) -> str:
    value = json_of(found[0])
    return value if isinstance(value, str) else found[0]
