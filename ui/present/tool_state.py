"""What the views of all tools below the ledger share: their state, and the way from a place to the raw tokens."""

from __future__ import annotations

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.base.types import JSON, JSONObject, Span, Trace
from prompt_debugger.ui.present.json_text import json_segments, segments_to_json
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.words import as_sentence


def tool_error_payload(error: DebuggerError) -> str:
    """Return the payload of a question that could not be asked."""
    return pack_payload({"state": "error", "sentence": as_sentence(error.message), "hint": error.hint})


def waiting_payload(sentence: str, text: str) -> str:
    """Return the payload of a question whose answer takes a while."""
    return pack_payload(
        {"state": "running", "sentence": sentence, "waiting": True, "progress": {"text": text, "fraction": None}}
    )


def jump_of(trace: Trace, char_span: Span) -> JSONObject:
    """Return where to go for some characters of the raw output: to their tokens, where ids are known."""
    tokens = None if trace.raw is None else trace.raw.tokens
    if tokens:
        hit = [
            index
            for index, token in enumerate(tokens)
            if token.char_span.start < max(char_span.stop, char_span.start + 1)
            and token.char_span.stop > char_span.start
        ]
        if hit:
            return {"in": "raw", "token_span": [hit[0], hit[-1] + 1]}
    return {"in": "raw", "char_span": [*char_span]}


def progress_of(done: int, total: int, subject: str) -> JSONObject:
    """Return how far a question is, in words and as a fraction."""
    return {"text": f"{done} of {total} {subject}", "fraction": done / total if total else None}


def message_segments(message: JSONObject) -> list[JSON]:
    """Return an assistant message as the views draw it."""
    return segments_to_json(json_segments({key: value for key, value in message.items() if key != "role"}))
