"""What went over the wire, as `curl -v`, editors' `.http` files and proxies write it down.

    POST /v1/chat/completions HTTP/1.1
    Content-Type: application/json

    {"model": "m", "messages": […]}

    HTTP/1.1 200 OK
    Content-Type: application/json

    {"choices": […]}

Of a body in chunks the lengths between them are taken out. Headers are looked at for their kind and kept nowhere.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.text import has_any
from prompt_debugger.core.base.types import JSONObject, Refusal
from prompt_debugger.core.evidence.answers.completions import completions_request, is_completions_body
from prompt_debugger.core.evidence.answers.read import read_answer, refusal_of
from prompt_debugger.core.evidence.evidence import Evidence, merge
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.readers.cut_json import READER as READER_OF_CUT
from prompt_debugger.core.evidence.recognise import is_request
from prompt_debugger.core.evidence.reports.several import shared_prefix
from prompt_debugger.core.evidence.taking import add_answer
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.request import body_text, read_request

_ASKED = re.compile(r"(?m)^(?:> )?(?:POST|GET|PUT) (?:https?://|/)[^\s]{0,500}(?: HTTP/[\d.]+)?[ \t]*\r?$")
_METHODS = ("POST ", "GET ", "PUT ")
_ANSWERED = re.compile(r"(?m)^(?:< )?HTTP/[\d.]+ (\d{3})\b[^\n]{0,200}$")
_HEADER = re.compile(r"(?:[<>*] ?)?[A-Za-z][\w-]{0,60}:[^\n]*\Z")
_LENGTH = re.compile(r"(?:\A|\r?\n)[0-9A-Fa-f]{1,8}[ \t]*(?:\r?\n|\Z)")
# Of curl's `-v`, and of the HTTP client of JetBrains' editors.
_NOISE = re.compile(r"(?m)^(?:\* |[{}] \[\d+ bytes|Response code: \d{3} \(|Response file saved\.)[^\n]*\n?")
_OF_BODY = re.compile(r"\{\s{0,200}\"[\w.-]{1,60}\"\s{0,9}:")  # a body of JSON, as far as it goes
_BROKEN = "The body of the response is not JSON, or ends before its end: it was not read. Copy it whole."
_SEPARATOR = re.compile(r"(?m)^###[^\n]*$")


@dataclass(frozen=True, slots=True)
class _Part:
    """A request or a response of the transcript; the status is 0 for a request."""

    status: int
    body: str


def _finds(paste: Paste) -> float:
    if paste.value is not None:
        return 0.0
    has_asked = _ASKED.search(paste.text) if has_any(paste.text, _METHODS) else None
    has_answered = _ANSWERED.search(paste.text) if "HTTP/" in paste.text else None
    if has_asked is None and (has_answered is None or paste.text[: has_answered.start()].strip()):
        return 0.0
    return 0.75 if any(part.body for part in _parts(paste.text)) else 0.0


def _read(paste: Paste) -> Evidence:
    parts = _parts(paste.text)
    requests = [value for part in parts if not part.status and (value := _request_of(part)) is not None]
    answers = [part for part in parts if part.status and part.body]
    if not requests and not answers:
        raise RequestError(
            "The transcript contains no request with `messages` and no response.", "Copy the bodies as well."
        )
    evidence = Evidence(Form.HTTP, "an HTTP transcript")
    if requests:
        evidence = _request_evidence(requests[0])
    if answers:
        evidence = _add_response(evidence, answers[0])
    remarks: list[str] = []
    if len(requests) > 1:
        remarks.append(shared_prefix(requests[0], requests[1]))
    if len(answers) > 1:
        remarks.append(f"The transcript contains {len(answers)} responses; the first one was read.")
    return replace(evidence, notes=(*evidence.notes, *remarks))


def _request_evidence(body: JSONObject) -> Evidence:
    """Return the evidence in a request: of plain completions and text APIs the prompt itself."""
    if is_completions_body(body):
        return replace(completions_request(body), form=Form.HTTP, words="an HTTP transcript")
    return Evidence(Form.HTTP, "an HTTP transcript", request=read_request(body_text(body)))


def _add_response(evidence: Evidence, part: _Part) -> Evidence:
    if part.status < 400:
        answered = add_answer(evidence, read_answer(part.body))
        is_broken = answered.raw == part.body and part.body.startswith("{") and _OF_BODY.match(part.body) is not None
        return _add_broken(evidence, part.body) if is_broken else answered
    value = json_of(part.body)
    refusal = refusal_of(value) if isinstance(value, dict) else Refusal(None, part.body[:2_000])
    words = f"{evidence.words}, answered with {part.status}"
    return replace(evidence, words=words, error=replace(refusal, status=part.status))


def _add_broken(evidence: Evidence, body: str) -> Evidence:
    """Return evidence with what can be read of a body that is no JSON to its end: no one's raw output."""
    with suppress(RequestError):
        answer = READER_OF_CUT.read(Paste(body, 1))
        if answer.chat is not None:
            words = f"{evidence.words}; {answer.words}"
            return replace(merge([evidence, answer], Form.HTTP, words))
    return replace(evidence, notes=(*evidence.notes, _BROKEN))


def _request_of(part: _Part) -> JSONObject | None:
    value = json_of(part.body)
    return value if isinstance(value, dict) and is_request(value) else None


def _parts(text: str) -> list[_Part]:
    """Return the requests and responses with their bodies, in the order of the text."""
    text = _SEPARATOR.sub("", _NOISE.sub("", text))
    heads = [(found.start(), 0) for found in _ASKED.finditer(text)]
    heads = sorted([*heads, *((found.start(), int(found[1])) for found in _ANSWERED.finditer(text))])
    ends = [*(start for start, _ in heads[1:]), len(text)]
    return [_Part(status, _body(text[start:end])) for (start, status), end in zip(heads, ends, strict=True)]


def _body(part: str) -> str:
    """Return what follows the headers; of a chunked body, without the chunk lengths."""
    lines = part.split("\n")
    at, is_chunked = 1, False
    while at < len(lines) and _HEADER.match(lines[at].rstrip("\r")):
        is_chunked = is_chunked or "chunked" in lines[at].lower()
        at += 1
    body = "\n".join(lines[at:]).strip("\r\n\t <>")
    return _LENGTH.sub("", body).strip() if is_chunked and _LENGTH.match(body) else body


READER = Reader(Form.HTTP, _finds, _read)
