"""Errors as people copy them → `Refusal`: bodies of all vendors, exceptions of clients, log lines, bare sentences.

    {"error": {…}}, {"object": "error"}, {"detail": …}, {"errors": […]}, {"code", "message"}, [{"error": …}]
    BadRequestError: Error code: 400 - {'object': 'error', 'message': …}
    Traceback (most recent call last): … jinja2.exceptions.TemplateError: …
    HTTP/1.1 400 Bad Request … {"error": …}
    API request failed with status 500: {"error": …}
    data: {"error": …}                              a stream that holds nothing else

Everything that varies is searched by patterns that read a text once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from prompt_debugger.core.base.types import Refusal, Stage
from prompt_debugger.core.complete.backends.error_words import words_of_value
from prompt_debugger.core.complete.backends.listed_faults import faults_in
from prompt_debugger.core.evidence.errors.cut_body import BODY, MAX_STARTS, cut_body_in
from prompt_debugger.core.evidence.errors.dotnet import error_of_dotnet
from prompt_debugger.core.evidence.errors.http import error_of_head, error_of_page, error_of_status_line
from prompt_debugger.core.evidence.errors.in_strings import error_in_string, plain_of_javascript
from prompt_debugger.core.evidence.errors.listed_fields import error_of_fields
from prompt_debugger.core.evidence.errors.other_languages import links_of_rust, plain_of_elixir, plain_of_java
from prompt_debugger.core.evidence.errors.printed import error_of_print
from prompt_debugger.core.evidence.errors.sentences import MAX_ALONE, cut_words, error_of_sentence, status_in
from prompt_debugger.core.evidence.errors.tool_lists import complete_list
from prompt_debugger.core.evidence.errors.tracebacks import drop_levels
from prompt_debugger.core.evidence.errors.unknown import error_by_meaning, is_about_chat, is_of_other_template
from prompt_debugger.core.evidence.errors.values import error_of_value, is_of_other_data
from prompt_debugger.core.evidence.no_errors.filtering import drop_unmeant, reports_nothing
from prompt_debugger.core.evidence.no_errors.programs import below_source, is_source, is_unfilled
from prompt_debugger.core.evidence.no_errors.transcripts import drop_unreported, is_judgement
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.evidence.values.printed_values import as_utf8, plain_of_rust, python_value_at, value_at
from prompt_debugger.core.known_errors import Cause, classes_of, recognise_error

MAX_CHARS = 400_000  # of a text in which an error is looked for
_MAX_OF_FRAME = 600  # characters above an exception: its source line, and the marks below it
_MAX_AROUND = 2_000  # characters that are kept of the text around an error

_STATUS_BY_CLASS = {
    "BadRequestError": 400,
    "AuthenticationError": 401,
    "PermissionDeniedError": 403,
    "NotFoundError": 404,
    "UnprocessableEntityError": 422,
    "RateLimitError": 429,
}
_EXCEPTION = re.compile(
    r"(?m)^[^\w\n]{0,8}(?:[A-Za-z][\w ]{0,40}: |Exception in thread \"[^\"\n]{1,60}\" )?"
    r"(?:\[?\w{0,40}Error \[(?=\w{1,80}\]: ))?(?:\w{1,80}\.){0,8}"
    r"(\w{0,80}(?:Error|Exception|Behavior)|AI_\w{1,80})\b(?:\]| \[\w{1,80}\])?: "
)
_CUT_LIST = re.compile(
    r"\A[^\n]{0,80}\{'object': 'error', 'message': '\[\{\\?'type\\?': "
)  # of faults, as vLLM sends it
_TRACEBACK = "Traceback (most recent call last)"
# Exceptions of what renders, sends and reads chat requests, whatever they say.
_OF_CHAT = re.compile(
    r"(?:jinja2|openai|litellm|anthropic|mistral_common|mistralai|openai_harmony|transformers|vllm|sglang|ollama|groq|"
    r"google\.genai|langchain\w{0,20})\.|TemplateError|UndefinedError|TemplateSyntaxError|HarmonyError|APIStatusError|"
    r"APICallError|AI_APICallError"
)
_LISTED_FAULTS = re.compile(r"(?:[A-Za-z][\w .]{0,30}: )?(?=\[\{'type': '\w{1,60}', 'loc': \()")  # their end may be cut
_OF_JINJA = re.compile(r"(?:jinja2\.exceptions\.)?(?:Template\w{0,20}|Undefined)Error\Z")
# vLLM's log of a tool parser that failed: these words, then a traceback, each line with its own head.
_PARSER_FAILED = re.compile(
    r"Error in extracting tool call from response\b|Error trying to handle streaming tool call\b"
)
_VLLM_HEAD = re.compile(
    r"(?m)^[`\s]{0,8}(?:\([\w. -]{1,60} pid=\d{1,9}\) ?)?(?:ERROR|WARNING|INFO) (?:\d\d-\d\d \d\d:\d\d:\d\d )?"
    r"\[[\w.]{1,80}:\d{1,6}\] ?"
)
_DATA_START = re.compile(r"\s*+(?:\{|\[\s*+[\[{\"'\]\d-])")
_STATUS_FIRST = re.compile(r"\s*+\[[45]\d\d\]: ?(?=\S)")  # `[400]: {"error": …`
_BOX = re.compile("[\u2500-\u257f]+")
_REPEATED = re.compile(r" \[repeated \d{1,9}x across cluster\]")
# What an exception says that only passes another one on, which the traceback shows above it.
_VAGUE = re.compile(r"Invalid JSON response\b|RetryError\[<Future at |<?Future at 0x\w{1,16} state=finished raised ")
_OF_REQUEST = re.compile(
    r"\b\d{1,4} validation errors? for (?!\w{0,60}(?:ChatCompletion|Completion|Response|Chunk|Choice)(?:Message)?\s)"
    r"(?!\w{0,60}(?:Delta|ToolCall)\w{0,20}\s|(?:AI)?Message(?:Chunk)?\s{1,8}tool_calls\.\d)"  # calls of an answer
    r"\w{0,60}(?:Chat|Completion|Message|Request)\w{0,60}\s"
)
_QUOTED_FAULTS = re.compile(r"\b\d{1,4} validation errors? for \w{1,80}\\n\w")  # with `\n` for a line break
_CHECKED = re.compile(r"\b(?:tool|arguments|input|parameters)\b")  # what a validator was given
_FENCE_START = re.compile(r"\A\s{0,9}```\w{0,20}[ \t]{0,4}\n")
_HEADING = re.compile(r"\A#{1,6} {1,3}(?:(?:\[[^\]\n]{1,20}\]|[Bb]ug)(?:: ?| ))?")
_FENCE_END = re.compile(r"(?<=\S)\n[ \t]{0,8}(?:```|~~~)\w{0,20}[ \t]*(?=\n|\Z)")


class FoundError(NamedTuple):
    """An error that was found in a text.

    Attributes:
        refusal: What was said.
        score: How surely the text is one, from 0 to 1.
    """

    refusal: Refusal
    score: float


def error_of_text(text: str) -> FoundError | None:
    """Return the error that a text is about; `None` if it does not look like one."""
    if reports_nothing(text):
        return None
    text = _BOX.sub(" ", drop_unreported(plain_of_javascript(plain_of_rust(text[:MAX_CHARS]))))
    text = plain_of_java(plain_of_elixir(drop_levels(drop_unmeant(text))))
    start = text.lstrip()[:20]
    if start.startswith(("data:", "event:")) and not start.startswith("data: '"):  # which JavaScript prints of a field
        return _read_stream(text)
    bare = _VLLM_HEAD.sub("", text)
    found = _read_chain(text) or _read_form(text, bare) or _read_meaning(bare, text)
    if found is not None and _gives_no_reason(found.refusal):
        found = _read_reason_beside(text, found.refusal) or found
    message = "" if found is None else found.refusal.message
    if found is not None and _OF_JINJA.match(found.refusal.code or "") and is_of_other_template(text):
        return None
    if is_unfilled(message) or is_judgement(message) or message.startswith(("{{", "{%")):
        return None
    if found is None:
        return None
    refusal = _strip_heading(_strip_fence(found.refusal))
    refusal = replace(refusal, message=complete_list(refusal.message, text))
    return found._replace(refusal=_add_surroundings(refusal, text))


def _read_chain(text: str) -> FoundError | None:
    """Read a chain of causes, as Rust prints it: the last one that is understood is the reason."""
    links = links_of_rust(text)
    is_of_chat = bool(links) and is_about_chat(text)
    for words in reversed(links):
        beside = _body_in(words) or Refusal(None, words, None)
        known = recognise_error(beside.message)
        is_known = known is not None and known.error.is_distinctive
        if is_known or (is_of_chat and _has_reason(beside.message)):
            return FoundError(_rebuild(beside, status_in(text), None), 0.85)
    return None


def _has_reason(words: str) -> bool:
    found = next(classes_of(words), None)
    return found is not None and found.error.has_reason


def _gives_no_reason(refusal: Refusal) -> bool:
    """Return whether an error only says that something failed, as `400 status code (no body)` does."""
    known = recognise_error(refusal.message)
    if known is not None:
        return known.error.is_about is Cause.UNCLEAR
    found = next(classes_of(refusal.message), None)
    return found is not None and not found.error.has_reason


def _read_reason_beside(text: str, refusal: Refusal) -> FoundError | None:
    """Return the error elsewhere in a text that gives the reason which the one that was found lacks."""
    beside = error_in_string(text) or _body_in(text) or cut_body_in(text)
    if beside is None or _gives_no_reason(beside):
        return None
    is_understood = recognise_error(beside.message) is not None or next(classes_of(beside.message), None) is not None
    return FoundError(_rebuild(beside, refusal.status, None), 0.9) if is_understood else None


def _strip_heading(refusal: Refusal) -> Refusal:
    """Return an error that is a heading of Markdown without its marks, and without the label of a tracker."""
    bare = _HEADING.sub("", refusal.message)
    return refusal if bare == refusal.message or not bare.strip() else replace(refusal, message=bare)


def _strip_fence(refusal: Refusal) -> Refusal:
    """Return an error without the code fence around it, and without the prose around that."""
    parts = _FENCE_END.split(refusal.message)
    is_lead = parts[0].rstrip().endswith(":") and recognise_error(parts[0]) is None
    inner = is_lead and len(parts) > 1  # what begins there is the error, under its lead
    message = parts[1] if inner else parts[0]
    message = _FENCE_START.sub("", message)
    if message.rstrip().endswith("```"):
        message = message.rstrip().removesuffix("```")
    elif message.count("`") % 2:
        message = message.rstrip().removesuffix("`")
    return refusal if message == refusal.message or not message.strip() else replace(refusal, message=message.rstrip())


def _add_surroundings(refusal: Refusal, text: str) -> Refusal:
    """Return an error with the text around its words, which may show what reported it."""
    rest = text.replace(refusal.message, " ")[-_MAX_AROUND:].strip()
    return replace(refusal, around=rest) if rest else refusal


def _read_meaning(bare: str, text: str) -> FoundError | None:
    found = error_by_meaning(bare, text)
    return None if found is None else FoundError(*found)


def _read_form(text: str, bare: str) -> FoundError | None:
    """Return the error of a text in one of the forms that are known, or whose sentence is."""
    return (
        _surely(error_of_head(text) or error_of_page(text) or error_of_print(text) or error_of_dotnet(text), 0.95)
        or _read_parser(bare)
        or _read_faults(text)
        or _read_exception(text)
        or (_read_exception(bare) if bare != text else None)
        or _read_body_within(text)
        or _read_body_in_string(text)
        or _read_sentence(text)
        or _surely(error_of_status_line(text) or error_of_fields(text), 0.9)
    )


def _read_sentence(text: str) -> FoundError | None:
    """Read a known sentence: a short text that says it, or an entry of a log."""
    found = error_of_sentence(text)
    return None if found is None else FoundError(*found)


def _surely(refusal: Refusal | None, score: float) -> FoundError | None:
    return None if refusal is None else FoundError(refusal, score)


def text_before_exception(text: str) -> str:
    """Return what precedes the exception that a text ends with, or its traceback; "" without one."""
    last = 0
    for found in _EXCEPTION.finditer(text[:MAX_CHARS]):
        last = found.start()
    traceback = text.rfind(_TRACEBACK, 0, last)
    return text[: traceback if traceback >= 0 else last]


def _read_stream(text: str) -> FoundError | None:
    """Read a stream whose only events are errors."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines or not all(line.startswith(("data:", "event:", "id:", "retry:", ":")) for line in lines[:50]):
        return None
    values = [json_of(line[len("data:") :]) for line in lines if line.startswith("data:")]
    reported = [value for value in values if isinstance(value, dict)]
    errors = [found for value in reported if (found := error_of_value(value)) is not None]
    return FoundError(errors[0], 0.95) if errors and len(errors) == len(reported) else None


def _read_parser(text: str) -> FoundError | None:
    """Read what a log says of a tool parser that failed, with the exception that ends its traceback."""
    failure = _PARSER_FAILED.search(text)
    if failure is None:
        return None
    raised = next(_EXCEPTION.finditer(text, failure.end()), None) or _decode_error_before(text, failure.start())
    if raised is None:
        return FoundError(Refusal(None, failure[0], None), 0.8)
    why = _REPEATED.sub("", text[raised.start() :].strip().partition("\n")[0]).strip("` ")
    return FoundError(Refusal(None, f"{failure[0]}: {why}", None), 0.8)


def _decode_error_before(text: str, stop: int) -> re.Match[str] | None:
    """Return the last decode error before a place: of a log that was cut at its beginning."""
    return next((one for one in reversed(list(_EXCEPTION.finditer(text[:stop]))) if one[1] == "JSONDecodeError"), None)


def _read_faults(text: str) -> FoundError | None:
    """Read a bare list of a request's faults: as Python prints it, or as pydantic writes it."""
    stripped = _restore_line_breaks(text.strip())
    labelled = _LISTED_FAULTS.match(stripped)
    stripped = stripped if labelled is None else stripped[labelled.end() :]
    is_listed = labelled is not None or (stripped.startswith("[{") and stripped.endswith("}]"))
    if not is_listed and _OF_REQUEST.search(stripped) is None:
        return None
    faults = [] if not is_listed and _is_said_by_a_known_program(text) else faults_in(stripped)
    if not faults:
        return None
    words = words_of_value({"detail": faults})
    return FoundError(Refusal(status_in(stripped[:200]), words.text, words.field), 0.9)


def _is_said_by_a_known_program(text: str) -> bool:
    """Return whether the faults are part of a sentence that is one program's alone, such as a plug-in's of Dify."""
    known = recognise_error(text)
    return known is not None and known.error.is_of_one_program


def _is_said_of_an_answer(text: str) -> bool:
    """Return whether a text says a sentence that is one client's alone, about what the model wrote."""
    known = recognise_error(text)
    return known is not None and known.error.is_distinctive and known.error.stage is Stage.CONTRACT


def _listed_in(message: str) -> Refusal | None:
    """Return the faults of a request in a list that Python printed, also where the copy of it was cut."""
    faults = faults_in(message) if message.lstrip().startswith("[") else []
    words = words_of_value({"detail": faults}) if faults else None
    return None if words is None else Refusal(None, words.text, words.field)


def _restore_line_breaks(text: str) -> str:
    r"""Return words that a log has in quotation marks with the breaks between their lines.

    >>> _restore_line_breaks(r'failed: "1 validation error for R\nx\n  Field required"').count("\n")
    2
    """
    return text.replace("\\n", "\n") if _QUOTED_FAULTS.search(text) is not None else text


def _read_exception(text: str) -> FoundError | None:
    """Read the exception at the end of a traceback, or at the beginning of a line."""
    matches = list(_EXCEPTION.finditer(text))
    if not matches:
        return None
    last = _telling(text, matches)
    message = text[last.end() :]
    name = last[1]
    body = (
        _body_in(message, text)
        or _listed_in(message)
        or (cut_body_in(message) if _CUT_LIST.search(message) is not None else None)
    )
    status = status_in(message[:300]) or _STATUS_BY_CLASS.get(name)
    if body is not None:
        return FoundError(_rebuild(_introduced(body, message), status, name), 0.95)
    message = cut_words(message)
    code = text[last.start() : last.end()].strip(" \t>|:!*`").rpartition(": ")[2].partition(" ")[0]
    refusal = Refusal(status, message, None, code)
    known = recognise_error(message) or recognise_error(code)
    is_known = known is not None
    if known is None or known.error.is_general:
        framed = recognise_error(with_frame := _add_frame(text, last))
        if framed is not None and (known is None or not framed.error.is_general):
            refusal, is_known = replace(refusal, message=with_frame), True
    if not message or not (is_known or status is not None or _OF_CHAT.match(refusal.code or "")):
        return None  # an exception of someone's own program
    return FoundError(refusal, 0.9 if is_known else 0.7)


def _telling(text: str, raised: Sequence[re.Match[str]]) -> re.Match[str]:
    """Return the last exception; the one before it where the last only says that an answer was not understood."""
    last = raised[-1]
    if len(raised) == 1 or _VAGUE.match(text, last.end()) is None:
        return last
    before = raised[-2]
    words = text[before.end() : last.start()]
    return before if next(classes_of(cut_words(words), text), None) is not None else last


def _introduced(body: Refusal, message: str) -> Refusal:
    """Return the faults that a validator lists with the sentence before them, which says what it checked."""
    list_at = message.find("[")
    lead = message[: list_at if list_at >= 0 else 0].strip("` \n")
    begins = message[list_at : list_at + 40].lstrip("[ \n").startswith("{")
    is_listed = begins and body.status is None and body.code is None
    if not is_listed or not _CHECKED.search(lead):
        return body
    return replace(body, message=f"{' '.join(lead.split()).rstrip(':')}: {body.message}")


def _add_frame(text: str, raised: re.Match[str]) -> str:
    """Return an exception with the source line above it, as a traceback shows it, without its marks."""
    above = [line.strip() for line in text[max(0, raised.start() - _MAX_OF_FRAME) : raised.start()].split("\n")]
    source = next((line for line in reversed(above) if line.strip("^~ ")), "")
    return f"{source} {cut_words(text[raised.start() :]).partition(chr(10))[0].strip()}"


def _read_body_within(text: str) -> FoundError | None:
    """Read a body that follows words, as in `API request failed with status 500: {…}`."""
    if len(text) > MAX_ALONE * 10 or _begins_with_other_json(text):
        return None
    if is_source(text):
        text = below_source(text)  # what the program printed
    body = _body_at_start(text) if _DATA_START.match(text) else _body_in(text)
    body = body or cut_body_in(text)
    if body is not None and body.status is None and _is_said_of_an_answer(text):
        return None  # what a client lists as faults of the model's answer
    if body is None or ('"messages"' in text and "messages" not in body.message):
        return None  # there is more in it than an error: its blocks are read one by one
    return FoundError(_rebuild(body, status_in(text), None), 0.85)


def _read_body_in_string(text: str) -> FoundError | None:
    """Read a body that is the text of a string, as the fields of a log's entry have it."""
    found = None if '"messages' in text or is_source(text) else error_in_string(text)
    return None if found is None else FoundError(_rebuild(found, status_in(text), None), 0.85)


def _begins_with_other_json(text: str) -> bool:
    """Return whether a text begins with a whole JSON value that is not an error; errors that it quotes do not count."""
    if not text.lstrip().startswith(("{", "[")) or _STATUS_FIRST.match(text) is not None:
        return False
    try:
        value, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return False
    return bool(value) and error_of_value(value) is None


def _body_at_start(text: str) -> Refusal | None:
    """Return the body of an error that Python printed, with words or a traceback below it."""
    first = text.lstrip().partition("\n\n")[0]
    return error_of_value(python_value_at(first, 0)) if first.startswith("{'") else None


def _body_in(text: str, whole: str = "") -> Refusal | None:
    """Return the first body of an error within a text, as JSON or as Python prints it.

    Args:
        text: The text.
        whole: The text with what is before it, which may show that a list of faults is of other data than chats.
    """
    for index, start in enumerate(BODY.finditer(text)):
        if index >= MAX_STARTS:
            return None
        value = value_at(text, start.start())
        found = error_of_value(value)
        if found is not None and not (is_of_other_data(value) and not _may_be_of_chat(whole or text)):
            return found
    return None


def _may_be_of_chat(text: str) -> bool:
    return status_in(text[:_MAX_OF_FRAME]) is not None or "API" in text or is_about_chat(text)


def _rebuild(refusal: Refusal, status: int | None, name: str | None) -> Refusal:
    status = refusal.status if refusal.status is not None else status
    return Refusal(status, as_utf8(refusal.message), refusal.field, refusal.code or name, refusal.output)
