"""Bodies of errors that were copied only up to the middle of their words, or whose lines a terminal broke."""

from __future__ import annotations

import re
from itertools import islice

from prompt_debugger.core.base.types import Refusal
from prompt_debugger.core.complete.backends.error_words import ServerWords, words_of_value
from prompt_debugger.core.complete.backends.listed_faults import faults_in
from prompt_debugger.core.evidence.errors.sentences import status_in
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.evidence.values.printed_values import HALF_ESCAPE, MAX_LITERAL, as_double
from prompt_debugger.core.known_errors import classes_of, quoted_output, recognise_error

MAX_STARTS = 40  # bodies that are tried within one text
BODY = re.compile(
    r"""[\[{]\s{0,9}(?:[\[{]\s{0,9})?["'](?:error|errors|object|detail|message|code|type|success|status)["']\s{0,9}:"""
)
# The message of a body, which may be cut: `"message": "Cannot pass both …`.
_MESSAGE_OF_CUT = re.compile(
    r"""["'](?:message|error|detail)["']\s{0,9}:\s{0,9}(?:"""
    # A terminal may have broken a line within it: then it is closed, or goes on to the end.
    r""""(?P<wrapped>(?:[^"\\\n]|\\.|\n(?=[ \t]{0,12}\S))++)(?="\s{0,9}[,}\]]|\s{0,9}\Z)"""
    r"""|"(?P<double>(?:[^"\\\n]|\\.)++)"""
    r"""|'(?P<single>(?:[^'\\\n]|\\.|\n(?=\S))++))"""
)
_IN_STRING = re.compile(r"['\"][\[{]{1,2}\\n")  # a body with its line ends, as JavaScript prints a string
_WRAPPED = re.compile(r"\n[ \t]{0,12}")
_IN_PATH, _GOES_ON = re.compile(r"[._\[]\w*\Z"), re.compile(r"[\w.\[]")
_MAX_TOKEN = 80
_SAYS_ERROR = re.compile(r"""["']error["']""")
_MIN_WORDS = 15  # characters of an error that no table knows


def cut_body_in(text: str) -> Refusal | None:
    """Return the words of a body that is cut within its message, where a table knows them; else `None`."""
    if _IN_STRING.search(text) is not None:
        text = text.replace("\\n", "\n")
    without_reason = None
    for start in islice(BODY.finditer(text), MAX_STARTS):
        found = _MESSAGE_OF_CUT.search(text, start.start(), start.start() + MAX_LITERAL)
        if found is None:
            continue
        text_of = found["double"] or _as_double(found["single"] or "")
        literal = text_of if found["wrapped"] is None else _WRAPPED.sub(_joint, found["wrapped"])
        words = json_of(f'"{HALF_ESCAPE.sub("", literal)}"')
        if isinstance(words, str) and _is_cut_within(text, found.end(), words):
            words = f"{words.rstrip()}…"
        is_error = _SAYS_ERROR.search(text, start.start(), found.start()) is not None
        if isinstance(words, str) and (recognise_error(words) is not None or (is_error and len(words) > _MIN_WORDS)):
            reason = words_of_value({"message": words}) if faults_in(words) else ServerWords(words.strip(), None)
            refusal = Refusal(status_in(text[start.start() :][:300]), reason.text, reason.field)
            if not _is_without_reason(words):
                return refusal
            without_reason = without_reason or refusal
    return without_reason


def _is_without_reason(words: str) -> bool:
    """Return whether words only report that something failed, as a gateway's do, whose body has the reason within."""
    found = next(classes_of(words), None)
    return found is not None and not found.error.has_reason


def _joint(broken: re.Match[str]) -> str:
    """Return what was at a line break that a terminal made: nothing within a path, else a blank."""
    before = broken.string[max(0, broken.start() - _MAX_TOKEN) : broken.start()].rpartition(" ")[2]
    return "" if _IN_PATH.search(before) and _GOES_ON.match(broken.string, broken.end()) else " "


def _as_double(single: str) -> str:
    """Return the inside of a single-quoted literal, whose line a terminal may have broken, as JSON has it."""
    return as_double(single).replace("\n", " ")


def _is_cut_within(text: str, stop: int, words: str) -> bool:
    """Return whether the copy of a body ends within its words; of a sentence that is known, within what it quotes."""
    following = text[stop : stop + 1]
    if quoted_output(words) is not None:
        return following not in ("'", '"')
    return following == "" and recognise_error(words) is None
