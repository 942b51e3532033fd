"""Spans of OpenTelemetry that recorded a call of a model: OTLP JSON, a printed span, or a bag of attributes.

    gen_ai.input.messages, gen_ai.output.messages, gen_ai.tool.definitions      the conventions of 2025 and later
    gen_ai.user.message, gen_ai.choice                                          events of the conventions before
    gen_ai.prompt.0.content, gen_ai.completion.0.tool_calls.0.name              OpenLLMetry
    llm.input_messages.0.message.content, llm.output_messages.0.message…        OpenInference

as JSON, one per line, one after another as a console exporter prints them, or as JavaScript's console prints objects.

Source: OpenTelemetry's semantic conventions for generative AI, 1.28 to 1.38.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object, text_or_json
from prompt_debugger.core.base.text import has_any
from prompt_debugger.core.base.types import JSON, JSONObject, Refusal, Request
from prompt_debugger.core.evidence.answers.read import read_answer
from prompt_debugger.core.evidence.errors.copied import error_of_text
from prompt_debugger.core.evidence.evidence import UNKNOWN_ID, Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import add_answer
from prompt_debugger.core.evidence.values.json_of import decoded, json_lines, json_of
from prompt_debugger.core.evidence.values.python_repr import plain, read_printed
from prompt_debugger.core.formats import TABLES
from prompt_debugger.core.request import body_text, read_request

MAX_SPANS = 5_000
_SIGNS = ('"gen_ai.', '"llm.input_messages', '"llm.output_messages', '"gen_ai"')
_PRINTED_SIGNS = ("'gen_ai.", "'llm.input_messages", "'llm.output_messages")  # as JavaScript's console prints a span
_PRINTED = re.compile(r"[ \t]{0,4}(?:(?:Readable)?Span(?:Impl)? )?(?=\{)")
_BETWEEN = re.compile(r"[ \t\r\n,]*+")
_MAX_PRINTED_CHARS = 400_000
_ROLE_OF_EVENT: Mapping[str, str] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_OPTIONS = ("temperature", "top_p", "max_tokens", "seed", "frequency_penalty", "presence_penalty")


_MAX_WORDS = 4_000  # characters of an error


def _finds(paste: Paste) -> float:
    text = paste.text
    if not any(sign in text for sign in (*_SIGNS, *_PRINTED_SIGNS)):
        return 0.0
    return 0.95 if next(_calls(_values(paste)), None) is not None else 0.0


def _values(paste: Paste) -> list[JSON]:
    if isinstance(paste.value, list):
        return paste.value
    if paste.value is not None:
        return [paste.value]
    return [json_of(line) for line in json_lines(paste.text)] or _printed_values(paste.text)


def _printed_values(text: str) -> list[JSON]:
    """Return the spans that a console exporter printed, as JSON or as JavaScript prints objects; none of other text."""
    values: list[JSON] = []
    at, end = 0, len(text.rstrip())
    while at < end <= _MAX_PRINTED_CHARS and len(values) < MAX_SPANS:
        begin = _PRINTED.match(text, at)
        read = None if begin is None else read_printed(text, begin.end())
        if read is None or read.is_cut:
            return []
        values.append(plain(read.value))
        between = _BETWEEN.match(text, read.stop)
        at = read.stop if between is None else between.end()
    return values


def _read(paste: Paste) -> Evidence:
    spans = list(_calls(_values(paste)))
    if paste.row > len(spans):
        raise RequestError(f"There is no entry {paste.row}: there are {len(spans):,}.", "Choose a lower number.")
    attributes, events = spans[paste.row - 1]
    messages, answer = _messages(attributes, events), _answer(attributes, events)
    words = "a span of a model's call" + (f", {paste.row} of {len(spans):,}" if len(spans) > 1 else "")
    evidence = Evidence(
        Form.EXCHANGE, words, row=paste.row if len(spans) > 1 else 0, rows=len(spans) * (len(spans) > 1)
    )
    if answer is not None:
        evidence = add_answer(evidence, read_answer(answer))
    tools = _tools(attributes)
    if messages and (tools or not _has_calls(answer)):  # else which tools were offered was not recorded
        evidence = replace(evidence, request=_request(attributes, messages, tools))
    failed = None if answer is not None else _exception(events)
    if failed is not None:
        evidence = replace(evidence, words=f"{evidence.words} with an error", error=failed)
    if evidence.request is None and answer is None and failed is None:
        raise RequestError(
            "The span contains neither messages nor an answer.", "Record the contents of messages as well."
        )
    return evidence


def _exception(events: Sequence[JSONObject]) -> Refusal | None:
    """Return the error that a call ended with, by the event that every instrumentation records it as."""
    for event in events:
        if event.get("name") == "exception":
            held = _attributes_by_name(event.get("attributes"))
            words = f"{held.get('exception.type', 'Exception')}: {held.get('exception.message', '')}"
            found = error_of_text(words)
            return Refusal(None, words[:_MAX_WORDS], None) if found is None else found.refusal
    return None


def _has_calls(answer: JSONObject | None) -> bool:
    """Return whether an answer has calls, or markup of calls in its text."""
    written = json.dumps(answer, ensure_ascii=False)
    return "tool_calls" in written or has_any(written, TABLES.call_markers)


def _request(attributes: JSONObject, messages: list[JSON], tools: list[JSON]) -> Request | None:
    body: JSONObject = {
        "model": attributes.get("gen_ai.request.model", attributes.get("llm.model_name")),
        "messages": messages,
    }
    if tools:
        body["tools"] = tools
    options = {name: attributes.get(f"gen_ai.request.{name}") for name in _OPTIONS}
    body |= {name: value for name, value in options.items() if isinstance(value, int | float)}
    try:
        return read_request(body_text({name: value for name, value in body.items() if value is not None}))
    except RequestError:
        return None


def _calls(values: Sequence[JSON]) -> Iterator[tuple[JSONObject, list[JSONObject]]]:
    """Yield attributes and events of the spans that contain messages."""
    for attributes, events in _spans(values):
        if _messages(attributes, events) or _answer(attributes, events) is not None:
            yield attributes, events


def _spans(values: Sequence[JSON]) -> Iterator[tuple[JSONObject, list[JSONObject]]]:
    stack = [value for value in reversed(values[:MAX_SPANS]) if isinstance(value, dict)]
    count = 0
    while stack and count < MAX_SPANS:
        value = stack.pop()
        count += 1
        for name in ("resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "spans", "batches", "logRecords"):
            inner = value.get(name)
            stack.extend(item for item in reversed(inner if isinstance(inner, list) else []) if isinstance(item, dict))
        if "attributes" in value:
            events = value.get("events")
            yield (
                _attributes_by_name(value["attributes"]),
                [as_object(one) for one in events] if isinstance(events, list) else [],
            )
        elif any(name.startswith(("gen_ai.", "llm.")) for name in value):
            yield value, []


def _attributes_by_name(attributes: JSON) -> JSONObject:
    """Return attributes by name, from an object or from OTLP's list of keys and values."""
    if isinstance(attributes, dict):
        return _flat(attributes)
    found: JSONObject = {}
    for item in attributes if isinstance(attributes, list) else []:
        entry = as_object(item)
        if isinstance(entry.get("key"), str):
            found[str(entry["key"])] = _value(entry.get("value"))
    return found


def _flat(attributes: JSONObject) -> JSONObject:
    """Return attributes with dots in their names where an exporter nested them: `{"gen_ai": {"input": …}}`."""
    nested = attributes.get("gen_ai")
    if not isinstance(nested, dict):
        return attributes
    found = dict(attributes)
    stack: list[tuple[str, JSON]] = [("gen_ai", nested)]
    while stack:
        name, value = stack.pop()
        if isinstance(value, dict) and name.count(".") < 4:
            stack.extend((f"{name}.{key}", item) for key, item in value.items())
        else:
            found[name] = value
    return found


def _value(value: JSON) -> JSON:
    holder = as_object(value)
    for name in ("stringValue", "boolValue", "doubleValue", "string_value"):
        if name in holder:
            return holder[name]
    if "intValue" in holder:
        return int(str(holder["intValue"])) if str(holder["intValue"]).lstrip("-").isdecimal() else None
    items = as_object(holder.get("arrayValue")).get("values")
    if isinstance(items, list):
        return [_value(item) for item in items]
    pairs = as_object(holder.get("kvlistValue")).get("values")
    if isinstance(pairs, list):
        return {str(as_object(pair).get("key")): _value(as_object(pair).get("value")) for pair in pairs}
    return None if holder else value


def _messages(attributes: JSONObject, events: Sequence[JSONObject]) -> list[JSON]:
    system = decoded(attributes.get("gen_ai.system_instructions"))
    reported = decoded(attributes.get("gen_ai.input.messages"))
    if isinstance(reported, list) and reported:
        head: list[JSON] = (
            [{"role": "system", "content": _joined(system)}] if isinstance(system, list) and system else []
        )
        return [*head, *(message for one in reported for message in _read_parts(as_object(one)))]
    found = [
        {"role": role, **_content_of(event)}
        for event in events
        if (role := _ROLE_OF_EVENT.get(str(event.get("name", event.get("event_name"))))) is not None
    ]
    if found:
        return [*found]
    rows = _indexed(attributes, "gen_ai.prompt.") or _indexed(attributes, "llm.input_messages.")
    return [_row_message(row) for row in rows if row.get("role") or row.get("message.role")]


def _answer(attributes: JSONObject, events: Sequence[JSONObject]) -> JSONObject | None:
    reported = decoded(attributes.get("gen_ai.output.messages"))
    reasons = decoded(attributes.get("gen_ai.response.finish_reasons"))
    reason = reasons[0] if isinstance(reasons, list) and reasons else None
    if isinstance(reported, list) and reported:
        first = as_object(reported[0])
        message = next(iter(_read_parts(first)), None)
        return None if message is None else _choice(message, first.get("finish_reason", reason), attributes)
    for event in events:
        if str(event.get("name", event.get("event_name"))) == "gen_ai.choice":
            held = _content_of(event)
            message = as_object(decoded(held.get("message"))) or {"content": held.get("content")}
            return _choice({"role": "assistant", **message}, held.get("finish_reason", reason), attributes)
    rows = _indexed(attributes, "gen_ai.completion.") or _indexed(attributes, "llm.output_messages.")
    return _choice(_row_message(rows[0]), rows[0].get("finish_reason", reason), attributes) if rows else None


def _choice(message: JSONObject, reason: JSON, attributes: JSONObject) -> JSONObject:
    """Return an answer; its message alone where the span does not record how it ended, as OpenInference's do not."""
    if reason is None:
        return {"role": "assistant", **message}
    usage = {
        "prompt_tokens": attributes.get("gen_ai.usage.input_tokens", attributes.get("gen_ai.usage.prompt_tokens")),
        "completion_tokens": attributes.get(
            "gen_ai.usage.output_tokens", attributes.get("gen_ai.usage.completion_tokens")
        ),
    }
    word = {"tool_call": "tool_calls"}.get(str(reason), reason)
    return {"choices": [{"index": 0, "message": message, "finish_reason": word}], "usage": usage}


def _read_parts(message: JSONObject) -> list[JSONObject]:
    """Return what a message of parts is: one of chat completions, and one for each result of a tool."""
    parts = message.get("parts")
    if not isinstance(parts, list):
        return (
            [{"role": message.get("role", "user"), "content": message.get("content")}] if "content" in message else []
        )
    kinds = [(as_object(part).get("type"), as_object(part)) for part in parts]
    results = [part for kind, part in kinds if kind == "tool_call_response"]
    if results:
        given = [(one.get("id"), one.get("response", one.get("result"))) for one in results]
        return [{"role": "tool", "tool_call_id": call_id, "content": text_or_json(value)} for call_id, value in given]
    found: JSONObject = {"role": message.get("role", "assistant")}
    texts = [str(part.get("content", "")) for kind, part in kinds if kind == "text"]
    thoughts = [str(part.get("content", "")) for kind, part in kinds if kind in ("reasoning", "thinking")]
    calls: list[JSON] = [_call(part) for kind, part in kinds if kind == "tool_call"]
    found["content"] = "".join(texts) if texts else None
    if thoughts:
        found["reasoning_content"] = "\n".join(thoughts)
    return [{**found, "tool_calls": calls} if calls else found]


def _call(part: JSONObject) -> JSONObject:
    function = {"name": part.get("name"), "arguments": text_or_json(part.get("arguments"))}
    return {"id": part.get("id") or UNKNOWN_ID, "type": "function", "function": function}


def _content_of(event: JSONObject) -> JSONObject:
    """Return what an event holds: its body, or its attributes, or the JSON text in one of them."""
    body = event.get("body")
    held = as_object(body) or _attributes_by_name(event.get("attributes"))
    inner = as_object(
        decoded(held.get("gen_ai.event.content", held.get("gen_ai.prompt", held.get("gen_ai.completion"))))
    )
    held = inner or held
    calls = decoded(held.get("tool_calls"))
    return {**held, "tool_calls": calls} if calls is not None else held


def _indexed(attributes: JSONObject, prefix: str) -> list[JSONObject]:
    """Return rows of attributes named `prefix` N `.` rest, in order."""
    rows: dict[int, JSONObject] = {}
    for name, value in attributes.items():
        if name.startswith(prefix):
            number, _, rest = name[len(prefix) :].partition(".")
            if number.isdecimal() and len(number) < 5 and rest:
                rows.setdefault(int(number), {})[rest] = value
    return [rows[number] for number in sorted(rows)]


def _row_message(row: JSONObject) -> JSONObject:
    row = {name.removeprefix("message."): value for name, value in row.items()}
    message: JSONObject = {"role": row.get("role", "assistant"), "content": row.get("content")}
    calls: list[JSON] = []
    for call in _indexed(row, "tool_calls."):
        held = {name.removeprefix("tool_call.").removeprefix("function."): value for name, value in call.items()}
        calls.append(_call(held))
    if calls:
        message["tool_calls"] = calls
    if row.get("tool_call_id"):
        message["tool_call_id"] = row["tool_call_id"]
    return message


def _tools(attributes: JSONObject) -> list[JSON]:
    reported = decoded(attributes.get("gen_ai.tool.definitions"))
    found: list[JSON] = []
    rows = _indexed(attributes, "llm.request.functions.") or [
        as_object(decoded(row.get("tool.json_schema"))) for row in _indexed(attributes, "llm.tools.")
    ]
    for tool in reported if isinstance(reported, list) else rows:
        held = as_object(tool)
        function = as_object(held.get("function")) or {
            name: decoded(held.get(name)) if name == "parameters" else held.get(name)
            for name in ("name", "description", "parameters")
            if held.get(name) is not None
        }
        if function.get("name"):
            found.append({"type": "function", "function": function})
    return found


def _joined(parts: JSON) -> str:
    return "".join(str(as_object(part).get("content", "")) for part in (parts if isinstance(parts, list) else []))


READER = Reader(Form.EXCHANGE, _finds, _read)
