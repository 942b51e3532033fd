r"""Errors within errors: the innermost words of a body that gateways and clients wrapped, escaped, printed and cut.

    litellm.BadRequestError: VertexAIException - b'{\n  "error": {\n    "code": 400,\n    "message": "WORDS", …
    level=error msg="Server error" error="WORDS" status=500
    {"error": {"message": "Error from provider: {\"error\":{\"message\":\"WORDS\"}}"}}
    Error code: 400 - {'error': {'message': 'WORDS', 'param': 'tools'

Nothing is parsed as a whole: a body that is cut, or escaped twice, gives its words all the same.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_MAX_DEEP = 6
_MAX_READ = 8_000  # characters of a value
_KEY = re.compile(
    r"(\\{0,15})([\"'])(?:message|detail|error|msg|error_message|errorMessage)\1\2\s{0,4}:\s{0,4}(?:\["
    r"\s{0,4})?[bu]?(\\{0,15})([\"'])"
)
_NEXT_TO = re.compile(
    r"(\\{0,15})[\"'](?:error|code|type|status|param|request_id|object|detail|errors|success)\1[\"']\s"
    r"{0,4}:|error\b[^{]{0,80}\{|exception\b[^{]{0,80}\{|\b[45]\d\d\b[^{]{0,60}\{|status[^{]{0,60}\{"
    r"|body[^{]{0,20}\{",
    re.IGNORECASE,
)
_PARAM_WORDS = re.compile(
    r"\\{0,15}[\"']param\\{0,15}[\"']\s{0,4}:\s{0,4}\\{0,15}[\"']([^\"'\\]{1,60} [^\"'\\]{3,300})"
)
# An exception of Python whose words are a key alone, as a plug-in of Dify reports it.
_KIND_BESIDE = re.compile(r"[\"']error_type[\"']: ?[\"'](\w{1,60}Error)[\"']")
_LONE_WORD = re.compile(r"'\w{1,80}'")
_FIELD = re.compile(r"(\\{0,15})[\"'](?:param|field)\1[\"']\s{0,4}:\s{0,4}\1[\"']([\w.\[\]$-]{1,200})\1[\"']")
_LOC = re.compile(r"\\{0,15}[\"']loc\\{0,15}[\"']\s{0,4}:\s{0,4}[\[(]([^\])]{1,300})[\])]")
_STEP = re.compile(r"[\"']?([\w$.-]{1,80})\\{0,15}[\"']?(?:,|$)")
_WRAPPER = re.compile(
    r"(?:[\w.]{0,80}(?:Error|Exception)\b ?(?::|-) ?|Error code: \d{3} - |(?:an )?error: |Failed after"
    r" \d{1,3} attempts\. Last error: |\d{3} (?=[A-Z`'a-z])|API Error: |Message: |Caused by: )",
    re.IGNORECASE,
)
_ORIGIN = re.compile(
    r"\b(?:original|underlying|root) (?:error|cause|exception) ?: (?:\w{1,60}(?:Error"
    r"|Exception)\([\"'])?(.{10,}?)(?:[\"']\))?\.?$"
)
# A field of a log's entry, as Go's loggers write it: `msg="Server error" error="rpc error: …"`.
_LOGGED = re.compile(r"(?<![\w\"])(?:error|err)=\"((?:[^\"\\\n]|\\.){10,2000}+)\"")
_NO_REASON = re.compile(r"(?:provider|upstream) returned (?:an )?error\W{0,3}", re.IGNORECASE)
_AFTER_STRING = re.compile(r"\s{0,9}(?:[,}\]'\"\\]|\)\s{0,3}(?:[)\]}'\"\\]|\Z)|\Z)")
_MAX_QUOTED = 300  # characters of a quotation within a string
_ROOTS = ("body", "query", "path", "header")


# An error within another one as Node prints objects: keys are bare, strings have the marks that suit them.
_IN_PRINT = re.compile(r"[{,\n]\s{0,40}error: \{")
_PRINTED_WORDS = re.compile(
    r"(?<=[{,\n ])message: (?:'((?:[^'\\\n]|\\.){8,2000}+)'|\"((?:[^\"\\\n]|\\.){8,2000}+)\""
    r"|`((?:[^`\\]|\\.){8,2000}+)`)"
)


class Nested(NamedTuple):
    """The innermost words of an error.

    Attributes:
        words: The words, in one line, without the names of exceptions before them.
        field: Path of the request field that is given with them; `None` if none is.
    """

    words: str
    field: str | None


def innermost(text: str) -> Nested:
    r"""Return the words of an error without what wraps them.

    >>> innermost("litellm.BadRequestError: XException - b'{\"error\": {\"message\": \"No \\\"x\\\".\"}}'").words
    'No "x".'
    """
    words = text[: _MAX_READ * 4]
    field = None
    for _ in range(_MAX_DEEP):
        found = _value_in(words)
        if found is None:
            break
        field = _field_in(words) or field
        kind = _KIND_BESIDE.search(words) if _LONE_WORD.fullmatch(found) is not None else None
        if kind is not None:
            return Nested(f"{kind[1]}: {found}", field)
        beside = _PARAM_WORDS.search(words) if _KEY.search(found) is None else None
        words = found if beside is None else f"{found}: {beside[1]}"
    printed = _last_printed(words)
    if printed is not None:
        return Nested(_bare(" ".join(printed.split())), _field_in(words) or field)
    logged = _LOGGED.search(words)
    words = words if logged is None else logged[1].replace('\\"', '"')
    return Nested(_bare(" ".join(words.split())), _field_in(words) or field)


def _last_printed(text: str) -> str | None:
    """Return the words of an error that Node printed as an object, the innermost one; `None` where none was."""
    if _IN_PRINT.search(text) is None:
        return None
    printed = list(_PRINTED_WORDS.finditer(text))
    words = next((group for group in printed[-1].groups() if group), "") if printed else ""
    return re.sub(r"\\(.)", r"\1", words) or None


def _value_in(text: str) -> str | None:
    """Return the first words of an error's body within a text that give a reason, else any; `None` if it has none."""
    without_reason = None
    for key in _KEY.finditer(text):
        around = text[max(0, key.start() - 200) : key.start()] + "{" + text[key.end() : key.end() + 600][-300:]
        if _NEXT_TO.search(around) is None:
            continue
        value = _string_at(text, key.end(), key[3], key[4])
        if len(value.strip()) > 2:
            if _NO_REASON.fullmatch(value.strip()) is None:
                return value
            without_reason = without_reason or value
    return without_reason


def _string_at(text: str, start: int, escape: str, quote: str) -> str:
    """Return a string from its first character to its closing quote, or to the end where it is cut."""
    stop = min(len(text), start + _MAX_READ)
    closing = _closing(text, start, escape, quote)
    if closing is not None and text[closing - 1] != "{":  # of a body within, whose quotes were not escaped
        stop = min(stop, closing)
    value = re.sub(r"\\{1,15}[nrt]", "\n", text[start:stop])
    deeper = "\\" * (2 * len(escape) + 1)
    return value.replace(f"{deeper}{quote}", quote).replace(f"{escape}\\'", "'") if deeper in value else value


def _closing(text: str, start: int, escape: str, quote: str) -> int | None:
    """Return where a string is closed; a quotation mark that was not escaped within it, and is near, does not count."""
    first: int | None = None
    for found in re.finditer(rf"(\\*+){quote}", text[start : start + _MAX_READ]):
        if len(found[1]) != len(escape):
            continue
        at = start + found.start()
        first = at if first is None else first
        if at - first > _MAX_QUOTED:
            break
        if text[at - 1] == "{" or _AFTER_STRING.match(text, start + found.end()) is not None:
            return at
    return first


def _field_in(text: str) -> str | None:
    named = _FIELD.search(text)
    if named is not None:
        return named[2].removeprefix("body.")
    loc = _LOC.search(text)
    if loc is None:
        return None
    steps = [step[1] for step in _STEP.finditer(loc[1].replace("\\", "").replace(" ", ""))]
    steps = steps[1:] if steps and steps[0] in _ROOTS else steps
    return "".join(f"[{step}]" if step.isdecimal() else f".{step}" for step in steps).removeprefix(".") or None


def _bare(words: str) -> str:
    """Return words without the names of exceptions, statuses and clients before them."""
    origin = _ORIGIN.search(words[:_MAX_READ])
    words = words if origin is None else origin[1]
    for _ in range(_MAX_DEEP):
        found = _WRAPPER.match(words)
        if found is None or found.end() >= len(words):
            break
        words = words[found.end() :]
    return words.replace('\\"', '"').strip()
