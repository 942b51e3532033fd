"""A pasted text → `Evidence`: what it was taken for, and the evidence in it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.answers import Answer, read_answer, read_stream
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.json_of import json_lines, json_of
from prompt_debugger.core.evidence.mixed import read_mixed
from prompt_debugger.core.evidence.readers import Paste, find_reader
from prompt_debugger.core.evidence.recognise import (
    answer_after_command,
    answer_in,
    recognise,
    request_in,
)
from prompt_debugger.core.report import read_bundle
from prompt_debugger.core.request import body_text, read_request

MAX_CHARS = 8_000_000  # of a HAR, or of a log whose one line is read


def read_evidence(text: str, wanted: Form | None = None, row: int = 1) -> Evidence:
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
    if wanted is None:
        return read_mixed(text, max(1, row), _read_one)
    found = find_reader(Paste(text, max(1, row)), wanted)
    return _READERS[wanted](text, max(1, row)) if found is None else found[0].read(Paste(text, max(1, row)))


def _read_one(text: str, row: int) -> Evidence:
    """Read a text that is one thing."""
    paste = Paste(text, row)
    found = find_reader(paste)
    return _READERS[recognise(text)](text, row) if found is None else found[0].read(paste)


def _read_request(text: str, _row: int) -> Evidence:
    value = json_of(text)
    if isinstance(value, dict) and (found := request_in(value)) is not None and "request" not in value:
        text = body_text(found) if isinstance(found, dict) else text
    end = answer_after_command(text)
    request = read_request(text if end is None else text[:end])
    return Evidence(Form.REQUEST, "a request", request=request)


def _read_output(text: str, _row: int) -> Evidence:
    value = json_of(text)
    if not isinstance(value, dict) or not isinstance(value.get("raw"), str):
        return Evidence(Form.OUTPUT, _output_words(text), raw=text)
    message, reason = value.get("message"), value.get("finish_reason")
    tools = value.get("tools")
    answer = read_answer(message) if isinstance(message, dict) else Answer()
    return Evidence(
        Form.OUTPUT,
        _output_words(str(value["raw"])),
        raw=str(value["raw"]),
        finish_reason=reason if isinstance(reason, str) else None,
        chat=answer.chat,
        tools=tuple(tool for tool in tools if isinstance(tool, dict)) if isinstance(tools, list) else (),
    )


def _output_words(raw: str) -> str:
    return f"a raw output of {len(raw):,} characters"


def _read_answer(text: str, _row: int) -> Evidence:
    value = json_of(text)
    if value is None:
        raise RequestError("The text is no JSON, so no response.", "Take it for a raw output, or paste all of it.")
    if isinstance(value, dict) and (found := answer_in(value)) is not None:
        value = found
    return _with_answer(Evidence(Form.ANSWER, "a chat response"), read_answer(value))


def _read_stream(text: str, _row: int) -> Evidence:
    return _with_answer(Evidence(Form.STREAM, "a streamed response"), read_stream(text))


def _read_exchange(text: str, _row: int) -> Evidence:
    value = json_of(text)
    if isinstance(value, dict):
        found, answer = request_in(value), answer_in(value)
        if isinstance(found, dict) and answer is not None:
            return _exchange(Form.EXCHANGE, found, answer)
        raise RequestError("There is no request with its response in it.", "Paste an object with both.")
    start = answer_after_command(text)
    if start is None:
        raise RequestError("No response stands below the request.", "Paste the command, and below it what it printed.")
    evidence = Evidence(Form.EXCHANGE, "a request and its response", request=read_request(text[:start]))
    return _with_answer(evidence, read_answer(text[start:].strip()))


def _exchange(form: Form, body: JSONObject, answer: JSON) -> Evidence:
    request = read_request(body_text(body))
    return _with_answer(Evidence(form, "a request and its response", request=request), read_answer(answer))


def _read_har(text: str, row: int) -> Evidence:
    value = json_of(text)
    log = value.get("log") if isinstance(value, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    found = [one for entry in (entries if isinstance(entries, list) else []) if (one := _har_entry(entry)) is not None]
    if not found:
        raise RequestError(
            "The HAR holds no request with `messages` or `input`.", "Record the call itself, then save again."
        )
    body, answer = found[_checked_row(row, len(found)) - 1]
    evidence = _exchange(Form.HAR, body, answer) if answer else _lone(body)
    return replace(evidence, form=Form.HAR, words=f"a HAR, {evidence.words}", row=row, rows=len(found))


def _lone(body: JSONObject) -> Evidence:
    return Evidence(Form.HAR, "a request without its response", request=read_request(body_text(body)))


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


def _read_lines(text: str, row: int) -> Evidence:
    lines = json_lines(text)
    if not lines:
        raise RequestError("The text is not one JSON object a line.", "Paste at least two lines, each an object.")
    line = lines[_checked_row(row, len(lines)) - 1]
    form = recognise(line)
    if form is Form.LINES:
        raise RequestError(f"Line {row} is no JSON object.", "Choose another line.")
    evidence = _READERS[form](line, 1)
    words = f"line {row} of {len(lines):,}: {evidence.words}"
    return replace(evidence, form=Form.LINES, words=words, row=row, rows=len(lines))


def _checked_row(row: int, count: int) -> int:
    if row > count:
        raise RequestError(f"There is no number {row}: it holds {count:,}.", "Choose a smaller number.")
    return row


def _read_run(text: str, _row: int) -> Evidence:
    bundle = read_bundle(text)
    return Evidence(Form.RUN, "a saved run", request=bundle.trace.request, run=bundle.trace)


def _with_answer(evidence: Evidence, answer: Answer) -> Evidence:
    calls = () if answer.chat is None else answer.chat.message.get("tool_calls") or ()
    count = len(calls) if isinstance(calls, list) else 0
    words = f"{evidence.words}, {count} tool call{'' if count == 1 else 's'}" if count else evidence.words
    return replace(
        evidence,
        words=words,
        chat=answer.chat,
        stream=answer.stream,
        raw=answer.raw,
        finish_reason=answer.finish_reason,
        notes=(*evidence.notes, *answer.notes),
    )


def _read_unknown(_text: str, _row: int) -> Evidence:
    raise RequestError("The text does not look like what it is to be read as.", "Choose another form, or none.")


_READERS: Mapping[Form, Callable[[str, int], Evidence]] = {
    **dict.fromkeys(Form, _read_unknown),
    Form.REQUEST: _read_request,
    Form.OUTPUT: _read_output,
    Form.ANSWER: _read_answer,
    Form.STREAM: _read_stream,
    Form.EXCHANGE: _read_exchange,
    Form.HAR: _read_har,
    Form.LINES: _read_lines,
    Form.RUN: _read_run,
}
