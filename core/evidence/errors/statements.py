r"""The words in a text that may be an error's, by their form.

SomeError: words                    an exception, alone or at the end of a traceback, in any language
ERROR module: words                 a line of a log
says: "words"                       a quotation in a sentence about an error
words                               a short text that says what errors say, and is not a person's
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from prompt_debugger.core.evidence.errors.tracebacks import EXCEPTION, FRAME, TRACEBACK
from prompt_debugger.core.evidence.no_errors.programs import is_command
from prompt_debugger.core.evidence.no_errors.wording import is_of_page
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.known_errors import words_as_one_line

WORDLESS = "(its words were not copied)"
_MAX_EXCEPTIONS = 6
_MAX_LINES = 12
_MAX_WORDS = 1_500  # characters of a statement
MAX_ALONE = 900  # characters of a text that is a sentence without the shape of an error
_MAX_SENTENCES = 2
_LEVEL = re.compile(
    r"(?m)^[^\n]{0,160}?(?P<words>\b(?:(?:ERROR|ERR|FATAL|(?<!^)CRITICAL|SEVERE)\b[^\n]{8,}"
    r"|(?:[A-Z][a-z]{2,20} )?(?:(?<!\brpc )[Ee]rror|(?<!\bone )[Ee]xception|[Ff]ailed|panic|level=error)\b(?!\))"
    r"(?![\"']? ?[:=] ?(?:[Tt]rue|[Ff]alse|null|None|\d{1,9}|\[\]|\{\})(?:[ \t,}\])]*$|[ \t]{0,4}[,}]))"
    r"(?=[^\n]{0,80}?[:=\]])[^\n]{8,})"
    r"(?:(?<=:)\n[ \t]{0,8}(?!```)[\"'`][^\n]+|(?:\n[ \t]{1,12}[|=][^\n]*){0,3}))$"
)
_LEVEL_NAME = re.compile(
    r"\A(?:(?:[A-Z][a-z]{2,20} )?[Ee]rror\](?:: ?| )(?:\([\w. -]{1,40}\) )?(?=\S{3})"
    r"|(?:ERROR|ERR|FATAL|CRITICAL|SEVERE)\b\]?:? {0,4}(?:\[[\w:. -]{1,60}\]:? {0,4})?(?=\S{3}))"
)
# What a person says of an error before its words.
_OF_PERSON = re.compile(
    r"\A(?:an )?[Ee]rror (?:occurs|happens|appears|shows up|comes up|pops up)\b[^\n]{0,200}?: "
    r"(?=(?:[\w.-]{1,30} ){0,4}[Ee]rror: )"
)
# An exception with its words on a line of a log, above its traceback.
_ABOVE_TRACEBACK = re.compile(
    r"\b(?P<name>[A-Z]\w{2,60}(?:Error|Exception)): (?P<said>[^\n]{15,1500}?)[. ]{0,3}"
    r"(?:Traceback: )?Traceback \(most recent call last\):?\s*\Z"
)
# What tenacity says of the exception for which it tries again.
_RETRIED = re.compile(r"\b[Rr]etrying [^\n]{1,300}? as it raised (\w{1,60}): ([^\n]{10,1500}?)[. ]{0,3}$", re.MULTILINE)
# A record in JSON; a whole one is read as a value.
_RECORD = re.compile(
    r"\s{0,8}\{(?=\"\w)[^\n]{0,2000}?\"(?:level|severity|levelname|lvl)\" ?: ?"
    r"\"(?:err(?:or)?|fatal|critical|panic|severe)\"",
    re.IGNORECASE,
)
_SAID_BY_RECORD = re.compile(
    r"\"(?P<key>error|err|exception|message|msg|event)\" ?: ?(?P<words>\"(?:[^\"\\\n]|\\.){8,2000}+\")"
)
_LAST_HEADING = re.compile(r"\n[ \t]{0,3}#{2,6} [^\n]{1,80}\s{0,9}\Z")  # of the part of a report that comes next
_PLAIN_KEYS = frozenset({"message", "msg", "event"})
_HANDLER = re.compile(r"\bException in ASGI application\s*\Z")
_LEVEL_COLUMN = re.compile(r"[^\n]{0,30}\b(?:ERROR|CRITICAL) {3,8}\S")
_IN_COLUMN = re.compile(r" {8,40}\S")
_NEXT_ENTRY = re.compile(r"\s*(?:\Z|\[?\d{4}[-/]\d\d[-/]\d\d|time=|[A-Z]{4,8}\b)")
_MAX_OF_HEAD = 40  # characters in which the next entry shows that it is one
_MAX_IN_COLUMN = 12  # lines
_SHAPED = re.compile(
    r"\A\W{0,12}(?!\d{0,2}[.)]? {0,2}(?:if|when(?:ever)?|once|unless|while|because|although|never"
    r"|always) )(?:[\w.]{0,60}(?:Error|Exception)\b|(?:an )?error(?: (?:occurred|code|while|when|during|executing"
    r"|calling|processing|parsing|loading|invoking|creating)\b|\s{0,2}[:!(\[-])|failed\b|unable to|could not|cannot"
    r"|invalid|unsupported|unknown|unexpected|http(?: error)? ?[45]\d\d|[45]\d\d\b|api error|bad request"
    r"|stream error|warning:|\[?[\w. -]{1,30}\]?:? (?:error|failed|fail)\b(?!\))|status(?: code)?:? ?[45]\d\d)",
    re.IGNORECASE,
)
_FAILS = re.compile(
    r"\b(?:not|cannot|can't|must|failed|fails?|invalid|unsupported|missing|required|exceed\w{0,3}|errors?|refused"
    r"|denied|unknown|unrecognized|unable|unexpected|too|expected|illegal|insufficient|blocked|flagged|limit|incorrect"
    r"|duplicate|mismatch|terminated|unterminated|truncated|incomplete|expecting|overloaded|empty|only|no"
    r"|without|rejected)\b|n't\b|error|exception",
    re.IGNORECASE,
)
# What sentences of people do not hold: a status, a path of a body, a body, the name of an exception.
_MARKED = re.compile(r"\b[45]\d\d\b|\w\[\d{1,6}\]|\{[\"']|[A-Z]\w{2,60}(?:Error|Exception)\b|\b[a-z]+(?:_[a-z]+)+\b")
_HEARSAY = re.compile(r"\W{0,4}(?:I|I'm|I've|[Ww]e|[Mm]y|[Oo]ur|[Tt]he user) ")
_FIRST_PERSON = re.compile(r"\bI(?:'ve|'m| have| am| was)? (?:get|got|see|use|run|ran|[a-z]{2,20}(?:ed|ing|ound|aw))\b")
_NARRATED = re.compile(
    r"\A(?:\u2192|\u21d2) |\w[`)]{0,3} (?:\u2192|\u21d2) [`(]{0,3}\w|[.!?] (?:The user|I|We|My|Our) [a-z']"
)  # by a person
_CLASS = re.compile(r"[A-Z]\w{2,60}(?:Error|Exception)\b")
_PERSON = re.compile(r"\b(?:I|I'm|I've|[Ww]e|[Mm]y|[Oo]ur|let's|hello|thanks|how (?:do|can|to)|why)\b|\?(?:\s|$)")
# What people write of errors, and programs do not.
_REPORTED = re.compile(
    r";|!\[|\]\(|<!--|\*\*|\A[>*|]|:\Z|\A\W{0,4}(?:expected|actual|observed)[ \w]{0,20}:"
    r"|\b(?:which|whose|while|where|therefore|however|often|usually|mostly"
    r"|such as|others?|otherwise|most|also|instead|both|nothing|everywhere|when|will|would|because|since|seems?)\b"
    r"|\A\W{0,4}(?:changelog|release notes)\b|\b(?:retry|retries|attempt) succeeded\b|\bsucceeded after \d"
    r"|\Aif `\w{1,40}` (?:is|are) \w"
    r"|,[^,]{1,80}, (?:and|or)\b|, so (?:that |the |it |we |I |[a-z_]+ (?:is|are) )|\bjust (?:has|gives|says|shows)\b"
    r"|(?:\A|\s)#{2,6} \S|\w <https?://[^\s>]{1,300}>`?_|\b(?:error|exception) (?:is|will be|gets) raised\b"
    r"|\braises? an? \w{1,60}Error\b|\A\W{0,4}(?:exception )?raised (?:for|when|if)\b|\bfor instance\b"
    r"|\A\s{0,4}(?:is the same|means|comes from|happens|occurs)\b",
    re.IGNORECASE,
)
_ABOUT_CODE = re.compile(
    r"[-* ]{0,4}`\w{3,80}(?:\(\))?`: [A-Z][^\n.]{1,200}\. [A-Z]"
    r"|`[^`\n]{3,120}` (?:is|means|has|comes|says) (?:the|a|an|that|from|on)\b"
)
_LITERAL = re.compile(r"(?<!`)``[^`\n]{1,120}``(?!`)")  # code in reStructuredText, as docstrings have it
_MAX_REPORTED = 320  # characters of a sentence that only its words make an error
_QUOTED = re.compile(r"`[^`]{0,400}`|\"[^\"]{0,400}\"")
# How IPython heads a traceback, and marks the line that each of its frames was at.
_NOTEBOOK = re.compile(r"(?m)^([A-Z]\w{0,60}(?:Error|Exception)) {4,}Traceback \(most recent call last\)")
_AT_LINE = re.compile(r"(?m)^-{2,}> {0,4}\d{1,6} +(\S[^\n]{0,300})")
# A quotation in a sentence, after a word that says that it is an error.
_SAID = re.compile(
    r"\b(?:errors?|fails?|failed|failing|got|gets?|getting|says?|message|exception|throws?|returns?|shows?|see"
    r"|seeing)\b"
    r"[^\n\"'`\u201c]{0,60}(?:(?<!\w)\"(?=\S)(?P<plain>[^\"\n]{20,600})\"|(?<!\w)`(?=\S)(?P<code>[^`\n]{20,600})`"
    r"|\u201c(?P<curly>[^\u201d\n]{20,600})\u201d"
    r"|'(?P<single>[^'\n]{20,200})'(?!\w))",
    re.IGNORECASE,
)
OF_MANUAL = re.compile(r"\W{0,6}Returns?\b")  # what a manual says of an endpoint
_MAX_SAID = 12  # quotations that are looked at
_NO_ERROR = re.compile(r"\"error\" ?: ?null\b")
_KEY_OF_REQUEST = re.compile(r"\\{0,4}\"(?:messages|role)\\{0,4}\" ?:")
_KEY_OF_ERROR = re.compile(r"\\{0,4}\"(?:error|detail|(?:message|msg)(?!\\{0,4}\" ?: ?\{)|code|status)\\{0,4}\" ?:")


class Statement(NamedTuple):
    """Words in a text that may be an error's.

    Attributes:
        words: The words, in one line.
        name: Name of the exception; "" without one.
        is_shaped: Whether something but the words says that it is an error.
    """

    words: str
    name: str
    is_shaped: bool


def may_report(words: str, *, is_quoted: bool) -> bool:
    """Return whether words may be an error's: quoted ones by what they say, a separate line by form alone."""
    if not is_quoted and _NARRATED.search(words) is not None:
        return False
    is_hearsay = not is_quoted and _HEARSAY.match(words) is not None  # what someone says of an error is not its words
    is_shaped = (_SHAPED.match(words) is not None and not is_hearsay) or EXCEPTION.search(words) is not None
    return is_shaped or (_FAILS if is_quoted else _MARKED).search(words) is not None


def begins_as_error(words: str) -> bool:
    """Return whether words begin as those of errors do, or have the name of an exception."""
    return _SHAPED.match(words) is not None or EXCEPTION.search(words) is not None


def statements_in(text: str) -> Iterator[Statement]:
    """Yield what may be an error, the likeliest first."""
    exceptions = list(EXCEPTION.finditer(text))[-_MAX_EXCEPTIONS:]
    for found in reversed(exceptions):
        yield Statement(_until_stack(_read_code_error(text, found)), found[1].rpartition(".")[2], is_shaped=True)
    if not exceptions and (headed := _NOTEBOOK.search(text)) is not None:
        at = list(_AT_LINE.finditer(text, headed.end()))
        words = f"{headed[1]} {WORDLESS}" + (f" at `{at[-1][1].strip()}`" if at else "")
        yield Statement(words, headed[1], is_shaped=True)
    for retried in islice(_RETRIED.finditer(text), 1):
        yield Statement(words_as_one_line(retried[2]), retried[1], is_shaped=True)
    for match in islice(_SAID.finditer(text), _MAX_SAID):
        if OF_MANUAL.match(match[0]):
            continue
        words = next(group for group in match.groups() if group)
        yield Statement(words_as_one_line(words), "", is_shaped=False)
    if not text.lstrip().startswith("<"):
        yield from _lines_of_log(text)
    if (whole := _whole_text(_heading_or_text(text.strip()))) is not None:
        yield whole


def _whole_text(text: str) -> Statement | None:
    """Return a text as one statement, if its form or its words are those of an error; `None` of a page's words."""
    text = _LAST_HEADING.sub("", text)
    is_titled = text.startswith("#") and is_of_page(text.partition("\n")[0])
    if len(text) > MAX_ALONE * 2 or is_titled or _ABOUT_CODE.match(text) is not None or FRAME.search(text) is not None:
        return None
    is_narrated = _FIRST_PERSON.search(_QUOTED.sub("", text[:_MAX_REPORTED])) is not None
    is_form = _SHAPED.match(text) is not None and not is_narrated
    is_said = (
        not text.startswith("#")
        and not OF_MANUAL.match(text)
        and not is_command(text)
        and not _is_prose(text)
        and not _is_body(text)
    )
    if not is_form and not (is_said and _FAILS.search(text) is not None):
        return None
    is_shaped = is_form or _CLASS.search(text[:200]) is not None
    return Statement(words_as_one_line(text)[:_MAX_WORDS], "", is_shaped=is_shaped)


def _lines_of_log(text: str) -> Iterator[Statement]:
    """Yield the words of lines that their level or their words show to be errors."""
    for line in islice(_LEVEL.finditer(text), _MAX_LINES):
        if _RECORD.match(line[0]) is not None:
            yield from _said_by_record(line[0])
            continue
        said = line["words"].rstrip()
        tail = said[-_MAX_WORDS:] if said.rstrip(":").endswith(TRACEBACK[:-1]) else ""
        if (above := _ABOVE_TRACEBACK.search(tail)) is not None:
            yield Statement(words_as_one_line(tail[above.start() : above.end("said")]), above["name"], is_shaped=True)
        elif _HANDLER.search(said) is None and not _leads_on(said, text[line.end() : line.end() + _MAX_OF_HEAD]):
            words = _LEVEL_NAME.sub("", _OF_PERSON.sub("", words_as_one_line(line["words"] + _in_column(text, line))))
            yield Statement(words[:_MAX_WORDS], "", is_shaped=True)


def _said_by_record(line: str) -> Iterator[Statement]:
    """Yield the words of a log's record in JSON that was cut, the field of the error first."""
    found = sorted(islice(_SAID_BY_RECORD.finditer(line), _MAX_SAID), key=lambda one: one["key"] in _PLAIN_KEYS)
    for one in found:
        words = json_of(one["words"])
        if isinstance(words, str):
            yield Statement(words_as_one_line(words)[:_MAX_WORDS], "", is_shaped=True)


def _leads_on(said: str, below: str) -> bool:
    """Return whether a line continues below: it ends with a colon, and the next line is not another entry."""
    is_empty = said.endswith("message:") and _NEXT_ENTRY.match(below) is not None
    return said.endswith((TRACEBACK, ":")) and not is_empty


def _in_column(text: str, line: re.Match[str]) -> str:
    """Return what continues a log's entry below it, in the column of its words, as Rich lays a log out."""
    if _LEVEL_COLUMN.match(text, line.start()) is None:
        return ""
    rest: list[str] = []
    for below in text[line.end() + 1 :].split("\n", _MAX_IN_COLUMN)[:_MAX_IN_COLUMN]:
        if _IN_COLUMN.match(below) is None:
            break
        rest.append(below.strip())
    return "".join(f"\n{one}" for one in rest)


def _heading_or_text(text: str) -> str:
    """Return the heading that a text begins with, if it is an error's words: what is below it says something else."""
    line, _, rest = text.partition("\n")
    bare = line.lstrip("# ")
    is_error = _SHAPED.match(bare) is not None and not is_of_page(line)
    return bare if text.startswith("#") and rest.strip() and is_error else text


def _read_code_error(text: str, found: re.Match[str]) -> str:
    """Return what follows the name of an exception: up to the end of the code, if it is code within a sentence."""
    rest = text[found.end() :]
    return rest.partition("`")[0] if "`" in text[found.start() : found.start(1)] else rest


def _until_stack(text: str) -> str:
    """Return the words of an exception without the frames, the bars and the prose that follow them."""
    end = re.search(
        r"\n\s{0,12}(?:at |File \"|\+-|\||During handling|The above|Traceback)"
        r"|\n[ \t]{0,9}\n|\nCell In\[|\n\S[^\n]{0,200}(?:INFO|DEBUG|WARN)",
        text,
    )
    return words_as_one_line(text[: end.start() if end is not None else len(text)])[:_MAX_WORDS]


def _is_body(text: str) -> bool:
    """Return whether a text is JSON of a request, of an answer or of texts, however broken, and no error's body."""
    if text.startswith('["') and text.endswith('"]'):
        return True
    if text.startswith(("{", "[")) and _NO_ERROR.search(text) is not None:
        return True
    is_of_request = text.startswith(("{", "[")) and _KEY_OF_REQUEST.search(text) is not None
    return is_of_request and _KEY_OF_ERROR.search(text) is None


def _is_prose(text: str) -> bool:
    """Return whether a text is what a person or a model writes about something, not what a program reports."""
    bare = _QUOTED.sub("", text)
    if len(text) > _MAX_REPORTED or any(sign.search(text) is not None for sign in (_NARRATED, _LITERAL)):
        return True
    if _REPORTED.search(bare) is not None:
        return True
    sentences = len(re.findall(r"[.!?](?:\s|$)", bare))
    return sentences > _MAX_SENTENCES or _PERSON.search(bare) is not None
