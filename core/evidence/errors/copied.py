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

import re
from dataclasses import replace

from prompt_debugger.core.base.types import Refusal
from prompt_debugger.core.complete.backends.error_words import words_of_value
from prompt_debugger.core.complete.backends.listed_faults import faults_in
from prompt_debugger.core.evidence.errors.bodies import body_in, name_error, read_body_in_string, read_body_within
from prompt_debugger.core.evidence.errors.cleaned import words_alone
from prompt_debugger.core.evidence.errors.cut_body import cut_body_in
from prompt_debugger.core.evidence.errors.dotnet import error_of_dotnet
from prompt_debugger.core.evidence.errors.exceptions import MAX_CHARS, read_exception, read_parser_failure
from prompt_debugger.core.evidence.errors.found import FoundError
from prompt_debugger.core.evidence.errors.http import error_of_head, error_of_page, error_of_status_line
from prompt_debugger.core.evidence.errors.in_strings import error_in_string, plain_of_javascript
from prompt_debugger.core.evidence.errors.listed_fields import error_of_fields
from prompt_debugger.core.evidence.errors.other_languages import (
    links_of_rust,
    plain_of_elixir,
    plain_of_java,
    plain_of_ruby,
    plain_of_swift,
)
from prompt_debugger.core.evidence.errors.printed import error_of_print
from prompt_debugger.core.evidence.errors.rich_log import plain_of_rich
from prompt_debugger.core.evidence.errors.sentences import error_of_sentence, status_in
from prompt_debugger.core.evidence.errors.tool_lists import complete_list
from prompt_debugger.core.evidence.errors.tracebacks import drop_levels
from prompt_debugger.core.evidence.errors.unknown import error_by_meaning, is_about_chat, is_of_other_template
from prompt_debugger.core.evidence.errors.values import error_of_value
from prompt_debugger.core.evidence.no_errors.filtering import drop_unmeant, reports_nothing
from prompt_debugger.core.evidence.no_errors.programs import is_unfilled
from prompt_debugger.core.evidence.no_errors.transcripts import drop_unreported, is_judgement
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.evidence.values.printed_values import plain_of_rust
from prompt_debugger.core.known_errors import Cause, classes_of, recognise_error

_MAX_AROUND = 2_000  # characters that are kept of the text around an error

_LISTED_FAULTS = re.compile(r"(?:[A-Za-z][\w .]{0,30}: )?(?=\[\{'type': '\w{1,60}', 'loc': \()")  # their end may be cut
_OF_JINJA = re.compile(r"(?:jinja2\.exceptions\.)?(?:Template\w{0,20}|Undefined)Error\Z")
_VLLM_HEAD = re.compile(
    r"(?m)^[`\s]{0,8}(?:\([\w. -]{1,60} pid=\d{1,9}\) ?)?(?:ERROR|WARNING|INFO) (?:\d\d-\d\d \d\d:\d\d:\d\d )?"
    r"\[[\w.]{1,80}:\d{1,6}\] ?"
    r"|^[`\s]{0,8}\((?:APIServer|EngineCore|Worker|Vllm)[\w. -]{0,40} pid=\d{1,9}\) ?"
)
_BOX = re.compile("[\u2500-\u257f]+")
_OF_REQUEST = re.compile(
    r"\b\d{1,4} validation errors? for (?!\w{0,60}(?:ChatCompletion|Completion|Response|Chunk|Choice)(?:Message)?\s)"
    r"(?!\w{0,60}(?:Delta|ToolCall)\w{0,20}\s|(?:AI)?Message(?:Chunk)?\s{1,8}tool_calls\.\d)"  # calls of an answer
    r"\w{0,60}(?:Chat|Completion|Message|Request)\w{0,60}\s"
)
_QUOTED_FAULTS = re.compile(r"\b\d{1,4} validation errors? for \w{1,80}\\n\w")  # with `\n` for a line break


def error_of_text(text: str) -> FoundError | None:
    """Return the error that a text is about; `None` if it does not look like one."""
    text = plain_of_rich(plain_of_swift(text))
    if reports_nothing(text):
        return None
    text = _BOX.sub(" ", drop_unreported(plain_of_javascript(plain_of_rust(text[:MAX_CHARS]))))
    text = plain_of_ruby(plain_of_java(plain_of_elixir(drop_levels(drop_unmeant(text)))))
    start = text.lstrip()[:20]
    if start.startswith(("data:", "event:")) and not start.startswith("data: '"):  # which JavaScript prints of a field
        return _read_stream(text)
    bare = _drop_heads(text)
    found = _read_chain(text) or _read_form(text, bare) or error_by_meaning(bare, text)
    if found is not None and _gives_no_reason(found.refusal):
        found = _read_reason_beside(text, found.refusal) or found
    message = "" if found is None else found.refusal.message
    if found is not None and _OF_JINJA.match(found.refusal.code or "") and is_of_other_template(text):
        return None
    if is_unfilled(message) or is_judgement(message) or message.startswith(("{{", "{%")):
        return None
    if found is None:
        return None
    words = words_alone(found.refusal.message, text)
    refusal = replace(found.refusal, message=complete_list(words, text))
    return found._replace(refusal=_add_surroundings(refusal, text))


def _drop_heads(text: str) -> str:
    """Return a text without the heads of vLLM's lines; an entry below lines without heads is parted from them."""
    kept: list[str] = []
    was_headed = True
    for line in text.split("\n"):
        bare = _VLLM_HEAD.sub("", line)
        is_headed = bare != line
        kept += ["", bare] if is_headed and not was_headed and kept[-1].strip() else [bare]
        was_headed = is_headed
    return "\n".join(kept)


def _read_chain(text: str) -> FoundError | None:
    """Read a chain of causes, as Rust prints it: the last one that is understood is the reason."""
    links = links_of_rust(text)
    is_of_chat = bool(links) and is_about_chat(text)
    for words in reversed(links):
        beside = body_in(words) or Refusal(None, words, None)
        known = recognise_error(beside.message)
        is_known = known is not None and known.error.is_distinctive
        if is_known or (is_of_chat and _has_reason(beside.message)):
            return FoundError(name_error(beside, status_in(text), None), 0.85)
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
    beside = error_in_string(text) or body_in(text) or cut_body_in(text)
    if beside is None or _gives_no_reason(beside):
        return None
    is_understood = recognise_error(beside.message) is not None or next(classes_of(beside.message), None) is not None
    return FoundError(name_error(beside, refusal.status, None), 0.9) if is_understood else None


def _add_surroundings(refusal: Refusal, text: str) -> Refusal:
    """Return an error with the text around its words, which may show what reported it."""
    rest = text.replace(refusal.message, " ")[-_MAX_AROUND:].strip()
    return replace(refusal, around=rest) if rest else refusal


def _read_form(text: str, bare: str) -> FoundError | None:
    """Return the error of a text in one of the forms that are known, or whose sentence is."""
    return (
        _surely(error_of_head(text) or error_of_page(text) or error_of_print(text) or error_of_dotnet(text), 0.95)
        or read_parser_failure(bare)
        or _read_faults(text)
        or read_exception(text)
        or (read_exception(bare) if bare != text else None)
        or read_body_within(text)
        or read_body_in_string(text)
        or _read_sentence(text)
        or _surely(error_of_status_line(text) or error_of_fields(text), 0.9)
    )


def _read_sentence(text: str) -> FoundError | None:
    """Read a known sentence: a short text that says it, or an entry of a log."""
    found = error_of_sentence(text)
    body = body_in(text) if found is not None and '"messages"' in found.refusal.message else None
    if body is not None and recognise_error(body.message) is not None:
        return FoundError(name_error(body, status_in(body.message), None), 0.85)  # below the command that sent it
    return found


def _surely(refusal: Refusal | None, score: float) -> FoundError | None:
    return None if refusal is None else FoundError(refusal, score)


def _read_stream(text: str) -> FoundError | None:
    """Read a stream whose only events are errors."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines or not all(line.startswith(("data:", "event:", "id:", "retry:", ":")) for line in lines[:50]):
        return None
    values = [json_of(line[len("data:") :]) for line in lines if line.startswith("data:")]
    reported = [value for value in values if isinstance(value, dict)]
    errors = [found for value in reported if (found := error_of_value(value)) is not None]
    return FoundError(errors[0], 0.95) if errors and len(errors) == len(reported) else None


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


def _restore_line_breaks(text: str) -> str:
    r"""Return words that a log has in quotation marks with the breaks between their lines.

    >>> _restore_line_breaks(r'failed: "1 validation error for R\nx\n  Field required"').count("\n")
    2
    """
    return text.replace("\\n", "\n") if _QUOTED_FAULTS.search(text) is not None else text
