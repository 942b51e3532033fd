"""Several JSON values, one after the other: a request and what was answered, or two of a kind.

{"model": "m", "messages": […]}

{"choices": […]}
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.answers.read import is_answer, is_error, is_event_list, read_answer
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.recognise import is_lone_message, is_request
from prompt_debugger.core.evidence.reports.asked_and_answered import note_unlinked
from prompt_debugger.core.evidence.reports.several import shared_prefix
from prompt_debugger.core.evidence.taking import add_answer
from prompt_debugger.core.evidence.values.json_of import json_lines, json_of, json_values
from prompt_debugger.core.request import body_text, read_request

_LOOKED_AT = 20  # lines


def _finds(paste: Paste) -> float:
    if paste.value is not None or not paste.text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return 0.0
    if lines := json_lines(paste.text):
        return 0.95 if _is_request_above_stream([json_of(line) for line in lines[:_LOOKED_AT]]) else 0.0
    values = json_values(paste.text)
    if len(values) < 2 or is_event_list(values):
        return 0.0
    return 0.7 if any(is_request(one) or is_answer(one) for one in values) else 0.0


def _is_request_above_stream(values: list[JSON]) -> bool:
    """Return whether lines are a request and the events of its answer, not entries of a log."""
    return len(values) > 2 and is_request(values[0]) and is_event_list(values[1:])


def _read(paste: Paste) -> Evidence:
    values = json_values(paste.text)
    if _are_turns(values):
        request = read_request(body_text({"messages": values}))
        return Evidence(Form.REQUEST, f"{len(values)} messages of a conversation", request=request)
    requests = [value for value in values if isinstance(value, dict) and is_request(value)]
    rest = [value for value in values if not is_request(value)]
    answers = [value for value in rest if is_answer(value) or is_error(value)]
    if requests and len(rest) > 1 and is_event_list(rest):
        answers = [rest]  # one stream
    if not requests and not answers:
        raise RequestError("None of the JSON values is a request or a response.", "Paste only one of them.")
    evidence = _read_request(requests, paste)
    if answers:
        form = Form.EXCHANGE if evidence.request is not None else Form.ANSWER
        evidence = note_unlinked(add_answer(replace(evidence, form=form), read_answer(answers[0])))
    return replace(evidence, notes=(*evidence.notes, *_notes(values, requests, answers)))


def _are_turns(values: list[JSON]) -> bool:
    """Return whether values are messages of one conversation: a call, and what its tool answered."""
    roles = [value.get("role") for value in values if isinstance(value, dict) and is_lone_message(value)]
    return len(roles) == len(values) > 1 and "tool" in roles and "assistant" in roles


def _read_request(requests: list[JSONObject], paste: Paste) -> Evidence:
    if not requests:
        return Evidence(Form.ANSWER, "a chat response")
    chosen = requests[min(paste.row, len(requests)) - 1]
    words = "a request and its response" if len(requests) == 1 else f"a request, one of {len(requests)}"
    return Evidence(Form.REQUEST, words, request=read_request(body_text(chosen)))


def _is_stream(answers: list[JSON]) -> TypeGuard[list[list[JSON]]]:
    return len(answers) == 1 and isinstance(answers[0], list)


def _notes(values: list[JSON], requests: list[JSONObject], answers: list[JSON]) -> list[str]:
    remarks: list[str] = []
    if len(requests) > 1:
        remarks.append(shared_prefix(requests[0], requests[1]))
    if len(answers) > 1:
        remarks.append(f"The paste contains {len(answers)} responses; the first one was read.")
    others = len(values) - len(requests) - (len(answers[0]) if _is_stream(answers) else len(answers))
    if others:
        remarks.append(f"Left out: {others} of {len(values)} JSON values, which are neither a request nor a response.")
    return remarks


READER = Reader(Form.SEVERAL, _finds, _read)
