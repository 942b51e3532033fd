r"""Answers of Anthropic's Messages API, whole or streamed, also from servers that imitate it.

    {"type": "message", "role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}],
     "stop_reason": "tool_use", "usage": {"input_tokens": 9, "output_tokens": 3}}
    event: content_block_delta
    data: {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"a\""}}

Source: https://docs.anthropic.com/en/api/messages and /en/api/messages-streaming, as of 2026-10.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from prompt_debugger.core.base.errors import shorten
from prompt_debugger.core.base.json_values import as_count, as_object, as_text, objects_in
from prompt_debugger.core.base.types import JSON, Api, JSONObject, Usage
from prompt_debugger.core.complete.dialects._answer import Answer
from prompt_debugger.core.complete.dialects.base import Dialect, MessageDraft, StreamDraft, no_place, of_message

_API = "Anthropic's Messages API"
_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "tool_use": "tool_calls",
        "max_tokens": "length",
        "end_turn": "stop",
        "stop_sequence": "stop",
        "refusal": "content_filter",
    }
)
_BLOCKS = frozenset({"text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "web_search_tool_result"})
_MARKUP = re.compile(r"<[|｜]?(?:\w{1,20}:)?tool_calls?(?:_begin)?[|｜]?>|<invoke name=|<function=\w|\[TOOL_CALLS\]")
_CACHED = ("cache_read_input_tokens", "cache_creation_input_tokens")
_EVENTS = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    }
)


def _is_answer(value: JSONObject) -> bool:
    """Return whether an object is a message; without `type` and `role`, its blocks and `stop_reason` show it."""
    content = value.get("content")
    if not isinstance(content, list) or "messages" in value or "choices" in value:
        return False
    if value.get("role", "assistant") != "assistant":
        return False
    if value.get("type") == "message":
        return True
    kinds = [as_text(block.get("type")) for block in objects_in(content)]
    if len(kinds) < len(content) or not all(kind in _BLOCKS for kind in kinds):
        return False
    if "stop_reason" in value or any(kind in ("tool_use", "thinking") for kind in kinds):
        return True
    # A tool's result over MCP looks the same, but for what only a model writes.
    is_alone = value.keys() <= {"role", "content"} and "text" in kinds
    return is_alone and any(_MARKUP.search(as_text(one.get("text")) or "") for one in objects_in(content))


_MAY_LACK = (  # Anthropic's guide to stop reasons, as of 2026-11
    "`stop_reason` is `max_tokens`, and a call comes last: its input may lack what the limit cut off. Ask again with "
    "a higher `max_tokens`."
)


def _read_answer(value: JSONObject) -> Answer:
    draft = MessageDraft()
    for block in objects_in(value["content"]):
        match block.get("type"):
            case "text":
                draft.texts.append(as_text(block.get("text")) or "")
            case "thinking":
                draft.reasoning.append(as_text(block.get("thinking")) or "")
            case "tool_use":
                draft.call(block.get("id"), block.get("name"), block.get("input", {}))
            case other:
                draft.note(no_place(other))
    reason = as_text(value.get("stop_reason"))
    if reason == "max_tokens" and (objects_in(value["content"]) or ({},))[-1].get("type") == "tool_use":
        draft.note(_MAY_LACK)
    return of_message(
        _API,
        draft.message(),
        None if reason is None else _REASONS.get(reason, reason),
        whole=value if "stop_reason" in value else None,
        usage=_usage(value.get("usage")),
        stop_reason=as_text(value.get("stop_sequence")),
        notes=draft.notes,
    )


def _is_event(value: JSONObject) -> bool:
    return as_text(value.get("type")) in _EVENTS


@dataclass(slots=True)
class _Block:
    """A block of the stream that has begun."""

    kind: str
    call: int = -1
    name: str = ""
    given: JSON = None
    pieces: int = 0
    is_open: bool = True


@dataclass(slots=True)
class _Stream:
    draft: StreamDraft = field(default_factory=StreamDraft)
    blocks: dict[int, _Block] = field(default_factory=dict)
    calls: int = 0
    is_ended: bool = False


def _read_events(events: Sequence[JSONObject], body: str) -> Answer:
    stream = _Stream()
    is_begun = any(event.get("type") == "message_start" for event in events)
    for event in events:
        _take(event, stream)
    for block in stream.blocks.values() if stream.is_ended else ():
        _close(block, stream)
    return stream.draft.answer(
        _API, body, is_ended=stream.is_ended, end="`message_stop`", begin="" if is_begun else "`message_start`"
    )


def _take(event: JSONObject, stream: _Stream) -> None:
    draft = stream.draft
    match event.get("type"):
        case "message_start":
            draft.add({"role": "assistant"})
            draft.usage = _usage(as_object(event.get("message")).get("usage"))
        case "content_block_start":
            _start(as_count(event.get("index")) or 0, as_object(event.get("content_block")), stream)
        case "content_block_delta":
            _grow(as_count(event.get("index")) or 0, as_object(event.get("delta")), stream)
        case "content_block_stop":
            if (block := stream.blocks.get(as_count(event.get("index")) or 0)) is not None:
                _close(block, stream)
        case "message_delta":
            delta = as_object(event.get("delta"))
            reason = as_text(delta.get("stop_reason"))
            draft.usage = _usage(event.get("usage"), draft.usage)
            if reason is not None:
                draft.add({}, _REASONS.get(reason, reason))
                draft.stop_reason = as_text(delta.get("stop_sequence")) or draft.stop_reason
        case "message_stop":
            stream.is_ended = True
        case "error":
            error = as_object(event.get("error"))
            draft.fail(f"the server reported an error: {as_text(error.get('message')) or shorten(error)}")
        case _:
            pass


def _start(index: int, block: JSONObject, stream: _Stream) -> None:
    kind = str(block.get("type"))
    if index in stream.blocks and stream.blocks[index].is_open:
        _close(stream.blocks[index], stream)
        stream.draft.note(f"Block {index} begins twice in the stream.")
    begun = stream.blocks[index] = _Block(kind)
    match kind:
        case "text" | "thinking":
            _grow(index, {"type": f"{kind}_delta", kind: block.get(kind)}, stream)
        case "tool_use":
            begun.call, begun.name, begun.given = stream.calls, str(block.get("name")), block.get("input")
            stream.calls += 1
            stream.draft.call(begun.call, block.get("id"), block.get("name"), "")
        case _:
            stream.draft.note(no_place(kind))


def _grow(index: int, delta: JSONObject, stream: _Stream) -> None:
    block = stream.blocks.setdefault(index, _Block(str(delta.get("type"))))
    match delta.get("type"):
        case "text_delta":
            if text := as_text(delta.get("text")):
                stream.draft.add({"content": text})
        case "thinking_delta":
            if text := as_text(delta.get("thinking")):
                stream.draft.add({"reasoning": text})
        case "input_json_delta" if block.kind not in ("tool_use", "input_json_delta"):
            pass  # the input of a tool that the vendor runs itself: no call for the client
        case "input_json_delta":
            if block.call < 0:  # the block began before the copied part
                block.call, block.name = stream.calls, "?"
                stream.calls += 1
            piece = as_text(delta.get("partial_json")) or ""
            block.pieces += bool(piece)
            stream.draft.call(block.call, arguments=piece)
        case "signature_delta":
            pass
        case other:
            stream.draft.note(no_place(other))


def _close(block: _Block, stream: _Stream) -> None:
    """Finish a call: one without any delta, or with empty ones, has the arguments that its beginning gives."""
    if block.kind != "tool_use" or not block.is_open:
        return
    block.is_open = False
    if block.pieces == 0:
        given = block.given if isinstance(block.given, dict) else {}
        stream.draft.call(block.call, arguments=given)


def _usage(value: JSON, before: Usage | None = None) -> Usage | None:
    usage = as_object(value)
    prompt, written = as_count(usage.get("input_tokens")), as_count(usage.get("output_tokens"))
    if prompt is not None:  # tokens read from or written to a cache are counted separately
        prompt += sum(as_count(usage.get(name)) or 0 for name in _CACHED)
    if before is not None:
        prompt = before.prompt_tokens if prompt is None else prompt
        written = before.completion_tokens if written is None else written
    if prompt is None and written is None:
        return None
    return Usage(prompt, written, None if prompt is None or written is None else prompt + written)


DIALECT = Dialect(_API, _is_answer, _read_answer, _is_event, _read_events, Api.MESSAGES)
