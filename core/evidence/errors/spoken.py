"""An error in what a person wrote, where nothing else was read: in a line, in code or quotation marks, within JSON.

    I use X, and this comes all the time:
    400 "The prompt has 9 tokens too many."                       a line
    The job ends with `Request failed: no such field`.            code, or a quotation
    {"messages": [{"text": "Completion failed: …"}]}              a text within JSON that is no request

Whether it is of a chat request is decided by the whole text, whether it is an error by its own words.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from prompt_debugger.core.base.http_status import STATUS_NAMES
from prompt_debugger.core.base.json_values import strings_in
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence.errors.copied import error_of_text
from prompt_debugger.core.evidence.errors.found import FoundError
from prompt_debugger.core.evidence.errors.statements import OF_MANUAL, begins_as_error, may_report
from prompt_debugger.core.evidence.errors.unknown import SCORE_ALONE, error_by_meaning, is_chain_of_others
from prompt_debugger.core.evidence.no_errors.filtering import drop_unmeant, reports_nothing
from prompt_debugger.core.evidence.no_errors.names import drop_names, has_come
from prompt_debugger.core.evidence.no_errors.programs import is_command, is_of_program, is_unfilled
from prompt_debugger.core.evidence.no_errors.transcripts import drop_unreported
from prompt_debugger.core.evidence.no_errors.wording import is_of_page
from prompt_debugger.core.evidence.values.json_of import json_of, lenient_json_of
from prompt_debugger.core.known_errors import innermost

_MAX_CHARS = 20_000  # of what a person writes; a longer text is data, whose words say what its lines are about
_MAX_OF_STATUS = 800  # characters of a text in which a status alone is an error, if it does not say *I*
_MAX_TRIED = 60
_MAX_CLAUSES = 4  # of one line; with more it is data
_MIN_ERROR = 15  # characters of an error
_MAX_ERROR = 2_000
_MAX_TALK = 500  # characters of a line that is not quoted and contains no body
_QUOTED = re.compile(
    r"(?<!\w)`(?=\S)([^`\n]{15,2000})`|(?<![\w\\])\"(?=\S)((?:[^\"\\\n]|\\.){15,2000}+)\"|\u201c([^\u201d\n]{15,2000})\u201d"
)
# What programs write into the middle of a model's text.
_WITHIN = re.compile(r"Invalid Format: Missing 'Action(?: Input)?:' after '[\w ]{1,20}:'?")
_MARKS = re.compile(r"\A(?:(?:[>*#+-]{1,4}|//) {1,3}|\d{1,2}[.:)] |[>|]\s)+")
_JOINED = re.compile(r"\n[ \t]*//[ \t]{3,}(?=\S)")  # a comment that continues below
_KEPT_BODY = re.compile(r'"\{\\{1,3}"(?:error|message|object|detail|type)\\{1,3}"')
_PHRASES = frozenset(name for names in STATUS_NAMES.values() for name in names)
_STATUS = re.compile(r"\A(?:HTTP )?[45]\d\d:? ")
_ROW = re.compile(r"[\s\d.,|+\[\]-]*+(?:(?:True|False|None|[Nn]a[Nn]|inf)[\s\d.,|+\[\]-]*+)*+")  # of a table of numbers
_RAISES = re.compile(r"(?:raise [A-Z]\w{2,60}\(|throw new [A-Z]\w{2,60}\()")  # a line of code, which nothing reported
# Under these keys a definition says what it is for, and a model its answer.
_OTHER_WORDS = frozenset({"description", "parameters", "input_schema", "generated_text"})
_OF_STEP = ("observation", "thought", "response", "action")
_MAX_DEPTH = 40
_NAME = re.compile(r"\W{0,4}(?:\w{1,60}\.){0,6}[A-Z]\w{0,80}(?:Error|Exception)\W{0,4}")
_MIN_NAMES = 3  # names of exceptions alone that make a list of them
_FIELD = re.compile(r"\"(?:description|title|summary|help|\$comment)\" ?:")  # of a definition, in JSON that was cut
# An argument of a call, alone in its line, or the name of a case in a program's tests.
_KEYWORD = re.compile(
    r"(?:\w{1,60}=[frb]?|(?:name|desc|description|title|label|scenario): {1,20})([\"'])[^\n]{0,400}\1,\Z"
)
_MIN_OF_PARAGRAPH = 61  # characters of a line that the next one continues
_GOES_ON = (*string.ascii_lowercase, ",")  # its end
_BY_PERSON = re.compile(r"\b(?:I|I'm|I've|[Mm]y|[Ww]e|[Oo]ur|issue|bug)\b")
_SENTENCE = re.compile(r"(?:[^\W\d_]{2,}[ ,]+){2}[^\W\d_]{2,}")  # three words in a row
_TWO_SENTENCES = re.compile(r"[a-z`)\"'][.!?] [A-Z]\w{0,30}\W")
_CLAUSE = re.compile(r"\b(?:message|error|msg|detail)[=:] ?(?=\S)", re.IGNORECASE)


def spoken_error(text: str) -> FoundError | None:
    """Return the first error that a text which is nothing else speaks of; `None` if there is none."""
    if len(text) > _MAX_CHARS or reports_nothing(text, by_words=True) or is_chain_of_others(text):
        return None
    text = drop_unmeant(drop_unreported(text), by_words=True)
    status: FoundError | None = None
    candidates = [*islice(dict.fromkeys(_candidates(text)), _MAX_TRIED)]
    if sum(_NAME.fullmatch(one) is not None for one in candidates) >= _MIN_NAMES:
        candidates = [one for one in candidates if _NAME.fullmatch(one) is None]
    for candidate in candidates:
        if is_of_program(candidate) or is_unfilled(candidate):
            continue
        found = error_of_text(candidate)
        if found is not None and found.score == SCORE_ALONE:
            continue
        if found is not None and _STATUS.sub("", found.refusal.message) not in _PHRASES:
            return found
        if found is not None:
            status = status or (found if _is_met(candidate, text) else None)  # a reason may be elsewhere
            continue
        by_meaning = error_by_meaning(candidate, text)
        if by_meaning is not None:
            return by_meaning
    is_page = len(text) > _MAX_OF_STATUS and _BY_PERSON.search(text) is None
    return _read_kept_body(text, status) or (None if is_page else status)


def _read_kept_body(text: str, status: FoundError | None) -> FoundError | None:
    """Return the error of a body that a line of a log keeps as a text, which may be cut; `None` without one."""
    body = _KEPT_BODY.search(text)
    if body is None or status is None:
        return None
    inner = innermost(text[body.start() + 1 :])
    found = error_by_meaning(inner.words, text)
    return None if found is None else found._replace(refusal=replace(found.refusal, status=status.refusal.status))


def _is_met(status: str, text: str) -> bool:
    """Return whether a status that a text names came: it is all of a line, or the text says that something failed."""
    lines = (line for line in text.split("\n") if status in line)
    return any(_SENTENCE.search(drop_names(_MARKS.sub("", line.strip()))) is None for line in lines) or has_come(text)


def _candidates(text: str) -> Iterator[str]:
    """Yield what may be an error's words: strings of JSON, or what lines quote, and lines."""
    value = json_of(text)
    if value is None and text.lstrip().startswith(("{", "[")):
        found = lenient_json_of(text)
        value = None if found is None else found[0]
    if value is not None:
        yield from (candidate for candidate in strings_in(_drop_other_words(value)) if _is_said(candidate))
        return
    above = ""
    for line in _JOINED.sub(" ", text).split("\n"):
        bare = _MARKS.sub("", line.strip())
        is_within = len(above) >= _MIN_OF_PARAGRAPH and above.endswith(_GOES_ON)
        above = line
        is_title = line.startswith("#") and is_of_page(line)
        if is_title or any(sign.match(bare) is not None for sign in (_RAISES, _FIELD, _KEYWORD)):
            continue
        if OF_MANUAL.match(bare) is not None or is_command(bare) or _ROW.fullmatch(bare) is not None:
            continue
        quoted = [_unescaped(found) for found in _QUOTED.finditer(bare)]
        yield from (found[0] for found in islice(_WITHIN.finditer(bare), 1))
        clauses = [bare[found.end() :] for found in islice(_CLAUSE.finditer(bare), _MAX_CLAUSES)]
        yield from filter(_is_said, [*quoted, *clauses])
        is_short = len(bare) <= _MAX_TALK or "{" in bare
        is_told = _TWO_SENTENCES.search(bare) is not None and not begins_as_error(bare)
        is_part = is_told or is_within or (bare.endswith(",") and bare[:1].isalnum())  # of a sentence or a program
        if is_short and not is_part and _MIN_ERROR <= len(bare) <= _MAX_ERROR and may_report(bare, is_quoted=False):
            yield bare


def _drop_other_words(value: JSON, depth: int = 0) -> JSON:
    """Return a value without the texts in it that report nothing: of definitions, of a person, of a tool."""
    if depth > _MAX_DEPTH:
        return value
    if isinstance(value, list):
        return [_drop_other_words(one, depth + 1) for one in value]
    if not isinstance(value, dict):
        return value
    is_of_tool = isinstance(value.get("observation"), str)  # an event of an agent, with what its tool printed
    is_step = is_of_tool and isinstance(value.get("thought"), str)
    is_written = value.get("role") in ("user", "system", "developer") and isinstance(value.get("content"), str)
    left_out = {*_OTHER_WORDS, *(("content",) if is_of_tool or is_written else ()), *(_OF_STEP if is_step else ())}
    return {key: _drop_other_words(one, depth + 1) for key, one in value.items() if key not in left_out}


def _unescaped(found: re.Match[str]) -> str:
    """Return what is quoted: as a string of JSON it may be escaped, and within a string that Python prints."""
    literal = found[0].replace("\\'", "'")  # which no string of JSON has
    value = json_of(literal) if found[2] is not None and "\\" in found[0] else None
    return value if isinstance(value, str) else next(group for group in found.groups() if group)


def _is_said(candidate: str) -> bool:
    return _MIN_ERROR <= len(candidate) <= _MAX_ERROR and may_report(candidate, is_quoted=True)
