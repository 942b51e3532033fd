"""Errors recognized by a known sentence: the paragraph of a text, or the entry of a log, that says it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from prompt_debugger.core.base.types import Refusal
from prompt_debugger.core.evidence.errors.found import FoundError
from prompt_debugger.core.evidence.no_errors.programs import is_source
from prompt_debugger.core.evidence.values.printed_values import unquoted
from prompt_debugger.core.known_errors import Recognised, quoted_output, recognise_error

_MAX_LINES = 40  # lines of a log that are looked up
_MAX_BELOW = 12  # lines from which a sentence may begin
MAX_ALONE = 2_000  # characters of a text that may be an error without looking like one

_STATUS = re.compile(
    r"(?:status(?: code)?|error code|api error|non-2xx|HTTP(?:/[\d.]{1,3})?|code=)\s{0,2}[:=]?\s{0,2}([45]\d\d)\b"
    r"|\b([45]\d\d) (?:Bad Request|Unauthorized|Payment Required|Forbidden|Not Found|Method Not Allowed|Conflict|"
    r"Request Entity Too Large|Unprocessable|Too Many Requests|Internal Server Error|Bad Gateway|Service Unavailable|"
    r"Gateway Time)"
    r"|\A[^\w\n]{0,9}([45]\d\d) ",
    re.IGNORECASE,
)
# What a number may count, which is then no status.
COUNTED = r"(?:tokens?|characters?|lines?|bytes|words|requests?|messages?|items)\b"
_COUNTED = re.compile(rf"(?i)(?<= ){COUNTED}")
_LOG_WORD = re.compile(
    r"\b(?:error|exception|fail(?:ed|ure)?|refus\w{0,3}|invalid|unparsed|warn(?:ing)?|terminate called)\b|\[E\]",
    re.IGNORECASE,
)
_LOG_LINE = re.compile(
    r"(?m)^[ \t]{0,8}(?:\[?\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:|\[\d\d:\d\d:\d\d[\].,]|"
    r"\[?(?:INFO|DEBUG|WARN|WARNING|ERROR)\b|"
    r"\d{1,3}\.\d\d\.\d{3}\.\d{3} [A-Z] |[\w.-]{1,60} {1,20}\| |srv |slot |time=\d{4}-|\[GIN\] )"
)
_LABEL = re.compile(r"\[[\w./: -]{1,60}\](?:: ?| )(?=[\w\[])")  # before the words of an error
_CODE = re.compile(r"(?<![`\w])`([^`\n]{15,1500})`(?!`)")
_OPENER = re.compile(r"\s{0,20}<([\w:]{1,60})>")
_BLANK_LINES = re.compile(r"\n[ \t]*\n|\n[ \t]{0,8}(?:(?:```|~~~)\w{0,20}|`)[ \t]*(?=\n|\Z)")
_STACK = re.compile(
    r"\n[ \t|]{0,12}(?:During handling of the above|The above exception was the)|"
    r"\n\s{1,12}(?:at|\u276f) |\n\s{0,9}\n|\n[ \t|]{0,12}\+-{3,}"
    # The log's next entry.
    r"|\n[ \t]{0,8}(?:\([\w. -]{1,60} pid=\d{1,9}\) ?)?"
    r"(?:INFO|WARNING|ERROR|DEBUG|CRITICAL)(?::[ \t]|[ \t]{1,4}(?:\d|\[))"
    r"|\n[ \t]{0,8}\[\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[^\]\n]{0,40}\] "
    r"|(?<=\(status code: \d\d\d\))[ \t]{0,8}\n"  # with which Ollama's client ends its errors
    # What a tracker's form asks for below it.
    r"|\n[ \t]{0,4}(?:OS|Operating [Ss]ystem|Environment|Platform|(?:[\w.-]{1,30} ){0,2}[Vv]ersion):[ \t]{1,4}\S"
    r"|\n[a-z_]\w{0,30} ?=[ \t]*(?:[\[{][^\n]*)?(?:\n|\Z)"  # the line of a program with what was sent
    r"|\\{1,3}nTraceback \(most recent call last\)"  # below the words, in a text with its escapes
    r"|\n(?:(?:llama|ggml|common|clip)_\w{1,40}: |(?:slot|srv|que) {1,14}[\w(]|Segmentation fault|Aborted\b)"
)


def error_of_sentence(text: str) -> FoundError | None:
    """Return a known sentence that a short text or an entry of a log says."""
    stripped = text.strip()
    if is_source(stripped):
        return None
    if len(stripped) <= MAX_ALONE and not _starts_as_data(stripped) and _LOG_LINE.search(stripped) is None:
        known = recognise_error(stripped)
        if known is not None and known.error.is_distinctive:
            message = stripped if _quotes_markup_to_end(stripped) else _paragraph_of(stripped)
            return FoundError(Refusal(status_in(message), message, None), 0.8)
    for entry in _suspicious_entries(text):
        message = unquoted(entry)
        known = recognise_error(message)
        if known is not None and known.error.is_distinctive:
            return FoundError(Refusal(status_in(message), _entry_alone(message).strip(), None), 0.6)
    return None


def _entry_alone(message: str) -> str:
    """Return a log's entry without the paragraphs below it, unless it quotes an output, which may have several."""
    if quoted_output(message) is not None:
        return message
    alone = cut_words(_BLANK_LINES.split(message.strip())[0])
    known = recognise_error(alone)
    if known is None:
        return _paragraph_of(message)
    lines = alone.split("\n")
    for at in range(len(lines) - 1, 0, -1):  # without what was logged before it
        rest = "\n".join(lines[at:])
        last = recognise_error(rest) if at >= len(lines) - _MAX_BELOW else None
        if last is not None and last.error is known.error:
            return rest
    return alone


def _paragraph_of(text: str) -> str:
    """Return the paragraph of a text that says a known sentence, rather not its title; the text, if it is several."""
    paragraphs = [found for one in _BLANK_LINES.split(text) if (found := cut_words(one))]
    whole = recognise_error(text)
    for one in sorted(paragraphs, key=lambda message: message.startswith("#")):
        known = recognise_error(one)
        if known is not None and known.error.is_distinctive:
            one = _quoted_alone(one, known)
            is_part = known.error.is_general and whole is not None and not whole.error.is_general
            return text if is_part else one  # the sentence that quotes several paragraphs
    message = cut_words(text)
    return text if whole is not None and recognise_error(message) is None else message


def _quotes_markup_to_end(text: str) -> bool:
    """Return whether a text quotes an output that ends with the tag that opens it: blank lines are part of it."""
    quoted = quoted_output(text)
    opener = None if quoted is None else _OPENER.match(quoted.text)
    return quoted is not None and opener is not None and quoted.text.rstrip().endswith(f"</{opener[1]}>")


def _quoted_alone(said: str, known: Recognised) -> str:
    """Return the code within a person's sentence that says a known sentence whole; else all of it."""
    for code in _CODE.finditer(said):
        alone = recognise_error(code[1])
        if alone is not None and alone.error is known.error and alone.sentence == known.sentence:
            return code[1]
    return said


def _starts_as_data(text: str) -> bool:
    """Return whether a text begins as JSON or markup does; `[400]: …` and `[provider] …` begin as words do."""
    return text.startswith(("{", "<", "[")) and _LABEL.match(text) is None


def _suspicious_entries(text: str) -> Iterator[str]:
    """Yield the entries of a log that speak of an error: each up to the line that begins the next."""
    starts = [found.start() for found in _LOG_LINE.finditer(text)]
    given = 0
    for start, stop in pairwise([*([0] if starts and starts[0] else []), *starts, len(text)]):
        if _LOG_WORD.search(text, start, stop) is not None:
            yield text[start:stop]
            given += 1
        if given >= _MAX_LINES:
            return


def status_in(text: str) -> int | None:
    """Return the HTTP status that a text names; `None` if it names none."""
    found = _STATUS.search(text)
    return (
        None
        if found is None or _COUNTED.match(text, found.end())
        else int(next(group for group in found.groups() if group))
    )


def cut_words(message: str) -> str:
    """Return the words of an exception without the stack that JavaScript prints below, or the prose after it."""
    end = _STACK.search(message)
    return message[: end.start() if end is not None else len(message)].strip()
