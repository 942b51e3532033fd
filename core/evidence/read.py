"""A pasted text → `Evidence`: what it was taken for, and the evidence in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON, JSONObject, Request
from prompt_debugger.core.complete.dialects import Answer
from prompt_debugger.core.diagnose.words import counted
from prompt_debugger.core.evidence.after_command import answer_after_command, cut_answer_after_command
from prompt_debugger.core.evidence.answers.completions import completions_request, is_completions_body
from prompt_debugger.core.evidence.answers.read import (
    are_call_deltas,
    is_answer,
    is_error,
    read_answer,
    read_stream,
    refusal_of,
)
from prompt_debugger.core.evidence.answers.shapes import chunk_within
from prompt_debugger.core.evidence.copying.raw_output import as_written
from prompt_debugger.core.evidence.entries import add_others, entries_of
from prompt_debugger.core.evidence.errors.http import head_at_end
from prompt_debugger.core.evidence.evidence import Evidence, add_notes, merge
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.har import read_har
from prompt_debugger.core.evidence.linked_lines import read_linked
from prompt_debugger.core.evidence.mixed import read_mixed
from prompt_debugger.core.evidence.no_errors.transcripts import is_agents_log
from prompt_debugger.core.evidence.readers import Paste, find_reader
from prompt_debugger.core.evidence.readers.base import checked_row
from prompt_debugger.core.evidence.readers.cut_json import READER as CUT_JSON
from prompt_debugger.core.evidence.recognise import (
    answer_in,
    form_of_value,
    is_lone_message,
    is_request,
    lone_output_in,
    output_with_prompt,
    pair_in,
    raw_beside,
    recognise,
    request_in,
    tools_in,
)
from prompt_debugger.core.evidence.reports.asked_and_answered import note_unlinked
from prompt_debugger.core.evidence.reports.report_text import begins_template, not_recognised
from prompt_debugger.core.evidence.reports.said_of_calls import reported_answer
from prompt_debugger.core.evidence.reports.several import note_on_second
from prompt_debugger.core.evidence.taking import add_answer, as_part, exchange_of, head_deltas, of_deltas_alone
from prompt_debugger.core.evidence.values.json_of import json_lines, json_of, lenient_json_of
from prompt_debugger.core.report import read_bundle
from prompt_debugger.core.request import body_text, make_request, read_draft, read_request

_MAX_BEFORE = 200  # lines of a log before the first one that holds a request or an answer
MAX_CHARS = 8_000_000  # of a HAR, or of a log whose one line is read
_BODY_OF = "This is a body of "


def read_evidence(text: str, wanted: Form | None = None, row: int = 1) -> Evidence:
    """Read what someone pasted.

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
    paste = Paste(text, max(1, row))
    found = find_reader(paste, wanted)
    return _READERS[wanted](text, paste.row) if found is None else found[0].read(paste)


def _read_one(text: str, row: int) -> Evidence:
    """Read a text that is one thing."""
    if begins_template(text):
        raise not_recognised(text)
    paste = Paste(text, row)
    found = find_reader(paste)
    if found is not None:
        return found[0].read(paste)
    form = recognise(text)
    if form is None or (form is Form.REQUEST and is_agents_log(text)):  # whose code sends nothing
        raise not_recognised(text)
    return _READERS[form](text, row)


def _value_of(text: str) -> tuple[JSON, tuple[str, ...]]:
    """Return the value of a JSON text, if need be with its slips repaired, and what was repaired."""
    value = json_of(text)
    if value is not None or not text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return value, ()
    found = lenient_json_of(text)
    return found if found is not None else (None, ())


def _read_request(text: str, _row: int) -> Evidence:
    value = json_of(text)
    if tools := tools_in(value):
        return _read_tools(tools)
    if (messages := _lone_messages(text, value)) is not None:
        text = body_text({"messages": messages})
    if isinstance(value, dict) and (found := _body_in(value)) is not None:
        text = body_text(found)
        value = found
    if isinstance(value, dict) and is_completions_body(value):
        return completions_request(value)
    end = answer_after_command(text)
    if end is None and (cut := _add_cut_answer(text)) is not None:
        return cut
    return _request_of_text(text if end is None else text[:end])


def _add_cut_answer(text: str) -> Evidence | None:
    """Return the request of a command with what is left of the answer below it; `None` where nothing is below it."""
    start = cut_answer_after_command(text)
    if start is None or not CUT_JSON.finds(answer := Paste(text[start:])):
        return None
    asked = _request_of_text(text[:start])
    try:
        begun = CUT_JSON.read(answer)
    except RequestError as error:  # what is left of it shows nothing
        return add_notes(asked, (f"The answer below the command was not read. {error.message}",))
    return merge([asked, begun], Form.EXCHANGE, "a request and the beginning of its response")


def _request_of_text(text: str) -> Evidence:
    """Read a request of chat completions, or what a command or a program sends to plain completions."""
    draft = read_draft(text)
    if draft.source in ("curl", "python") and isinstance(draft.value, dict) and is_completions_body(draft.value):
        return completions_request(draft.value)
    request = make_request(draft)
    return Evidence(Form.REQUEST, _request_words(request), request=request)


def _read_tools(tools: list[JSON]) -> Evidence:
    """Return tools alone, those of Anthropic's API in the form of chat completions."""
    body = read_request(body_text({"messages": [{"role": "user", "content": ""}], "tools": tools})).body
    read = body.get("tools")
    known = tuple(tool for tool in read if isinstance(tool, dict)) if isinstance(read, list) else ()
    return Evidence(Form.REQUEST, f"a list of {counted(len(known), 'tool')}", tools=known)


def _lone_messages(text: str, value: JSON) -> list[JSON] | None:
    """Return the messages of a text that is one message, or one per line; `None` if it is anything else."""
    if is_lone_message(value):
        return [value]
    lines = [] if value is not None else [json_of(line) for line in json_lines(text)]
    return lines if lines and all(is_lone_message(one) for one in lines) else None


def _request_words(request: Request) -> str:
    """Return what a request is, by the notice of a body that was made into a chat completion."""
    remark = next((notice.message for notice in request.notices if notice.message.startswith(_BODY_OF)), "")
    return f"a request ({remark.removeprefix('This is ').partition(';')[0]})" if remark else "a request"


def _body_in(value: JSONObject) -> JSONObject | None:
    """Return the request within a line of a log; `None` if the object itself is what is to be read."""
    found = request_in(value)
    if isinstance(asked := value.get("request"), dict) and "contents" not in asked and found is asked:
        return None  # which `read_request` takes from there, and says so
    if isinstance(found, dict) and not is_request(value):
        return found
    pair = pair_in(value)
    return None if pair is None else pair.request


def _read_output(text: str, _row: int) -> Evidence:
    value = json_of(text)
    if (
        isinstance(value, dict)
        and (output := raw_beside(value) or output_with_prompt(value) or lone_output_in(value)) is not None
    ):
        value = {**value, "raw": output}
    if not isinstance(value, dict) or not isinstance(value.get("raw"), str):
        raw, notes = as_written(text)
        return Evidence(Form.OUTPUT, _output_words(raw), raw=raw, notes=notes)
    message, reason = value.get("message"), value.get("finish_reason")
    tools = value.get("tools")
    if isinstance(message, dict) and message.keys() & {"content", "tool_calls"}:
        message = {"role": "assistant", **message}
    answer = read_answer(message) if isinstance(message, dict) else Answer()
    prompt, tail = value.get("prompt"), value.get("prompt_tail")
    request = request_in(value)
    return Evidence(
        Form.OUTPUT,
        _output_words(str(value["raw"])),
        request=read_request(body_text(request)) if isinstance(request, dict) else None,
        prompt=prompt if isinstance(prompt, str) and prompt else None,
        prompt_tail=tail if isinstance(tail, str) else "",
        raw=str(value["raw"]),
        finish_reason=reason if isinstance(reason, str) else None,
        chat=answer.chat,
        tools=tuple(tool for tool in tools if isinstance(tool, dict)) if isinstance(tools, list) else (),
    )


def _output_words(raw: str) -> str:
    return f"a raw output of {len(raw):,} characters"


def _read_answer(text: str, _row: int) -> Evidence:
    value, notes = _value_of(text)
    if value is None:
        raise RequestError(
            "The text is not JSON, so it is not a response.", "Read it as a raw output, or paste all of it."
        )
    if isinstance(value, dict) and (found := answer_in(value)) is not None:
        value = found
    return add_answer(Evidence(Form.ANSWER, "a chat response", notes=notes), read_answer(value))


def _read_stream(text: str, _row: int) -> Evidence:
    value = json_of(text)
    if (within := chunk_within(value)) is not None:
        text = body_text(within)
    answer = read_stream(text)
    if isinstance(value, dict):  # one event of a stream; nothing says that there are no others
        answer = _read_one_event(answer)
    evidence = add_answer(Evidence(Form.STREAM, "a streamed response"), answer)
    is_piece = isinstance(value, dict) or are_call_deltas([json_of(line) for line in json_lines(text)])
    return of_deltas_alone(evidence) if is_piece else evidence


def _read_one_event(answer: Answer) -> Answer:
    """Return what one event shows; what came before and after it is unknown."""
    answer = as_part(answer)
    chat = None if answer.chat is None else replace(answer.chat, deltas=head_deltas(answer.chat))
    return answer._replace(chat=chat, stream=None if answer.stream is None else chat)


def _read_error(text: str, _row: int) -> Evidence:
    value, notes = _value_of(text)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]  # as Google writes it
    if not isinstance(value, dict) or not is_error(value):
        raise RequestError(
            "The text does not look like an error from a server.", "Paste the JSON that contains `error`."
        )
    return Evidence(Form.ERROR, "a server's error", error=refusal_of(value), notes=notes)


def _read_exchange(text: str, _row: int) -> Evidence:
    value, _notes = _value_of(text)
    if isinstance(value, dict):
        pair = pair_in(value)
        if pair is not None:
            evidence = exchange_of(Form.EXCHANGE, pair.request, pair.answer)
            return evidence if (raw := _raw_of_pair(value)) is None else replace(evidence, raw=raw)
        raise RequestError("The text does not contain a request with its response.", "Paste an object with both.")
    start = answer_after_command(text)
    if start is None:
        raise RequestError("There is no response below the request.", "Paste the command, followed by what it printed.")
    asked = _request_of_text(text[:start])
    evidence = replace(asked, form=Form.EXCHANGE, words="a request and its response")
    return _add_status(add_answer(evidence, read_answer(text[start:].strip())), text[:start])


def _raw_of_pair(value: JSONObject) -> str | None:
    """Return what the model wrote, where an object has it as `raw` beside a request and its response."""
    raw = value.get("raw")
    is_body = isinstance(raw, str) and (raw.startswith(("HTTP/", "data:")) or '"choices"' in raw or '"messages"' in raw)
    return raw if isinstance(raw, str) and raw.strip() and "request" in value and not is_body else None


def _add_status(evidence: Evidence, above: str) -> Evidence:
    """Return evidence whose error has the status of the head between command and body."""
    error = evidence.error
    if error is None or error.status is not None or (head := head_at_end(above)) is None:
        return evidence
    return replace(evidence, error=replace(error, status=head[0], around=error.around or head[1]))


def _read_lines(text: str, row: int) -> Evidence:
    lines = entries_of(text)
    if not lines:
        raise RequestError(
            "The text does not have one JSON object per line.", "Paste at least two lines, each with one object."
        )
    if row == 1 and (pair := _request_and_answer(lines)) is not None:
        return note_unlinked(_READERS[Form.EXCHANGE](pair, 1))
    if row > 1:
        return _read_line(lines, row)
    first = next((number for number, line in enumerate(lines[:_MAX_BEFORE], 1) if _is_known(line)), 1)
    if (linked := read_linked(lines[first - 1 : first - 1 + _MAX_BEFORE], first)) is not None:
        return linked
    evidence = _read_line(lines, first)
    return add_others(evidence, lines, lambda number: _read_line(lines, number), first)


def _is_known(line: str) -> bool:
    """Return whether a line of a log holds more than the log's own fields."""
    return recognise(line) not in (None, Form.LINES)


def _read_line(lines: list[str], row: int) -> Evidence:
    line = lines[checked_row(row, len(lines)) - 1]
    form = recognise(line)
    if form is None or form is Form.LINES:
        raise not_recognised(line)
    evidence = _READERS[form](line, 1)
    if row == 1 and len(lines) == 2 and (note := note_on_second(json_of(line), json_of(lines[1]))) is not None:
        evidence = replace(evidence, notes=(*evidence.notes, note))
    words = f"line {row} of {len(lines):,}: {evidence.words}"
    return replace(evidence, form=Form.LINES, words=words, row=row, rows=len(lines))


def _request_and_answer(lines: list[str]) -> str | None:
    """Return one JSON text of a request and the answer on the line below it; `None` for any other lines."""
    first, second = (json_of(line) for line in lines) if len(lines) == 2 else (None, None)
    if not isinstance(first, dict) or not is_request(first) or form_of_value(first) is not Form.REQUEST:
        return None
    is_its_answer = is_answer(second) or is_error(second)
    return body_text({"request": first, "response": second}) if is_its_answer else None


def _read_run(text: str, _row: int) -> Evidence:
    bundle = read_bundle(text)
    return Evidence(Form.RUN, "a saved run", request=bundle.trace.request, run=bundle.trace)


def _read_report(text: str, _row: int) -> Evidence:
    reported = reported_answer(text)
    if reported is None:
        raise RequestError(
            "The text does not say what is wrong with an answer.", "Paste the answer itself, or auto-detect."
        )
    return reported


def _read_unknown(_text: str, _row: int) -> Evidence:
    raise RequestError("The text does not look like the chosen form.", "Choose another form, or auto-detect.")


_READERS: Mapping[Form, Callable[[str, int], Evidence]] = {
    **dict.fromkeys(Form, _read_unknown),
    Form.REQUEST: _read_request,
    Form.OUTPUT: _read_output,
    Form.ANSWER: _read_answer,
    Form.STREAM: _read_stream,
    Form.EXCHANGE: _read_exchange,
    Form.HAR: read_har,
    Form.LINES: _read_lines,
    Form.RUN: _read_run,
    Form.ERROR: _read_error,
    Form.REPORT: _read_report,
}
