r"""A raw output as the model wrote it, where copying changed it: out of a JSON string, or through a terminal's width.

    <|tool_call_argument_begin|>{\"city\": \"Oslo\"}<|tool_call_end|>  each quote is escaped, as in JSON, once or twice
    <|tool_call_argument_begin|>{“city”: “Oslo”}<|tool_call_end|>      or is typographic, as a word processor makes it
    …_argument_begin|>{"                                                  a full line breaks within a word
    city": "Oslo"}<|tool_call_end|>
    <tool_call>\n{"name": "get_weather"}                               a line break as its escape, as logs print it
    {"name": "get_weather", "arguments": {                               a person's sentence below a cut call

    Has anybody seen this?

The first are undone only where the arguments are JSON then and were not before: what the model wrote is not known
otherwise. A sentence is left out where JSON breaks off above it at a place where no text can stand.
"""

from __future__ import annotations

import json
import re
from itertools import islice

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence.values.json_of import json_of

ESCAPES = (
    "Each quotation mark of the arguments was escaped, as within a JSON string: they were read without the escapes."
)
CURLY = "Typographic quotes were replaced by plain ones."
BREAKS = "Line breaks from wrapping were removed."
ESCAPED_BREAKS = "Line breaks that were written as `\\n` were read as line breaks."
BELOW = "The sentence below the unfinished call was left out."
_COPIED = re.compile(
    r"(?<=[>\n:])\s{0,8}\{\s{0,8}(?=\\{1,7}\"|\\{0,7}[\u201c\u201d\u201e])(?:[^\"\\]|\\.){0,8000}?\}(?=\s{0,8}(?:<|\Z))"
)
_TYPOGRAPHIC = str.maketrans(dict.fromkeys("\u201c\u201d\u201e", '"'))
_MAX_ESCAPED = 3  # times
_START = re.compile(r"(?<=[>\n])\s{0,8}\{")
_WIDTHS = frozenset({72, 76, 78, 79, 80, 100, 120, 132, 160})  # of terminals and mails
_DECODER = json.JSONDecoder()
_MAX_STARTS = 50
_ESCAPED_BREAK = re.compile(r"(?<=[>}\]])(?:\\n)++(?=\s{0,8}(?:[<{\[]|\Z))")  # between markers and objects
# A paragraph of words alone at the end of a text.
_TALK = re.compile(r"\n[ \t]*\n(?=(?P<talk>[^\n{}\[\]<>\"`:|]{12,300}[.?!])\s*\Z)")
_MAX_TALK = 400  # characters from the end in which it begins
_BROKEN_NAME = re.compile(
    r"(?P<head>(?:<function=|<invoke name=\"|\"name\"[ \t]{0,4}:[ \t]{0,4}\")[\w.-]{1,80})(?P<break>\n)"
    r"(?P<rest>[\w.-]{1,80}[\">])"
)


def as_written(raw: str) -> tuple[str, tuple[str, ...]]:
    """Return a raw output without what copying put into it, and what was undone."""
    above = _drop_talk(raw)
    notes: list[str] = [] if above is None else [BELOW]
    raw = raw if above is None else above
    if ("\\" in raw or "\u201d" in raw) and (plain := _COPIED.sub(_plain, raw)) != raw:
        notes += [ESCAPES] if plain.count("\\") < raw.count("\\") else []
        notes += [CURLY] if "\u201d" in raw and "\u201d" not in plain else []
        raw = plain
    if "\\n" in raw and _whole_objects(broken := _ESCAPED_BREAK.sub("\n", raw)) > _whole_objects(raw):
        raw = broken
        notes.append(ESCAPED_BREAKS)
    joined = _join_full_lines(raw) or _join_names(raw)
    if joined is not None:
        raw = joined
        notes.append(BREAKS)
    return raw, tuple(notes)


def _drop_talk(raw: str) -> str | None:
    r"""Return an output without a sentence below it, where its last object breaks off between two of its members.

    >>> _drop_talk('<tool_call>\n{"name": "f", "arguments": {\n\nHas anybody seen this?')
    '<tool_call>\n{"name": "f", "arguments": {'
    >>> _drop_talk('<tool_call>\n{"name": "f", "arguments": {"text": "Dear all,\n\nThis is my letter.') is None
    True
    """
    found = _TALK.search(raw, max(0, len(raw) - _MAX_TALK))
    if found is None:
        return None
    above = raw[: found.start()].rstrip()
    for start in islice(_START.finditer(above), _MAX_STARTS):
        try:
            _DECODER.raw_decode(above, start.end() - 1)
        except json.JSONDecodeError as error:
            if error.pos >= len(above):
                return above
        except RecursionError:
            return None
    return None


def _join_names(raw: str) -> str | None:
    r"""Return a text without the breaks within names of tools, where no line is longer than those that break there.

    >>> _join_names("<function=get_wea\nther>\n</function>")
    '<function=get_weather>\n</function>'
    >>> _join_names("<function=get_\nit>\n<parameter=a_long_name>") is None
    True
    """
    broken = list(islice(_BROKEN_NAME.finditer(raw), _MAX_STARTS))
    if not broken:
        return None
    starts = [raw.rfind("\n", 0, found.start("break")) + 1 for found in broken]
    widths = {found.start("break") - start for found, start in zip(broken, starts, strict=True)}
    if len(widths) != 1 or widths.pop() < max(map(len, raw.split("\n"))):
        return None
    return _BROKEN_NAME.sub(lambda found: found["head"] + found["rest"], raw)


def _plain(found: re.Match[str]) -> str:
    """Return arguments without the escapes of JSON strings and with plain quotes, where they are an object then."""
    text: JSON = found[0].replace("\n", "\\n").replace("\u00a0", " ").translate(_TYPOGRAPHIC)
    for _ in range(_MAX_ESCAPED):
        if isinstance(text, str) and isinstance(json_of(text), dict):
            return text
        text = json_of(f'"{text}"')
    return text if isinstance(text, str) and isinstance(json_of(text), dict) else found[0]


def _join_full_lines(raw: str) -> str | None:
    """Return a text without the breaks after full lines; `None` where no object is complete by that."""
    lines = raw.split("\n")
    width = max(map(len, lines))
    if width not in _WIDTHS or not any(len(line) == width for line in lines[:-1]):
        return None
    joined = re.sub(rf"(?m)^([^\n]{{{width}}})\n", r"\1", raw)
    return joined if _whole_objects(joined) > _whole_objects(raw) else None


def _whole_objects(text: str) -> int:
    count = 0
    for found in islice(_START.finditer(text), _MAX_STARTS):
        try:
            _DECODER.raw_decode(text, found.end() - 1)
        except (ValueError, RecursionError):
            continue
        count += 1
    return count
