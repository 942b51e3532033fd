"""A stream as a line of time: when each chunk came, what it carried, and which part of the raw output it stands for."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

from prompt_debugger.core.base.types import JSON, ChatResult, Completion, JSONObject, Span, StreamDelta, Trace
from prompt_debugger.ui.present.words import count_of, joined, shortened

MAX_CHUNKS = 2_000
_FEWEST = 2  # chunks that make a line
_MAX_TEXT = 200  # characters of a chunk
_SAID = {"content": "content", "reasoning": "reasoning", "reasoning_content": "reasoning"}


def chunk_timing(trace: Trace) -> JSONObject | None:
    """Return the line of a run's streamed answer; `None` if nothing streamed, or its times are not known."""
    stream = trace.chat_stream
    deltas = () if stream is None else stream.deltas
    if stream is None or len(deltas) < _FEWEST or not any(delta.at_s for delta in deltas):
        return None
    shown = deltas[:MAX_CHUNKS]
    spans = _spans(stream, trace.raw)
    chunks = [_chunk(*one, trace.raw) for one in zip(shown, [*spans, *([None] * len(shown))], strict=False)]
    return {"chunks": chunks, "figures": _figures(deltas), "total_s": max(delta.at_s for delta in deltas)}


def _chunk(delta: StreamDelta, span: Span | None, raw: Completion | None) -> JSON:
    kind, text = _said(delta)
    if kind == "empty" and span is not None and raw is not None:
        text = shortened(raw.text[span.start : span.stop], _MAX_TEXT)  # what its tokens wrote, and the chunk leaves out
    return [round(delta.at_s, 4), kind, text, len(delta.token_ids or ()), [*span] if span else None]


def _said(delta: StreamDelta) -> tuple[str, str]:
    """Return the kind of a chunk and its text."""
    for name, kind in _SAID.items():
        text = delta.delta.get(name)
        if isinstance(text, str) and text:
            return kind, shortened(text, _MAX_TEXT)
    calls = delta.delta.get("tool_calls")
    if isinstance(calls, list) and calls:
        return "call", shortened("".join(map(_call_text, calls)), _MAX_TEXT)
    return ("end", delta.finish_reason) if delta.finish_reason else ("empty", "")


def _call_text(call: JSON) -> str:
    function = call.get("function") if isinstance(call, dict) else None
    parts = [function.get("name"), function.get("arguments")] if isinstance(function, dict) else [json.dumps(call)]
    return " ".join(str(part) for part in parts if part)


def _spans(stream: ChatResult, raw: Completion | None) -> Iterator[Span | None]:
    """Yield which characters of the raw output each chunk's tokens are, where it is the output of this very stream."""
    ids = tuple(token for delta in stream.deltas for token in delta.token_ids or ())
    if raw is None or raw.tokens is None or not ids or ids != (raw.token_ids or ())[: len(ids)]:
        return
    at = 0
    for delta in stream.deltas[:MAX_CHUNKS]:
        count = len(delta.token_ids or ())
        tokens = raw.tokens[at : at + count]
        at += count
        yield Span(tokens[0].char_span.start, tokens[-1].char_span.stop) if len(tokens) else None


def _figures(deltas: tuple[StreamDelta, ...]) -> str:
    first = next((delta for delta in deltas if _said(delta)[0] not in ("empty", "end")), None)
    gaps = [(after.at_s - before.at_s, number) for number, (before, after) in enumerate(itertools.pairwise(deltas), 2)]
    longest, number = max(gaps)
    silent = sum(1 for delta in deltas if delta.token_ids and _said(delta)[0] == "empty")
    return joined(
        f"first chunk after {_time(deltas[0].at_s)}",
        "no chunk carries text" if first is None else f"first text after {_time(first.at_s)}",
        f"{count_of(len(deltas), 'chunk')} in {_time(deltas[-1].at_s)}",
        f"longest gap {_time(longest)}, before chunk {number}",
        f"{silent:,} with tokens and no text" if silent else None,
    )


def _time(value: float) -> str:
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"
