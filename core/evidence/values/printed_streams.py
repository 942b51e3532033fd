"""Parts of a stream that Python printed → the lines that came over the wire.

ChatCompletionChunk(…)  ChoiceDelta(…)  ContentBlockDeltaEvent(…)      AIMessageChunk(content='', tool_call_chunks=[…])
"""

from __future__ import annotations

import json

from prompt_debugger.core.base.json_values import as_list, as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.values.printed_classes import (
    ANTHROPIC_EVENTS,
    LANGCHAIN,
    RESPONSES_EVENTS,
    STREAMED,
)
from prompt_debugger.core.evidence.values.printed_objects import class_of, drop_nulls
from prompt_debugger.core.evidence.values.python_repr import CLASS, plain


def stream_text(values: list[JSONObject]) -> str:
    """Return printed chunks, deltas or events as the lines that came over the wire."""
    lines: list[str] = []
    for value in values:
        name = class_of(value)
        if name in ANTHROPIC_EVENTS:
            kind = ANTHROPIC_EVENTS[name]
            lines.append(f"event: {kind}\ndata: {json.dumps({**drop_nulls(value), 'type': kind})}\n\n")
            continue
        if name in RESPONSES_EVENTS:
            lines.append(f"data: {json.dumps(plain(value))}\n\n")
            continue
        body = drop_nulls(value)
        kind = STREAMED.get(name, "chunk")
        if kind == "call":
            body = {"tool_calls": [body]}
        if kind in ("delta", "call"):
            body = {"choices": [{"index": 0, "delta": body, "finish_reason": None}]}
        elif kind == "choice":
            body = {"choices": [body]}
        lines.append(f"data: {json.dumps(body)}\n\n")
    if has_no_end(values):
        lines.append("data: [DONE]\n\n")
    return "".join(lines)


def pieces_of_message(value: JSONObject) -> list[JSONObject]:
    """Return the deltas of a LangChain message whose calls are the pieces of a stream, which it could not put together.

    A piece that continues a call has no name; LangChain joins pieces by their index.
    """
    calls = as_object(value.get("additional_kwargs")).get("tool_calls") if class_of(value) in LANGCHAIN else None
    pieces = [as_object(call) for call in calls] if isinstance(calls, list) else []
    names = [as_object(piece.get("function")).get("name") for piece in pieces]
    if not names or not names[0] or all(names):
        return []
    content = value.get("content")
    deltas: list[JSONObject] = [{CLASS: "ChoiceDelta", "role": "assistant", "content": content if content else None}]
    for piece in pieces:
        deltas.append({CLASS: "ChoiceDelta", "tool_calls": [plain(piece)]})
    return deltas


def deltas_of_chunks(values: list[JSONObject]) -> list[JSONObject]:
    """Return the deltas of LangChain's `AIMessageChunk`s, printed as they came; none of a lone one that is complete."""
    if not values or any(class_of(value) != "AIMessageChunk" for value in values):
        return []
    chunks = [[as_object(one) for one in as_list(value.get("tool_call_chunks"))] for value in values]
    if len(values) < 2 and all(one.get("name") for one in chunks[0]):
        return []
    deltas: list[JSONObject] = []
    for value, calls in zip(values, chunks, strict=True):
        pieces: list[JSON] = [
            {
                "index": call.get("index"),
                "id": call.get("id"),
                "function": {
                    "arguments": call.get("args"),
                    **({"name": call["name"]} if call.get("name") is not None else {}),  # Python prints what is absent
                },
            }
            for call in calls
        ]
        content = value.get("content")
        delta: JSONObject = {CLASS: "ChoiceDelta", "content": content if isinstance(content, str) else None}
        deltas.append({**delta, "tool_calls": pieces} if pieces else delta)
    return deltas


def has_no_end(values: list[JSONObject]) -> bool:
    """Return whether a printed stream is made of deltas alone, which have no word on how it ended."""
    return all(STREAMED.get(class_of(value)) in ("delta", "call") for value in values)
