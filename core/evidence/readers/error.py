"""A server's or a client's error, alone or as the answer to a request; what it quotes of the output is read, too."""

from __future__ import annotations

from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON, JSONObject, Refusal, Request
from prompt_debugger.core.evidence.errors.copied import error_of_text
from prompt_debugger.core.evidence.errors.exceptions import text_before_exception
from prompt_debugger.core.evidence.errors.found import FoundError
from prompt_debugger.core.evidence.errors.values import error_of_value, is_of_other_data
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.no_errors.declared import is_description
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.recognise import recognise, request_in
from prompt_debugger.core.known_errors import Quoted, quoted_output, recognise_error
from prompt_debugger.core.request import body_text, read_request

_ANSWER_NAMES = ("response", "response_body", "answer", "completion")
_MAX_OF_GENERAL = 600  # characters of a text that says a decoder's sentence and looks like nothing else
_SENDS = (".create(", "curl ", ".completion(", ".invoke(")
_OTHER_FORMS = (Form.HAR, Form.RUN, Form.LINES, Form.ANSWER)


def finds(paste: Paste) -> float:
    """Say how surely a text is an error."""
    value = paste.value
    if isinstance(value, dict) and _exchange(value) is not None:
        return 0.95
    if value is not None:
        refusal = error_of_value(value)
        return 0.0 if refusal is None or is_of_other_data(value) or _has_no_words(refusal) else 0.9
    found = error_of_text(paste.text)
    if found is None or recognise(paste.text) in _OTHER_FORMS or _is_shown_as_form(paste.text, found.refusal):
        return 0.0
    return 0.0 if _is_script(paste.text, found) or _is_talk(paste.text, found) else found.score


def _is_shown_as_form(text: str, refusal: Refusal) -> bool:
    """Return whether a text describes when an error comes, or shows its form, with dots in place of words."""
    return is_description(text) or _has_no_words(refusal)


def _has_no_words(refusal: Refusal) -> bool:
    """Return whether an error has dots, as where its words would be in the form of one, and no status."""
    words = refusal.message.strip()
    return refusal.status is None and bool(words) and not words.strip("\u2026. ")


def read(paste: Paste) -> Evidence:
    """Read an error.

    Raises:
        RequestError: The text contains no error.
    """
    value = paste.value
    if isinstance(value, dict) and (pair := _exchange(value)) is not None:
        body, refusal = pair
        request, notes = _request_of(body)
        evidence = evidence_of_error(refusal)
        words = f"a request and {evidence.words}"
        return replace(evidence, form=Form.EXCHANGE, words=words, request=request, notes=(*notes, *evidence.notes))
    refusal_of_value = None if value is None else error_of_value(value)
    if refusal_of_value is not None:
        return evidence_of_error(refusal_of_value)
    found = None if value is not None else error_of_text(paste.text)
    if found is None:
        raise RequestError("The text does not look like an error from a server.", "Paste its message with the status.")
    evidence = evidence_of_error(found.refusal)
    request = _request_before(paste.text)
    if request is None:
        return evidence
    return replace(evidence, form=Form.EXCHANGE, words=f"a request and {evidence.words}", request=request)


def _request_before(text: str) -> Request | None:
    """Return the request of the script or command above its error; `None` if there is none."""
    before = text_before_exception(text)
    if not any(sign in before for sign in _SENDS):
        return None
    try:
        return read_request(before)
    except RequestError:
        return None


def evidence_of_error(refusal: Refusal) -> Evidence:
    """Return an error as evidence, with what it quotes of the output."""
    known = recognise_error(refusal.message, refusal.code)
    source = "" if known is None else f" that is known from {known.maker}"
    evidence = Evidence(Form.ERROR, f"an error{source}", error=refusal)
    quoted = quoted_output(refusal.message, refusal.output)
    if quoted is None:
        return evidence
    if quoted.is_elided:  # read as an output, it would have names and arguments that no model wrote
        return replace(evidence, notes=("The error omits a part of the output, so the output is not read.",))
    if quoted.is_cut:
        return replace(evidence, notes=("The copy of the error ends inside the output, so the output is not read.",))
    return replace(evidence, raw=quoted.text, raw_reason=quoted.why_not_whole, notes=(_note_of(quoted),))


def _note_of(quoted: Quoted) -> str:
    reason = quoted.why_not_whole
    return f"The raw output is what the error quotes{'.' if not reason else f': {reason}.'}"


def _exchange(value: JSONObject) -> tuple[JSONObject, Refusal] | None:
    """Return the request and the error that answered it; `None` if there is no such pair."""
    body = request_in(value)
    if not isinstance(body, dict):
        return None
    status = next((found for key in ("status", "status_code") if isinstance(found := value.get(key), int)), None)
    for name in _ANSWER_NAMES:
        refusal = _refusal_of(value.get(name), status)
        if refusal is not None:
            return body, refusal
    if "error" in value and not any(value.get(name) for name in _ANSWER_NAMES):
        refusal = _refusal_of({"error": value["error"]}, status)
        return None if refusal is None else (body, refusal)
    return None


def _refusal_of(answer: JSON, status: int | None) -> Refusal | None:
    if isinstance(answer, str):
        value = Paste(answer).value
        if value is None:
            found = error_of_text(answer)
            return None if found is None or found.score < 0.8 else found.refusal
        answer = value
    if isinstance(answer, dict) and isinstance(answer.get("body"), dict):
        code = answer.get("status_code", answer.get("status"))
        return error_of_value(answer["body"], code if isinstance(code, int) and code >= 400 else status)
    return error_of_value(answer, status)


def _request_of(body: JSONObject) -> tuple[Request | None, tuple[str, ...]]:
    try:
        return read_request(body_text(body)), ()
    except RequestError as error:
        return None, (f"The request next to the error could not be read: {error.message.rstrip('.')}.",)


def _is_talk(text: str, found: FoundError) -> bool:
    """Return whether a text only mentions an error that any program may report: an output, or a long text."""
    known = recognise_error(found.refusal.message)
    if known is None or not known.error.is_general or found.score > 0.8:
        return False
    return len(text) > _MAX_OF_GENERAL or recognise(text) is Form.OUTPUT


def _is_script(text: str, found: FoundError) -> bool:
    """Return whether a text is a script or an output that contains an error's words, and not an error."""
    if found.score >= 0.95:
        return False
    start = text.lstrip()[:200]
    return start.startswith(("import ", "from ", "#!", "curl ", "const ", "<"))


READER = Reader(Form.ERROR, finds, read)
