"""What came back, three ways: raw, streamed chat, chat message."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Collection, Iterator

from prompt_debugger.core.base.types import JSON, ChatResult, Completion, JSONObject, Span, StreamDelta, Trace
from prompt_debugger.ui.present.json_text import json_segments, segments_to_json
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.reasons import CUT_SHORT, why_no_answer
from prompt_debugger.ui.present.words import count_of, joined, seconds, shortened

MAX_SHOWN_CHARS = 200_000


def completion_payload(
    trace: Trace, *, raw_text: str = "", chat_text: str = "", streaming: bool = False, has_ended: bool = False
) -> str:
    """Return the payload of the completion view; finished parts of the trace win over what has streamed so far.

    `has_ended` is true of a run that is over without a verdict: nothing more comes.
    """
    special = () if trace.vocabulary is None else trace.vocabulary.special.values()
    why = why_no_answer(trace) or (CUT_SHORT if has_ended else "")
    return pack_payload(
        {
            "raw": _raw(trace.raw, raw_text, special, why, streaming=streaming),
            "stream": _stream(trace.chat_stream, chat_text, special, why, streaming=streaming),
            "message": _message(trace.chat, why),
            "timing": chunk_timing(trace),
        }
    )


def mark_special(text: str, special: Collection[str]) -> list[JSON]:
    """Return `text` as [stretch, mark] pairs, where `mark` is `special` for a control token's spelling."""
    wanted = sorted((spelling for spelling in special if spelling), key=len, reverse=True)
    if not wanted or not text:
        return [[text, ""]] if text else []
    pattern = re.compile("(" + "|".join(map(re.escape, wanted)) + ")")
    parts = pattern.split(text)
    return [[part, "special" if number % 2 else ""] for number, part in enumerate(parts) if part]


def _pane(title: str, **changes: JSON) -> JSONObject:
    pane: JSONObject = {
        "title": title,
        "figures": "",
        "copy": None,
        "streaming": False,
        "json": None,
        "marked": None,
        "note": "",
        "empty": "",
    }
    return {**pane, **changes}


def _raw(raw: Completion | None, so_far: str, special: Collection[str], why: str, *, streaming: bool) -> JSONObject:
    title = "Raw output"
    if raw is None:
        if not so_far:
            return _pane(title, empty=why or "What the model wrote, including control tokens, as it arrives.")
        return _pane(
            title,
            figures=count_of(len(so_far), "character"),
            streaming=streaming,
            marked=mark_special(so_far[-MAX_SHOWN_CHARS:], special),
        )
    count = None if raw.token_ids is None else count_of(len(raw.token_ids), "token")
    return _pane(
        title,
        figures=joined(count, raw.finish_reason, _stop(raw), seconds(raw.elapsed_s)),
        copy=raw.text,
        marked=mark_special(raw.text[:MAX_SHOWN_CHARS], special),
        note=joined(_cut(raw.text), "a grammar was applied" if raw.constraint else None),
        empty="The model wrote nothing.",
    )


def _stop(raw: Completion) -> str | None:
    return None if raw.stop_reason is None else f"stopped at {raw.stop_reason!r}"


def _cut(text: str) -> str | None:
    more = len(text) - MAX_SHOWN_CHARS
    return f"{more:,} more characters are not shown here" if more > 0 else None


def _stream(chat: ChatResult | None, so_far: str, special: Collection[str], why: str, *, streaming: bool) -> JSONObject:
    title = "Chat, streamed"
    if chat is None:
        if not so_far:
            return _pane(title, empty=why or "The same request as a stream, assembled from its deltas.")
        marked = mark_special(so_far[-MAX_SHOWN_CHARS:], special)
        return _pane(title, figures=count_of(len(so_far), "character"), streaming=streaming, marked=marked)
    return _pane(
        title,
        figures=joined(count_of(len(chat.deltas), "delta"), chat.finish_reason, seconds(chat.elapsed_s)),
        copy=_plain(chat.message),
        json=_json(chat.message),
        note=chat.error or "",
    )


def _message(chat: ChatResult | None, why: str) -> JSONObject:
    title = "Chat message"
    if chat is None:
        return _pane(title, empty=why or "The message as the server returned it, unchanged.")
    usage = None if chat.usage is None else chat.usage.completion_tokens
    count = None if usage is None else count_of(usage, "token")
    return _pane(
        title,
        figures=joined(count, chat.finish_reason, seconds(chat.elapsed_s)),
        copy=_plain(chat.message),
        json=_json(chat.message),
        note=chat.error or "",
    )


def _plain(value: JSONObject) -> str:
    return "".join(segment.text for segment in json_segments(value))


def _json(value: JSONObject) -> list[JSON]:
    segments = tuple(
        segment._replace(text=shortened(segment.text, MAX_SHOWN_CHARS)) for segment in json_segments(value)
    )
    return segments_to_json(segments)


MAX_CHUNKS = 2_000
_FEWEST = 2  # chunks that make a line
_MAX_TEXT = 200  # characters of a chunk
_TEXT_FIELDS = {"content": "content", "reasoning": "reasoning", "reasoning_content": "reasoning"}


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
    kind, text = _kind_and_text(delta)
    if kind == "empty" and span is not None and raw is not None:
        text = shortened(raw.text[span.start : span.stop], _MAX_TEXT)  # what its tokens wrote, and the chunk leaves out
    return [round(delta.at_s, 4), kind, text, len(delta.token_ids or ()), [*span] if span else None]


def _kind_and_text(delta: StreamDelta) -> tuple[str, str]:
    """Return the kind of a chunk and its text."""
    for name, kind in _TEXT_FIELDS.items():
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
    first = next((delta for delta in deltas if _kind_and_text(delta)[0] not in ("empty", "end")), None)
    gaps = [(after.at_s - before.at_s, number) for number, (before, after) in enumerate(itertools.pairwise(deltas), 2)]
    longest, number = max(gaps)
    silent = sum(1 for delta in deltas if delta.token_ids and _kind_and_text(delta)[0] == "empty")
    return joined(
        f"first chunk after {_time(deltas[0].at_s)}",
        "no chunk carries text" if first is None else f"first text after {_time(first.at_s)}",
        f"{count_of(len(deltas), 'chunk')} in {_time(deltas[-1].at_s)}",
        f"longest gap {_time(longest)}, before chunk {number}",
        f"{silent:,} with tokens and no text" if silent else None,
    )


def _time(value: float) -> str:
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"
