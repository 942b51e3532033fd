r"""Errors in words that no table lists: found by their shape and class, and distinguished from other programs' errors.

    SomeError: words                    an exception, alone or at the end of a traceback, in any language
    ERROR module: words                 a line of a log
    words                               a short text that says what a class of errors says
    {\"message\": \"words\"                 a body that was cut, or escaped, so that it is no JSON any more

A text counts if its words are of chat requests alone, or if something around them is: a module of an engine or client,
an address, a field of a request. An error of anything else is named as such, and nothing is concluded from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from prompt_debugger.core.base.types import Refusal
from prompt_debugger.core.evidence.errors.not_errors import (
    drop_documents,
    drop_guidance,
    is_command,
    is_field_of_calls,
    is_manual,
    is_source,
)
from prompt_debugger.core.known_errors import Cause, Classified, classes_of, speaker_of, words_as_one_line

_SCORE = 0.62  # less than that of a log, which is read with the error in it
_MAX_EXCEPTIONS = 6
_MAX_LINES = 12
_MAX_WORDS = 1_500  # characters of a statement
_MAX_ALONE = 900  # characters of a text that is a sentence without the shape of an error
_MAX_SENTENCES = 2
_EXCEPTION = re.compile(
    r"(?m)^[^\w\n]{0,12}(?:(?:Error|ERROR|error|Exception|Caused by|Uncaught|thread '[\w-]{1,40}' pani"
    r"cked at)[: ]{1,3}|\[?[\w ]{1,30}\]? ?(?:[-:] )?)?(?<!\w)((?:[\w$]{1,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Excep"
    r"tion|Behavior|Failure|Timeout|Interrupt|Exit))\b(?: \[\w{1,60}\])?: ?(?=\S)"
)
_LEVEL = re.compile(
    r"(?m)^[^\n]{0,160}?(?P<words>\b(?:(?:ERROR|ERR|FATAL|CRITICAL|SEVERE)\b[^\n]{8,}"
    r"|(?:[A-Z][a-z]{2,20} )?(?:[Ee]rror|[Ee]xception|[Ff]ailed|panic|level=error)\b(?!\))"
    r"(?=[^\n]{0,80}?[:=\]])[^\n]{8,})"
    r"(?:(?<=:)\n[ \t]{0,8}[\"'`][^\n]+|(?:\n[ \t]{1,12}[|=][^\n]*){0,3}))$"
)
_LEVEL_NAME = re.compile(
    r"\A(?:(?:[A-Z][a-z]{2,20} )?[Ee]rror\](?:: ?| )(?:\([\w. -]{1,40}\) )?(?=\S{3})"
    r"|(?:ERROR|ERR|FATAL|CRITICAL|SEVERE)\b\]?:? {0,4}(?:\[[\w:. -]{1,60}\]:? {0,4})?(?=\S{3}))"
)
# An exception that a line of a log tells whole, before the traceback below it.
_ABOVE_TRACEBACK = re.compile(
    r"\b(?P<name>[A-Z]\w{2,60}(?:Error|Exception)): (?P<said>[^\n]{15,1500}?)[. ]{0,3}"
    r"(?:Traceback: )?Traceback \(most recent call last\):?\s*\Z"
)
# What tenacity says of the exception for which it tries again.
_RETRIED = re.compile(r"\b[Rr]etrying [^\n]{1,300}? as it raised (\w{1,60}): ([^\n]{10,1500}?)[. ]{0,3}$", re.MULTILINE)
_HANDLER = re.compile(r"\bException in ASGI application\s*\Z")
_LEVEL_COLUMN = re.compile(r"[^\n]{0,30}\b(?:ERROR|CRITICAL) {3,8}\S")
_IN_COLUMN = re.compile(r" {8,40}\S")
_NEXT_ENTRY = re.compile(r"\s*(?:\Z|\[?\d{4}[-/]\d\d[-/]\d\d|time=|[A-Z]{4,8}\b)")
_MAX_OF_HEAD = 40  # characters in which the next entry shows that it is one
_MAX_IN_COLUMN = 12  # lines
# How a text begins that is a log, or what a program printed.
_LOGGED = re.compile(
    r"\W{0,4}(?:\d{4}[-/]\d\d[-/]\d\d|\d\d:\d\d:\d\d|(?:ERROR|FATAL|CRITICAL)\b(?! ?=)|(?:Error"
    r"|error)(?: \w{1,20}){0,3}(?:: |\n)|"
    r"[\w.-]{1,40} {1,20}\| )"
)
_FOREIGN = re.compile(
    r"psycopg|sqlalchemy|redis|mysql|mariadb|pymongo|mongodb|smtplib|kafka|celery"
    r"|paramiko|selenium|playwright|sqlite|postgres",
    re.IGNORECASE,
)
# A time limit of which nothing says what was waited for: any program has one.
_ONLY_TIMED = re.compile(
    r"(?i)(?=[^\n]*\d)"
    r"(?:\W|\b(?:error|with|timed?|out|timeout|after|in|of|\d[\d.]{0,8} ?(?:m?s|sec\w{0,5}|min\w{0,5}))\b)++"
)
_SHAPED = re.compile(
    r"\A\W{0,12}(?:[\w.]{0,60}(?:Error|Exception)\b|(?:an )?error(?: (?:occurred|code|while|when|during|executing"
    r"|calling|processing|parsing|loading|invoking|creating)\b|\s{0,2}[:!(\[-])|failed\b|unable to|could not|cannot"
    r"|invalid|unsupported|unknown|unexpected|http(?: error)? ?[45]\d\d|[45]\d\d\b"
    r"|api error|bad request|stream error|warning:|"
    r"\[?[\w. -]{1,30}\]?:? (?:error|failed|fail)\b(?!\))|status(?: code)?:? ?[45]\d\d)",
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
_TOLD = re.compile(r"\W{0,4}(?:I|I'm|I've|[Ww]e|[Mm]y|[Oo]ur|[Tt]he user) ")
_TELLS = re.compile(r"\bI(?:'ve|'m| have| am| was)? (?:get|got|see|use|run|ran|[a-z]{2,20}(?:ed|ing|ound|aw))\b")
_NARRATED = re.compile(
    r"\w[`)]{0,3} (?:\u2192|\u21d2) [`(]{0,3}\w|[.!?] (?:The user|I|We|My|Our) [a-z']"
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
    r"|(?:\A|\s)#{2,6} \S",
    re.IGNORECASE,
)
_MAX_REPORTED = 320  # characters of a sentence that only its words make an error
_QUOTED = re.compile(r"`[^`]{0,400}`|\"[^\"]{0,400}\"")
_STRONG = re.compile(
    r"(?<![A-Za-z])(?:llms?|litellm|vllm|sglang|llama[\w.-]{0,20}|ollama|lm ?studio|openai|anthropic|claude|gemin"
    r"i|vertex ?ai|bedrock|openrouter|groq|mistral\w{0,10}|qwen[\w.-]{0,20}|deepseek|kimi|gpt-[\w.-]"
    r"{1,20}|chat[ _.]?completion(?:s|stream|request|chunk)?|completions?|tokenizer"
    r"|tool[ _]?(?:calls?|choice|use)|function cal"
    r"l\w{0,3}|chat[_ ]template|system (?:message|prompt)|max_(?:completion_)?tokens|response_format|r"
    r"easoning(?:_content)?|thinking|structured[ _](?:outputs?|data)|finish_reason"
    r"|langchain(?:4j)?|langgraph|spring[ .-]?ai|springframework\.ai|semantic ?kernel|chatlas|crewai"
    r"|llama_?index|pydantic[_ ]ai|smolagents|dspy|instructor|mcp|agents?|prompts?|context (?:length|window)|inference"
    r"|huggingface|transformers|gguf|o?mlx)\b|/v1/|\b(?:messages|input|choices|contents|tools)(?:\[\d|\.\d{1,4}\.)"
    r"|/api/(?:chat|generate"
    r"|tags|version)|:11434|:1234\b|ai_apicallerror"
    r"|ai_\w{3,40}error",
    re.IGNORECASE,
)
_PROGRAM = re.compile(
    r"(?m)^(?:[^\n\"]{0,120}\])?\s*File \"([^\"\n]{1,200})\", line (\d{1,7})"
    r"|\bat [\w.$<> ]{1,80} \(?([\w./\\:-]{1,120}\.[jt]sx?):(\d{1,7})"
)
_FOLDERS = re.compile(
    r"File \"(?:[^\"\n]{0,200}[/\\](?:site|dist)-packages[/\\]|[^\"\n]{0,200}[/\\](?=[^\"\n/\\]{1,200}\"))"
)
_FRAME = 'File "'  # with which each frame begins; the words of the error are below the last one
TRACEBACK = "Traceback (most recent call last):"
# How IPython heads a traceback, and marks the line that each of its frames was at.
_NOTEBOOK = re.compile(r"(?m)^([A-Z]\w{0,60}(?:Error|Exception)) {4,}Traceback \(most recent call last\)")
_AT_LINE = re.compile(r"(?m)^-{2,}> {0,4}\d{1,6} +(\S[^\n]{0,300})")
_SLASH = re.compile(r"[/\\]")
# The name of an exception that was raised without words, alone in its line.
_BARE = re.compile(r"(?m)^(?:\w{1,60}\.){0,8}([A-Z]\w{0,60}(?:Error|Exception|Interrupt|Exit|Failure|Timeout))[ \t]*$")
_UNASSIGNED = re.compile(r"name '(\w{1,80})' is not defined")  # of the program itself, whatever it is about

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
_QUOTED_LAST = re.compile(r"(?<=: )[\"`]([^\"`]{15,600})[\"`]\W{0,3}\Z")
_MAX_SAID = 12  # quotations that are looked at


class Statement(NamedTuple):
    """Words within a text that may be an error.

    Attributes:
        words: They, in one line.
        name: Of the exception; "" without one.
        is_shaped: Whether something but the words says that it is an error.
    """

    words: str
    name: str
    is_shaped: bool


def error_by_meaning(text: str, whole: str = "") -> tuple[Refusal, float] | None:
    """Return the error of a chat request that a text is about, by what its words mean, and a score; else `None`.

    Args:
        text: The text, without the heads of a log's lines.
        whole: The text with them, which show whose log it is.
    """
    if len(text) > _MAX_ALONE * 40:
        text = text[-_MAX_ALONE * 40 :]
    whole = whole[-_MAX_ALONE * 40 :] or text
    text = drop_guidance(drop_documents(text))
    statements = () if is_source(text) or is_manual(text) else tuple(_statements(text))
    statements = tuple(one for one in statements if not is_field_of_calls(one.words))
    if not statements:
        return None
    is_of_chat, around = is_about_chat(whole), text[-4_000:]
    rest: list[Statement] = []
    without_reason: Statement | None = None
    for statement in statements:
        sentence = f"{statement.name}: {statement.words}" if statement.name else statement.words
        found = next(classes_of(sentence, around), None)
        if found is None:
            rest.append(statement)
        elif found.error.is_distinctive or is_of_chat or _is_of_connection(found, statement, text):
            statement = _quoted_alone(statement, found)
            if found.error.has_reason:
                return _refusal(statement), _SCORE
            without_reason = without_reason or statement
    if without_reason is not None:
        return _refusal(without_reason), _SCORE
    shaped = next((one for one in rest if one.is_shaped and one.name), None)
    if shaped is not None and speaker_of(whole) is not None:
        return _refusal(shaped), _SCORE
    reported = next((one for one in rest if one.is_shaped), None)
    is_logged = _LOGGED.match(text.strip()) is not None and _EXCEPTION.search(text) is None
    is_answer = is_of_chat and _status(text.strip()) is not None
    if reported is not None and len(text) <= _MAX_ALONE * 2 and (is_logged or is_answer):
        return _refusal(reported), _SCORE
    return None


def _quoted_alone(statement: Statement, found: Classified) -> Statement:
    """Return a sentence as what it quotes at its end, where that alone says the same: the rest is a person's."""
    quoted = _QUOTED_LAST.search(statement.words)
    if statement.name or quoted is None:
        return statement
    same = next(classes_of(quoted[1]), None)
    return statement if same is None or same.error is not found.error else statement._replace(words=quoted[1])


def may_report(words: str, *, is_quoted: bool) -> bool:
    """Return whether words may be an error's: quoted ones by what they say, a separate line by form alone."""
    if not is_quoted and _NARRATED.search(words) is not None:
        return False
    is_hearsay = not is_quoted and _TOLD.match(words) is not None  # what someone says of an error is not its words
    is_shaped = (_SHAPED.match(words) is not None and not is_hearsay) or _EXCEPTION.search(words) is not None
    return is_shaped or (_FAILS if is_quoted else _MARKED).search(words) is not None


def _is_of_connection(found: Classified, statement: Statement, text: str) -> bool:
    """Return whether a client did not get its answer, of any server but a database and the like."""
    is_waiting = found.error.cause is Cause.CONNECTION and statement.is_shaped and _FOREIGN.search(text) is None
    return is_waiting and _ONLY_TIMED.fullmatch(statement.words) is None


def is_about_chat(text: str) -> bool:
    """Return whether a text has a sign of chat requests: a program that handles them, an address, a field.

    Of a frame's path the package counts, and no folder above it: a user's name or a project's says nothing.
    """
    return _STRONG.search(_FOLDERS.sub('File "', text)) is not None or speaker_of(text) is not None


def other_program(text: str) -> str | None:
    """Return a sentence on an error that has nothing to do with chat requests; `None` if it is no such error."""
    found = list(_EXCEPTION.finditer(text[-_MAX_ALONE * 40 :]))
    if not found:
        return _raised_bare(text)
    unassigned = _UNASSIGNED.match(found[-1].string, found[-1].end()) if found[-1][1] == "NameError" else None
    if unassigned is not None and speaker_of(text) is None:
        return (
            f"This is an error of the program itself (`NameError`): it uses `{unassigned[1]}` before anything assigns "
            "it. In a notebook, run the cell that does so first. It says nothing of a request, a template or an answer."
        )
    if is_about_chat(text):
        return None
    place = list(_PROGRAM.finditer(text))
    where = ""
    if place:
        file, line = (place[-1][1], place[-1][2]) if place[-1][1] else (place[-1][3], place[-1][4])
        where = f", raised in {_SLASH.split(file)[-1]} line {line}"
    return (
        f"This is an error of a program (`{found[-1][1].rpartition('.')[2]}`{where}); nothing in it speaks of a chat "
        "request, a template, a model or its answer."
    )


def _raised_bare(text: str) -> str | None:
    """Return a sentence on an exception that was raised without words; `None` without one at a traceback's end."""
    start = text.rfind(TRACEBACK)
    frames = list(_PROGRAM.finditer(text, start)) if start >= 0 else []
    last = _BARE.search(text, frames[-1].end()) if frames else None
    if last is None:
        return None
    source = next((line.strip() for line in text[frames[-1].end() : last.start()].split("\n")[1:] if line.strip()), "")
    at = f" at `{source[:200]}`" if source and "`" not in source else ""
    return f"The traceback ends with `{last[1]}`, raised without words{at}: what was checked there is not in the text."


def cut_traceback(text: str) -> str | None:
    """Return a sentence on a traceback that was copied without the line that names its error; `None` of other texts."""
    start = text.rfind(TRACEBACK)
    if start < 0 or _EXCEPTION.search(text, max(start + len(TRACEBACK), text.rfind(_FRAME, start))) is not None:
        return None
    frames = list(_PROGRAM.finditer(text, start))
    if not frames or _BARE.search(text, frames[-1].end()) is not None:
        return None
    speaker = speaker_of(text)
    origin = "" if speaker is None else f" of {speaker.title}"
    last = frames[-1]
    file, line = (last[1], last[2]) if last[1] else (last[3], last[4])
    return (
        f"The text contains a traceback{origin} without its end: it breaks off in {_SLASH.split(file)[-1]} line "
        f"{line}, and "
        "the line below its last frame names the error."
    )


def _refusal(statement: Statement) -> Refusal:
    return Refusal(_status(statement.words), statement.words, None, statement.name or None)


def _status(words: str) -> int | None:
    found = re.search(
        r"\b(?:status(?: ?code)?|HTTP|error code|error)\W{0,3}([45]\d\d)\b"
        r"|\A\W{0,3}([45]\d\d) [A-Z]",
        words,
        re.IGNORECASE,
    )
    return None if found is None else int(found[1] or found[2])


def _statements(text: str) -> Iterator[Statement]:
    """Yield what may be an error, the likeliest first."""
    exceptions = list(_EXCEPTION.finditer(text))[-_MAX_EXCEPTIONS:]
    for found in reversed(exceptions):
        yield Statement(_until_stack(_read_code_error(text, found)), found[1].rpartition(".")[2], is_shaped=True)
    if not exceptions and (headed := _NOTEBOOK.search(text)) is not None:
        at = list(_AT_LINE.finditer(text, headed.end()))
        words = f"{headed[1]} (its words were not copied)" + (f" at `{at[-1][1].strip()}`" if at else "")
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
    stripped = _heading_or_text(text.strip())
    is_said = (
        not stripped.startswith("#")
        and not OF_MANUAL.match(stripped)
        and not is_command(stripped)
        and not _is_prose(stripped)
    )
    is_told = _TELLS.search(_QUOTED.sub("", stripped[:_MAX_REPORTED])) is not None
    is_form = _SHAPED.match(stripped) is not None and not is_told
    is_reported = is_form or (is_said and _FAILS.search(stripped) is not None)
    if len(stripped) <= _MAX_ALONE * 2 and is_reported and _PROGRAM.search(stripped) is None:
        is_shaped = is_form or _CLASS.search(stripped[:200]) is not None
        yield Statement(words_as_one_line(stripped)[:_MAX_WORDS], "", is_shaped=is_shaped)


def _lines_of_log(text: str) -> Iterator[Statement]:
    """Yield what lines say whose level or words make them an error's."""
    for line in islice(_LEVEL.finditer(text), _MAX_LINES):
        said = line["words"].rstrip()
        tail = said[-_MAX_WORDS:] if said.rstrip(":").endswith(TRACEBACK[:-1]) else ""
        if (above := _ABOVE_TRACEBACK.search(tail)) is not None:
            yield Statement(words_as_one_line(tail[above.start() : above.end("said")]), above["name"], is_shaped=True)
        elif _HANDLER.search(said) is None and not _leads_on(said, text[line.end() : line.end() + _MAX_OF_HEAD]):
            words = _LEVEL_NAME.sub("", words_as_one_line(line["words"] + _in_column(text, line)))
            yield Statement(words[:_MAX_WORDS], "", is_shaped=True)


def _leads_on(said: str, below: str) -> bool:
    """Return whether a line ends where what is below it goes on: with a colon, if that is no entry of the log."""
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
    return bare if text.startswith("#") and rest.strip() and _SHAPED.match(bare) is not None else text


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


def _is_prose(text: str) -> bool:
    """Return whether a text is what a person or a model writes about something, not what a program reports."""
    bare = _QUOTED.sub("", text)
    if len(text) > _MAX_REPORTED or _REPORTED.search(bare) is not None or _NARRATED.search(text) is not None:
        return True
    sentences = len(re.findall(r"[.!?](?:\s|$)", bare))
    return sentences > _MAX_SENTENCES or _PERSON.search(bare) is not None
