r"""Answers and calls as programs in Rust print them (`{:?}`, `{:#?}`, `dbg!`): async-openai, rig, genai and their kin.

    [src/main.rs:42:5] &response = CreateChatCompletionResponse {
        id: "chatcmpl-1",
        choices: [ChatChoice { message: Message { content: Some("…"), tool_calls: None }, finish_reason: Some(Stop) }],
    }

What is printed becomes the JSON that it was read from, and is read as that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object, objects_in
from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject
from prompt_debugger.core.diagnose.words import counted
from prompt_debugger.core.evidence.answers.read import is_error, read_answer, read_stream, refusal_of
from prompt_debugger.core.evidence.copying.raw_output import BREAKS
from prompt_debugger.core.evidence.evidence import UNKNOWN_ID, Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.no_errors.programs import is_script
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import add_answer, as_part, of_deltas_alone
from prompt_debugger.core.evidence.values.chat_messages import assistant_of, call_of
from prompt_debugger.core.evidence.values.rust_debug import Debugged, first_and_rest, read_debugged

_MAX_CHARS = 400_000
_MAX_VALUES = 5_000
_MAX_READ = 4  # times the text
_START = re.compile(
    r"(?m)(?:^|(?<=[=:] )|(?<=[ (])(?=(?:Ok|Some|Err)\())(?:Ok\(|Some\(|Err\()?\s{0,40}"
    r"(?P<value>(?:\[\s{0,40})?[A-Z]\w{2,60}(?:<\w{1,40}>)?(?:\(\s{0,40}[A-Z]\w{2,60})? \{\s)"
)
_INDENTED = re.compile(r"(?m)^[ \t]+\S")
_SOURCE = re.compile(r"(?m)^[ \t]{0,20}(?:let|pub|fn|use|impl|struct|match|async fn|assert(?:_eq)?!)\b")
_DELTA = re.compile(r"Delta|Chunk")  # in the name of a type: of a message, or of a call
_OF_DELTA = frozenset({"content", "tool_calls", "function_call", "reasoning_content"})
_SIGNS = ("Some(", ": None", " { ", " {\n")


def _finds(paste: Paste) -> float:
    text = paste.text
    if paste.value is not None or len(text) > _MAX_CHARS or not any(sign in text for sign in _SIGNS):
        return 0.0
    if _START.search(text) is None or _SOURCE.search(text) is not None or is_script(text):
        return 0.0
    return 0.93 if _evidence(text) is not None else 0.0


def _read(paste: Paste) -> Evidence:
    evidence = _evidence(paste.text)
    if evidence is None:
        raise RequestError("The printed value is cut.", "Paste everything that was printed.")
    return evidence


def _evidence(text: str) -> Evidence | None:
    """Return what the printed values are; a terminal may have broken them anywhere, if no line begins with a blank."""
    found = _evidence_of(text)
    if found is not None or "\n" not in text.strip() or _INDENTED.search(text) is not None:
        return found
    unbroken = _evidence_of(text.strip().replace("\n", ""))
    return None if unbroken is None else replace(unbroken, notes=(*unbroken.notes, BREAKS))


def _evidence_of(text: str) -> Evidence | None:
    """Return what values are: the pieces of a stream, or the first that is an answer or an error."""
    chunks: list[JSONObject] = []
    are_pieces = False
    for printed in _values(text):
        chunk, is_piece = _chunk(printed)
        if chunk is not None:
            chunks.append(chunk)
            are_pieces = are_pieces or is_piece
        elif not chunks and (evidence := _of_value(printed.value)) is not None:
            return evidence
    if not chunks:
        return None
    lines = "\n".join(f"data: {json.dumps(one, ensure_ascii=False)}\n" for one in chunks)
    evidence = Evidence(Form.OBJECT, f"{counted(len(chunks), 'printed event')} of a stream")
    if are_pieces:
        return of_deltas_alone(add_answer(evidence, as_part(read_stream(lines))))
    return add_answer(evidence, read_stream(lines))


def _chunk(printed: Debugged) -> tuple[JSONObject | None, bool]:
    """Return the event of a stream that a value is, or is a piece of, and whether it is only a piece."""
    held = as_object(printed.value)
    if _is_chunk(held):
        return held, False
    if isinstance(held.get("delta"), dict):
        return {"choices": [held]}, "finish_reason" not in held
    if _DELTA.search(printed.kind) is None:
        return None, False
    delta: JSONObject = {"tool_calls": [held]} if "function" in held and "index" in held else held
    if not _OF_DELTA & delta.keys():
        return None, False
    calls: list[JSON] = [_drop_nulls(call) for call in objects_in(delta.get("tool_calls"))]
    delta = {**_drop_nulls(delta), **({"tool_calls": calls} if calls else {})}
    return {"choices": [{"index": 0, "delta": delta}]}, True


def _drop_nulls(value: JSONObject) -> JSONObject:
    """Return an object without what is `None`, which Rust prints for what was absent, too."""
    kept: JSONObject = {name: item for name, item in value.items() if item is not None}
    function = kept.get("function")
    if isinstance(function, dict):
        kept["function"] = _drop_nulls(function)
    return kept


def _values(text: str) -> Iterator[Debugged]:
    at, left = 0, _MAX_READ * len(text)
    for _ in range(_MAX_VALUES):
        start = _START.search(text, at) if left > 0 else None
        if start is None:
            return
        read = read_debugged(text, start.start("value"))
        at = start.end() if read is None else max(start.end(), read.stop)
        left -= len(text) - start.start() if read is None else read.stop - start.start()
        if read is not None:
            yield read


def _is_chunk(value: JSONObject) -> bool:
    choices = objects_in(value.get("choices"))
    return bool(choices) and all("delta" in one for one in choices)


def _of_value(value: JSON) -> Evidence | None:
    held = as_object(value)
    choices = objects_in(held.get("choices"))
    if choices and all(isinstance(one.get("message"), dict) for one in choices):
        named: JSONObject = {**held, "choices": [{**one, "message": _message(one["message"])} for one in choices]}
        return add_answer(Evidence(Form.OBJECT, "a printed answer"), read_answer(named))
    error = as_object(held.get("error", held))
    wrapped: JSONObject = {"error": error}
    if "message" in error and "code" in error and is_error(wrapped):
        return Evidence(Form.ERROR, "a server's error", error=refusal_of(wrapped))
    message = _lone_message(held, first_and_rest(value))
    return None if message is None else Evidence(Form.OBJECT, "a printed message", chat=ChatResult(message, None))


def _lone_message(held: JSONObject, listed: object) -> JSONObject | None:
    """Return the message that a value is, or whose calls it lists; `None` of a value that is neither."""
    if held.get("role") == "assistant" and ("content" in held or "tool_calls" in held):
        message = as_object(_message(held))
        return message if message.get("content") or message.get("tool_calls") else None
    parts = [as_object(one) for one in listed] if isinstance(listed, list) else []
    calls = [one for one in parts if isinstance(as_object(one.get("function")).get("name"), str)]
    texts = [one["text"] for one in parts if isinstance(one.get("text"), str)]
    if not calls or len(calls) + len(texts) != len(parts):
        return None
    return assistant_of("".join(map(str, texts)) or None, [_call(one) for one in calls])


def _message(value: JSON) -> JSON:
    message = as_object(value)
    calls = objects_in(message.get("tool_calls"))
    if calls and all(isinstance(one.get("function"), dict) for one in calls):
        return {**message, "tool_calls": [_call(one) for one in calls]}
    return value


def _call(value: JSONObject) -> JSONObject:
    function = as_object(value.get("function"))
    given = function.get("arguments")
    return call_of(function.get("name"), "" if given is None else given, value.get("id") or UNKNOWN_ID)


READER = Reader(Form.OBJECT, _finds, _read)
