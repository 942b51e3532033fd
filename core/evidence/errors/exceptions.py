"""Exceptions of clients and servers: at the end of a traceback, at the beginning of a line, or in the log of a parser.

BadRequestError: Error code: 400 - {'object': 'error', 'message': …}
Traceback (most recent call last): … jinja2.exceptions.TemplateError: …
Error in extracting tool call from response. … json.decoder.JSONDecodeError: …
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from prompt_debugger.core.base.types import Refusal
from prompt_debugger.core.complete.backends.error_words import words_of_value
from prompt_debugger.core.complete.backends.listed_faults import faults_in
from prompt_debugger.core.evidence.errors.bodies import body_in, name_error
from prompt_debugger.core.evidence.errors.cut_body import cut_body_in
from prompt_debugger.core.evidence.errors.found import FoundError
from prompt_debugger.core.evidence.errors.sentences import cut_words, status_in
from prompt_debugger.core.known_errors import classes_of, recognise_error

MAX_CHARS = 400_000  # of a text in which an error is looked for
_MAX_OF_FRAME = 600  # characters above an exception: its source line, and the marks below it
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
# vLLM's log of a tool parser that failed: these words, then a traceback, each line with its own head.
_PARSER_FAILED = re.compile(
    r"Error in extracting tool call from response\b|Error trying to handle streaming tool call\b"
)
_REPEATED = re.compile(r" \[repeated \d{1,9}x across cluster\]")
# What an exception says that only passes another one on, which the traceback shows above it.
_VAGUE = re.compile(r"Invalid JSON response\b|RetryError\[<Future at |<?Future at 0x\w{1,16} state=finished raised ")
_CHECKED = re.compile(r"\b(?:tool|arguments|input|parameters)\b")  # what a validator was given


def read_exception(text: str) -> FoundError | None:
    """Read the exception at the end of a traceback, or at the beginning of a line."""
    matches = list(_EXCEPTION.finditer(text))
    if not matches:
        return None
    last = _telling(text, matches)
    message = text[last.end() :]
    name = last[1]
    body = (
        body_in(message, text)
        or _listed_in(message)
        or (cut_body_in(message) if _CUT_LIST.search(message) is not None else None)
    )
    status = status_in(message[:300]) or _STATUS_BY_CLASS.get(name)
    if body is not None:
        return FoundError(name_error(_introduced(body, message), status, name), 0.95)
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


def read_parser_failure(text: str) -> FoundError | None:
    """Read what a log says of a tool parser that failed, with the exception that ends its traceback."""
    failure = _PARSER_FAILED.search(text)
    if failure is None:
        return None
    raised = next(_EXCEPTION.finditer(text, failure.end()), None) or _decode_error_before(text, failure.start())
    if raised is None:
        return FoundError(Refusal(None, failure[0], None), 0.8)
    why = _REPEATED.sub("", text[raised.start() :].strip().partition("\n")[0]).strip("` ")
    return FoundError(Refusal(None, f"{failure[0]}: {why}", None), 0.8)


def text_before_exception(text: str) -> str:
    """Return what precedes the exception that a text ends with, or its traceback; "" without one."""
    last = 0
    for found in _EXCEPTION.finditer(text[:MAX_CHARS]):
        last = found.start()
    traceback = text.rfind(_TRACEBACK, 0, last)
    return text[: traceback if traceback >= 0 else last]


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


def _listed_in(message: str) -> Refusal | None:
    """Return the faults of a request in a list that Python printed, also where the copy of it was cut."""
    faults = faults_in(message) if message.lstrip().startswith("[") else []
    words = words_of_value({"detail": faults}) if faults else None
    return None if words is None else Refusal(None, words.text, words.field)


def _decode_error_before(text: str, stop: int) -> re.Match[str] | None:
    """Return the last decode error before a place: of a log that was cut at its beginning."""
    return next((one for one in reversed(list(_EXCEPTION.finditer(text[:stop]))) if one[1] == "JSONDecodeError"), None)
