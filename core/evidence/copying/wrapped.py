"""Texts that a terminal or a mail program wrapped → as they were: without breaks within JSON or a printed object.

A break is taken out only where what is left is complete: JSON that is valid, or an object that is printed to its end.
"""

from __future__ import annotations

import html
import json
import re
import shlex
from contextlib import suppress
from textwrap import dedent

from prompt_debugger.core.diagnose.markers import find_markers
from prompt_debugger.core.evidence.values.json_of import json_of, lenient_json_of
from prompt_debugger.core.evidence.values.objects_within import is_bare_call
from prompt_debugger.core.evidence.values.python_repr import read_printed

_MIN_WIDTH = 40
_MIN_BREAKS = 2  # in a command, below which an answer may be
_MAX_PIECES = 40  # of one event
_MAX_WIDTH = 1_000
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_MAX_PARAGRAPHS = 50
_MIN_PRINT = 60
_NUMBERED = re.compile(r"[ \t]*+\d{1,6}[ \t]*+[|:\u2502\t ]")
_PRINTED = re.compile(r"\b[A-Z]\w{2,60}\((?=[a-z]\w{0,40}(?:=|\n))")
_STARTS = re.compile(r"\s*+(?:[{\[]|[A-Za-z_][\w.]{0,80}\(|curl )")
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_BROKEN_ESCAPE = re.compile(r"&(?:[a-z]{0,4}|#x?\d{0,4})(?=\n(?:[a-z]{0,4}|x?\d{0,4});)")
_NEWLINE = re.compile("\n")
_KEY_END = re.compile(r"\s*+:")
_EVENT_FIELD = re.compile(r"[ \t]*+(?:data|event|id|retry)?:")
_DECODER = json.JSONDecoder(strict=False)
_ANSWER = re.compile(r'"(?:choices|tool_calls|raw)"')


def unwrap(text: str) -> str | None:
    """Return a text without the breaks that a fixed width put into it; `None` if it shows none."""
    if text.lstrip().startswith("data:"):
        return _read_events(text)
    if "\n" not in text.strip() or _STARTS.match(text) is None or json_of(text) is not None:
        return None
    is_command = text.lstrip().startswith("curl ")
    joined = None if is_command and text.strip().count("\n") < _MIN_BREAKS else join_full_lines(text.strip("\n"))
    if joined is not None and _is_whole(joined) and not _is_laid_out(text.strip()):
        return joined
    if "\\n" in text and call_with_breaks(text):  # with line feeds of its own, as JSON writes them
        return _join_strings(text)
    is_request = '"messages"' in text and '"choices"' not in text
    if text.lstrip().startswith(("{", "[")) and _ANSWER.search(text) and not is_request:
        joined = _join_strings(text)
        is_read = joined != text and (json_of(joined) is not None or lenient_json_of(joined) is not None)
        return joined if is_read else None
    return None


def call_with_breaks(text: str) -> bool:
    """Return whether a text is a whole call with line breaks in its strings, where JSON allows none."""
    written = text.strip()
    if not written.startswith("{") or not written.endswith("}") or "\n" not in written or json_of(written) is not None:
        return False
    try:
        value = _DECODER.decode(written)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and is_bare_call(value)


def unwrap_paragraphs(text: str) -> str | None:
    """Take out the breaks of a fixed width in one of several paragraphs."""
    parts = _BLANK_LINE.split(text)
    if not 1 < len(parts) <= _MAX_PARAGRAPHS:
        return None
    changed = [unwrap(dedent(part)) or part for part in parts]  # a break leaves the margin within a word
    return "\n\n".join(changed) if changed != parts else None


def _is_laid_out(text: str) -> bool:
    """Return whether a text was written in lines: each break follows a comma or a bracket, in no string.

    Those of a terminal may fall there, too, and stay: they change nothing of what is read, and places keep their lines.
    """
    lines = text.split("\n")[:-1]
    if not all(line.rstrip().endswith((",", "{", "[", "(")) for line in lines):
        return False
    return not any("\n" in found[0] for found in _STRING.finditer(text)) and _is_whole(text)


def unwrap_escaped(text: str) -> str | None:
    """Return a text that was escaped for HTML and then wrapped, as it was before both; `None` if it was not wrapped."""
    joined = join_full_lines(text.strip("\n")) if "\n" in text.strip() else None
    plain = None if joined is None else html.unescape(joined)
    return plain if plain is not None and _is_whole(plain) else None


def join_escapes(text: str) -> str:
    """Return a text without the line breaks of a width at which one falls inside an escape: `&quo` and `t;`.

    Where all lines but the last are of one width, two or more, no break was there before.
    """
    joined = join_full_lines(text.strip("\n")) if text.strip("\n").count("\n") >= _MIN_BREAKS else None
    if joined is not None:
        return joined
    broken = _BROKEN_ESCAPE.search(text)
    if broken is None:
        return text
    width = broken.end() - text.rfind("\n", 0, broken.start()) - 1
    lines = text.split("\n")
    return "".join(line if len(line) == width else f"{line}\n" for line in lines).removesuffix("\n")


def join_full_lines(text: str) -> str | None:
    """Return a text without its line ends, where all of its lines but the last are full; else `None`."""
    lines = text.split("\n")
    width = len(lines[0])
    if not _MIN_WIDTH <= width <= _MAX_WIDTH or len(lines[-1]) > width:
        return None
    return "".join(lines) if all(len(line) == width for line in lines[:-1]) else None


def join_print(text: str) -> str | None:
    """Return a text in which a printed object is on one line again, whatever lines are around; `None` without one.

    Lines of one width follow one another, and what they make together is an object that is printed to its end.
    """
    if _PRINTED.search(text) is None or "\n" not in text:
        return None
    lines = text.split("\n")
    start = 0
    for index, line in enumerate(lines):
        if len(line) != len(lines[start]):
            start = index
        is_full = index - start >= 1 and _MIN_PRINT <= len(line) <= _MAX_WIDTH
        if not is_full or index + 1 >= len(lines) or len(lines[index + 1]) >= len(line):
            continue
        run = lines[start : index + 2]
        if len({line[:1] for line in run}) == 1 or all(map(_NUMBERED.match, run)):
            continue  # each line has something before it, which goes first
        joined = "".join(run)
        found = _PRINTED.search(joined)
        read = None if found is None else read_printed(joined, found.start())
        if read is not None and not read.is_cut and read.stop > len(line) * (index - start + 1):
            return "\n".join([*lines[:start], joined, *lines[index + 2 :]])
    return None


def _read_events(text: str) -> str | None:
    """Return a stream without the breaks within its events; `None` if none of them is broken, or one stays broken."""
    pieces: list[list[str]] = []
    for line in text.split("\n"):
        is_field = _EVENT_FIELD.match(line) is not None and not (line.startswith(":") and _is_open(pieces))
        if not line.strip() or is_field or not pieces or not pieces[-1][0].startswith("data:"):
            pieces.append([line.strip()])
        else:
            pieces[-1].append(line)
    if all(len(lines) == 1 for lines in pieces):
        return None
    lines = ["".join(parts) for parts in pieces]
    data = [line.removeprefix("data:").strip() for line in lines if line.startswith("data:")]
    return "\n".join(lines) if all(one == "[DONE]" or json_of(one) is not None for one in data if one) else None


def _is_open(pieces: list[list[str]]) -> bool:
    """Return whether the last event of a stream is incomplete yet, so that a line after a colon continues it."""
    data = "".join(pieces[-1]).removeprefix("data:").strip() if pieces and len(pieces[-1]) <= _MAX_PIECES else ""
    return data.startswith("{") and json_of(data) is None


def _join_strings(text: str) -> str:
    """Return JSON without line breaks in its strings: dropped if all lines are full, else replaced by a blank.

    They are dropped, too, where one fell into a marker: colours and quotation marks that are gone changed the widths.
    """
    width = max(map(len, text.split("\n")))
    kept: list[str] = []
    at = 0
    is_hard, is_in_key = True, False  # no key has a blank in it; colours that are gone made some lines longer
    places: list[int] = []
    for found in _STRING.finditer(text):
        for place in _NEWLINE.finditer(text, found.start(), found.end()):
            places.append(place.start())
            is_in_key = is_in_key or _KEY_END.match(text, found.end()) is not None
            is_hard = is_hard and place.start() - text.rfind("\n", 0, place.start()) - 1 == width
    for line_end in places:
        kept.append(text[at:line_end])
        at = line_end + 1
    kept.append(text[at:])
    full, spaced = "".join(kept), " ".join(kept)
    return full if is_hard or is_in_key or _count_markers(full) > _count_markers(spaced) else spaced


def _count_markers(text: str) -> int:
    return sum(1 for _ in find_markers(text))


def _is_whole(text: str) -> bool:
    if text.startswith(("{", "[")) and json_of(text) is not None:
        return True
    if text.startswith("curl "):
        with suppress(ValueError):
            return bool(shlex.split(text))
        return False
    read = read_printed(text)
    return read is not None and not read.is_cut and read.stop >= len(text.rstrip())
