"""Cassettes of vcrpy, which tests record and replay: YAML of requests with their responses, bodies as texts.

    interactions:
    - request:
        body: '{"model": "m", "messages": [{"role": "user", …'
        uri: http://localhost:8000/v1/chat/completions
      response:
        body:
          string: 'data: {"id": "c", "choices": [{"delta": …

A body may be an object, too (`parsed_body`), as packages write it that make cassettes easier to read.
"""

from __future__ import annotations

import json
import re
import textwrap
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import yaml

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject, Refusal
from prompt_debugger.core.evidence.answers.read import is_answer, is_error, read_answer
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader, read_newest
from prompt_debugger.core.evidence.recognise import is_request
from prompt_debugger.core.evidence.taking import add_answer, exchange_of
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.request import body_text, read_request

_MAX_CHARS = 200_000  # of YAML
_SHAPE = re.compile(
    r"\A\s*+(?:---[ \t]*\n)?[ \t]*+"
    r"(?:interactions:[ \t]*\n|- request:[ \t]*\n|request:[ \t]*\n|(?:- )?response:[ \t]*\n)"
)
_BODY = re.compile(r"(?m)^[ \t]{1,40}(?:string|parsed_body|body): ?")
_REFUSED = 400  # the first status of an error
_MAX_WORDS = 4_000  # characters of an error
_ALIAS = re.compile(r"[\[,:\-][ \t\n]{0,40}\*\w")  # which may stand for the same value many times


class _Interaction(NamedTuple):
    """What was sent, and what came back; empty where the cassette does not have it as text."""

    body: JSONObject
    answer: JSON
    status: int | None


def _finds(paste: Paste) -> float:
    return 0.97 if paste.value is None and _interactions(paste.text) else 0.0


def _read(paste: Paste) -> Evidence:
    found = _interactions(paste.text)
    if not found:
        raise RequestError("The cassette contains no chat request and no answer.", "Record the call itself.")
    evidence = read_newest(paste, len(found), lambda row: _evidence_of(found[len(found) - row]))
    return replace(evidence, row=paste.row if len(found) > 1 else 0, rows=len(found) if len(found) > 1 else 0)


def _evidence_of(one: _Interaction) -> Evidence:
    words = "a recorded request and its response"
    if one.body and isinstance(one.answer, str) and (one.status or 0) >= _REFUSED and not _is_answer(one.answer):
        asked = read_request(body_text(one.body))
        refusal = Refusal(one.status, one.answer[:_MAX_WORDS], None)
        evidence = Evidence(Form.EXCHANGE, "a recorded request and its error", request=asked, error=refusal)
    elif one.body and _is_answer(one.answer):
        evidence = replace(exchange_of(Form.EXCHANGE, one.body, one.answer), words=words)
    elif one.body:
        asked = read_request(body_text(one.body))
        evidence = Evidence(Form.EXCHANGE, "a recorded request without its response", request=asked)
    else:
        evidence = add_answer(Evidence(Form.EXCHANGE, "a recorded response"), read_answer(one.answer))
    if evidence.error is None or evidence.error.status is not None:
        return evidence
    return replace(evidence, error=replace(evidence.error, status=one.status))


@lru_cache(maxsize=4)
def _interactions(text: str) -> tuple[_Interaction, ...]:
    """Return the chat requests of a cassette with their answers; none of any other text."""
    if len(text) > _MAX_CHARS or _SHAPE.match(text) is None or _BODY.search(text) is None or _ALIAS.search(text):
        return ()
    try:
        value = yaml.safe_load(textwrap.dedent(text))
    except (yaml.YAMLError, ValueError, RecursionError):
        return ()
    listed = value.get("interactions", [value]) if isinstance(value, dict) else value
    found = (_interaction(as_object(one)) for one in (listed if isinstance(listed, list) else []))
    return tuple(one for one in found if one is not None)


def _interaction(value: JSONObject) -> _Interaction | None:
    """Return one recorded call; `None` of other traffic."""
    asked, answered = as_object(value.get("request")), as_object(value.get("response"))
    sent, came = _body_of(asked), _body_of(answered)
    body = json_of(sent) if isinstance(sent, str) else sent
    answer = json_of(came) if isinstance(came, str) and json_of(came) is not None else came
    if body is not None and not is_request(body):
        return None
    if body is None and not _is_answer(answer):
        return None
    status = as_object(answered.get("status")).get("code")
    return _Interaction(as_object(body), answer or "", status if isinstance(status, int) else None)


def _is_answer(answer: JSON) -> bool:
    """Return whether a body is one of a chat answer, of an error or of a stream."""
    if isinstance(answer, str):
        return answer.lstrip().startswith(("data:", "event:", '{"'))
    return is_answer(answer) or is_error(answer)


def _body_of(value: JSONObject) -> JSON:
    """Return a body as its text or its object; `None` where it is packed, or is not there."""
    body = value.get("parsed_body", value.get("body"))
    if isinstance(body, dict) and "string" in body:
        body = body["string"]
    if isinstance(body, str):
        return body or None
    try:
        return json_of(json.dumps(body, default=str)) if isinstance(body, dict) and body else None
    except (TypeError, ValueError, RecursionError):  # keys that JSON cannot hold
        return None


READER = Reader(Form.EXCHANGE, _finds, _read)
