"""Answers of Bedrock's Converse API and the events of ConverseStream, as JSON or as Python prints them.

    {"output": {"message": {"role": "assistant", "content": [{"toolUse": {…}}]}}, "stopReason": "tool_use"}
    {"contentBlockStart": {"start": {"toolUse": {"toolUseId": "a", "name": "f"}}, "contentBlockIndex": 0}}
    {"contentBlockDelta": {"delta": {"toolUse": {"input": "{"}}, "contentBlockIndex": 0}}

They are read as what they are in Anthropic's Messages API, which has the same blocks under other names; a block of text
has no start of its own here.

Source: Amazon Bedrock's API reference, Converse and ConverseStream, as of 2026-11.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.diagnose.fields import as_list
from prompt_debugger.core.evidence.answers import read_answer, read_stream
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.json_of import json_of
from prompt_debugger.core.evidence.python_repr import plain, read_printed
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import add_answer, of_deltas_alone

_MAX_CHARS = 1_000_000
_EVENTS = ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata")
_BEGINS = re.compile(rf"\s*+(?:\[\s*+)?\{{\s*+[\"'](?:{'|'.join(_EVENTS)}|output|ResponseMetadata)[\"']\s*+:")
_BETWEEN = re.compile(r"[\s,]*+(?=\{)")
_API = "an answer of Bedrock's Converse API"
_STREAM = "a stream of Bedrock's ConverseStream"


def _finds(paste: Paste) -> float:
    if _BEGINS.match(paste.text[:4_000]) is None or len(paste.text) > _MAX_CHARS:
        return 0.0
    values = _values(paste.text)
    return 0.96 if _message(values) or _is_stream(values) else 0.0


def _values(text: str) -> list[JSONObject]:
    """Return the objects that a text consists of, in a list or one after the other; none if it holds anything else."""
    value = json_of(text)
    if value is None:
        value = list(_printed(text))
    return [as_object(one) for one in (value if isinstance(value, list) else [value])]


def _printed(text: str) -> Iterator[JSON]:
    at = len(text) - len(text.lstrip("\ufeff \t\r\n["))
    while (read := read_printed(text, at)) is not None and read.stop > at:
        yield plain(read.value)
        found = _BETWEEN.match(text, read.stop)
        if found is None:
            return
        at = found.end()


def _message(values: list[JSONObject]) -> JSONObject:
    """Return the message of a whole answer; an empty object where a text is none."""
    if len(values) != 1 or "stopReason" not in values[0]:
        return {}
    return as_object(as_object(values[0].get("output")).get("message"))


def _is_stream(values: list[JSONObject]) -> bool:
    """Return whether values are events of a stream, an object with one name each."""
    names = [next(iter(value), "") for value in values if len(value) == 1]
    return bool(names) and len(names) == len(values) and {*names} <= {*_EVENTS} and {*names} != {"metadata"}


def _read(paste: Paste) -> Evidence:
    values = _values(paste.text)
    if message := _message(values):
        return replace(add_answer(Evidence(Form.ANSWER, _API), read_answer(_answer(values[0], message))), words=_API)
    events = list(_messages_events(values))
    text = "".join(f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events)
    evidence = replace(add_answer(Evidence(Form.STREAM, _STREAM), read_stream(text)), words=_STREAM)
    return evidence if events[0]["type"] == "message_start" else of_deltas_alone(evidence)


def _answer(value: JSONObject, message: JSONObject) -> JSONObject:
    blocks: list[JSON] = [block for one in as_list(message.get("content")) if (block := _block(as_object(one)))]
    usage = as_object(value.get("usage"))
    counts: JSONObject = {"input_tokens": usage.get("inputTokens"), "output_tokens": usage.get("outputTokens")}
    whole: JSONObject = {"type": "message", "role": "assistant", "content": blocks}
    return {**whole, "stop_reason": value.get("stopReason"), **({"usage": counts} if usage else {})}


def _block(block: JSONObject) -> JSONObject:
    """Return a block as the Messages API has it; an empty object for one that it does not have."""
    if isinstance(block.get("text"), str):
        return {"type": "text", "text": block["text"]}
    if call := as_object(block.get("toolUse")):
        given = call.get("input")
        return {"type": "tool_use", "id": call.get("toolUseId"), "name": call.get("name"), "input": given}
    thought = as_object(as_object(block.get("reasoningContent")).get("reasoningText"))
    return {"type": "thinking", "thinking": thought["text"]} if isinstance(thought.get("text"), str) else {}


def _messages_events(values: list[JSONObject]) -> Iterator[JSONObject]:
    """Yield the events as the Messages API sends them."""
    begun: set[JSON] = set()
    for value in values:
        name, body = next(((name, as_object(item)) for name, item in value.items()), ("", {}))
        index = body.get("contentBlockIndex")
        if name == "messageStart":
            yield {"type": "message_start", "message": {"type": "message", "role": "assistant", "content": []}}
        elif name == "contentBlockStart":
            call = as_object(as_object(body.get("start")).get("toolUse"))
            block: JSONObject = {"type": "tool_use", "id": call.get("toolUseId"), "name": call.get("name"), "input": {}}
            begun.add(index)
            yield {"type": "content_block_start", "index": index, "content_block": block}
        elif name == "contentBlockDelta":
            kind, delta = _delta(as_object(body.get("delta")))
            if index not in begun and kind != "tool_use":
                begun.add(index)
                empty: JSONObject = {"type": kind, ("text" if kind == "text" else "thinking"): ""}
                yield {"type": "content_block_start", "index": index, "content_block": empty}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        elif name == "contentBlockStop":
            yield {"type": "content_block_stop", "index": index}
        elif name == "messageStop":
            yield {"type": "message_delta", "delta": {"stop_reason": body.get("stopReason")}, "usage": {}}
            yield {"type": "message_stop"}


def _delta(delta: JSONObject) -> tuple[str, JSONObject]:
    """Return the kind of block that a piece is of, and the piece as the Messages API has it."""
    call, thought = delta.get("toolUse"), delta.get("reasoningContent")
    if isinstance(call, dict):
        return "tool_use", {"type": "input_json_delta", "partial_json": call.get("input", "")}
    if isinstance(thought, dict):
        return "thinking", {"type": "thinking_delta", "thinking": thought.get("text", "")}
    return "text", {"type": "text_delta", "text": delta.get("text", "")}


READER = Reader(Form.STREAM, _finds, _read)
