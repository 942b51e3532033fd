"""A pasted text → `Intake`: what it was taken for, and the evidence in it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.answers import Answer, read_answer, read_stream
from prompt_debugger.core.evidence.forms import Form, Intake
from prompt_debugger.core.evidence.recognise import (
    answer_after_command,
    answer_in,
    json_lines,
    json_of,
    recognise,
    request_in,
)
from prompt_debugger.core.report import read_bundle
from prompt_debugger.core.request import body_text, read_request

MAX_CHARS = 8_000_000  # of a HAR, or of a log whose one line is read


def read_intake(text: str, wanted: Form | None = None, row: int = 1) -> Intake:
    """Read what somebody pasted.

    Args:
        text: At most `MAX_CHARS` characters.
        wanted: What to take it for; `None` looks.
        row: Which line, or which recorded exchange, from 1.

    Raises:
        RequestError: It is not what it was taken for; line, column and field say where, if known.
    """
    if len(text) > MAX_CHARS:
        raise RequestError(f"The pasted text has {len(text):,} characters; at most {MAX_CHARS:,} are read.")
    form = wanted or recognise(text)
    return _READERS[form](text, max(1, row))


def _read_request(text: str, _row: int) -> Intake:
    value = json_of(text)
    if isinstance(value, dict) and (found := request_in(value)) is not None and "request" not in value:
        text = body_text(found) if isinstance(found, dict) else text
    end = answer_after_command(text)
    request = read_request(text if end is None else text[:end])
    return Intake(Form.REQUEST, "a request", request=request)


def _read_output(text: str, _row: int) -> Intake:
    value = json_of(text)
    if not isinstance(value, dict) or not isinstance(value.get("raw"), str):
        return Intake(Form.OUTPUT, _output_words(text), raw=text)
    message, reason = value.get("message"), value.get("finish_reason")
    tools = value.get("tools")
    answer = read_answer(message) if isinstance(message, dict) else Answer()
    return Intake(
        Form.OUTPUT,
        _output_words(str(value["raw"])),
        raw=str(value["raw"]),
        finish_reason=reason if isinstance(reason, str) else None,
        chat=answer.chat,
        tools=tuple(tool for tool in tools if isinstance(tool, dict)) if isinstance(tools, list) else (),
    )


def _output_words(raw: str) -> str:
    return f"a raw output of {len(raw):,} characters"


def _read_answer(text: str, _row: int) -> Intake:
    value = json_of(text)
    if value is None:
        raise RequestError("The text is no JSON, so no response.", "Take it for a raw output, or paste all of it.")
    if isinstance(value, dict) and (found := answer_in(value)) is not None:
        value = found
    return _with_answer(Intake(Form.ANSWER, "a chat response"), read_answer(value))


def _read_stream(text: str, _row: int) -> Intake:
    return _with_answer(Intake(Form.STREAM, "a streamed response"), read_stream(text))


def _read_exchange(text: str, _row: int) -> Intake:
    value = json_of(text)
    if isinstance(value, dict):
        found, answer = request_in(value), answer_in(value)
        if isinstance(found, dict) and answer is not None:
            return _exchange(Form.EXCHANGE, found, answer)
        raise RequestError("There is no request with its response in it.", "Paste an object with both.")
    start = answer_after_command(text)
    if start is None:
        raise RequestError("No response stands below the request.", "Paste the command, and below it what it printed.")
    intake = Intake(Form.EXCHANGE, "a request and its response", request=read_request(text[:start]))
    return _with_answer(intake, read_answer(text[start:].strip()))


def _exchange(form: Form, body: JSONObject, answer: JSON) -> Intake:
    request = read_request(body_text(body))
    return _with_answer(Intake(form, "a request and its response", request=request), read_answer(answer))


def _read_har(text: str, row: int) -> Intake:
    value = json_of(text)
    log = value.get("log") if isinstance(value, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    found = [one for entry in (entries if isinstance(entries, list) else []) if (one := _har_entry(entry)) is not None]
    if not found:
        raise RequestError(
            "The HAR holds no request with `messages` or `input`.", "Record the call itself, then save again."
        )
    body, answer = found[_checked_row(row, len(found)) - 1]
    intake = _exchange(Form.HAR, body, answer) if answer else _lone(body)
    return replace(intake, form=Form.HAR, words=f"a HAR, {intake.words}", row=row, rows=len(found))


def _lone(body: JSONObject) -> Intake:
    return Intake(Form.HAR, "a request without its response", request=read_request(body_text(body)))


def _har_entry(entry: JSON) -> tuple[JSONObject, str] | None:
    """Return body and answer of a recorded call; `None` if it is another one."""
    asked, answered = (as_object(as_object(entry).get(name)) for name in ("request", "response"))
    posted = as_object(asked.get("postData")).get("text")
    body = json_of(posted) if isinstance(posted, str) else None
    if not isinstance(body, dict) or not ("messages" in body or "input" in body):
        return None
    content = as_object(answered.get("content"))
    text = content.get("text")
    answer = text if isinstance(text, str) else ""
    if content.get("encoding") == "base64":
        try:
            answer = base64.b64decode(answer).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            answer = ""
    return body, answer


def _read_lines(text: str, row: int) -> Intake:
    lines = json_lines(text)
    if not lines:
        raise RequestError("The text is not one JSON object a line.", "Paste at least two lines, each an object.")
    line = lines[_checked_row(row, len(lines)) - 1]
    form = recognise(line)
    if form is Form.LINES:
        raise RequestError(f"Line {row} is no JSON object.", "Choose another line.")
    intake = _READERS[form](line, 1)
    words = f"line {row} of {len(lines):,}: {intake.words}"
    return replace(intake, form=Form.LINES, words=words, row=row, rows=len(lines))


def _checked_row(row: int, count: int) -> int:
    if row > count:
        raise RequestError(f"There is no number {row}: it holds {count:,}.", "Choose a smaller number.")
    return row


def _read_run(text: str, _row: int) -> Intake:
    bundle = read_bundle(text)
    return Intake(Form.RUN, "a saved run", request=bundle.trace.request, run=bundle.trace)


def _with_answer(intake: Intake, answer: Answer) -> Intake:
    calls = () if answer.chat is None else answer.chat.message.get("tool_calls") or ()
    count = len(calls) if isinstance(calls, list) else 0
    words = f"{intake.words}, {count} tool call{'' if count == 1 else 's'}" if count else intake.words
    return replace(
        intake,
        words=words,
        chat=answer.chat,
        raw=answer.raw,
        finish_reason=answer.finish_reason,
        notes=(*intake.notes, *answer.notes),
    )


_READERS: Mapping[Form, Callable[[str, int], Intake]] = {
    Form.REQUEST: _read_request,
    Form.OUTPUT: _read_output,
    Form.ANSWER: _read_answer,
    Form.STREAM: _read_stream,
    Form.EXCHANGE: _read_exchange,
    Form.HAR: _read_har,
    Form.LINES: _read_lines,
    Form.RUN: _read_run,
}
