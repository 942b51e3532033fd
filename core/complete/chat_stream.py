"""A chat stream, event by event, into a `ChatResult`. Sans-I/O: `feed` and `finish`.

Whatever a stream does, what came is kept: an event that is no JSON, an error
event, an end without `[DONE]` become the result's `error`, the first of them.
A stream that has given its finish reason and lacks only `[DONE]` is whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from prompt_debugger.core.complete import run_facts
from prompt_debugger.core.complete.answers import (
    bound_calls,
    chat_logprobs_of,
    problem_of_error,
    read_chat,
    stop_reason_of,
    usage_of,
)
from prompt_debugger.core.complete.assemble import MessageAssembler
from prompt_debugger.core.complete.backends.limits import MAX_CALLS, MAX_CHOICES
from prompt_debugger.core.complete.backends.sse import SseEvent
from prompt_debugger.core.complete.shapes import integer_of, object_of, objects_of, parse_json, text_of
from prompt_debugger.core.errors import shorten
from prompt_debugger.core.types import ChatResult, JSONObject, StreamDelta, TokenLogprob, Usage

OnDelta = Callable[[StreamDelta], None]
OnPromptIds = Callable[[tuple[int, ...]], None]

_DONE = "[DONE]"


class ChatStreamReader:
    """Reads one stream; of several choices the first counts."""

    def __init__(self, on_delta: OnDelta | None = None, on_prompt_ids: OnPromptIds | None = None) -> None:
        self._on_delta = on_delta
        self._on_prompt_ids = on_prompt_ids
        self._assembler = MessageAssembler()
        self._deltas: list[StreamDelta] = []
        self._logprobs: list[TokenLogprob] | None = None
        self._prompt_token_ids: tuple[int, ...] | None = None
        self._prompt_text: str | None = None
        self._finish_reason: str | None = None
        self._stop_reason: str | int | None = None
        self._usage: Usage | None = None
        self._error: str | None = None
        self._event_count = 0
        self.is_done = False

    def feed(self, event: SseEvent, at_s: float) -> None:
        """Take one event that came `at_s` seconds after the request was sent."""
        self._event_count += 1
        if event.data.strip() == _DONE:
            self.is_done = True
            return
        if not event.is_utf8:
            self._note(f"event {self._event_count} of the stream is not UTF-8; U+FFFD stands for what was unreadable")
        try:
            chunk = parse_json(event.data)
        except ValueError:
            cut = "" if event.is_complete else ", which the end of the stream cut off,"
            self._note(f"event {self._event_count} of the stream{cut} is not JSON: {shorten(event.data)}")
            return
        if isinstance(chunk, dict):
            self._take_chunk(chunk, at_s)
        else:
            self._note(f"event {self._event_count} of the stream is no object: {shorten(chunk)}")

    def finish(self, body: str, elapsed_s: float, failure: str | None = None) -> ChatResult:
        """Return what came.

        Args:
            body: The stream as received.
            elapsed_s: Seconds from sending to the end.
            failure: How the connection broke, if it did.
        """
        if self._event_count == 0 and failure is None and (whole := _whole_answer(body, elapsed_s)) is not None:
            return whole
        if failure is not None:
            self._note(failure)
        elif self._event_count == 0:
            self._note(f"the stream ended without any event; it held {shorten(body)}")
        elif not self.is_done and self._finish_reason is None:
            self._note("the stream ended without a finish reason and without `[DONE]`")
        if self._assembler.has_unread_calls:
            self._note(f"the stream holds more than {MAX_CALLS:,} tool calls; the first {MAX_CALLS:,} are read")
        return ChatResult(
            message=self._assembler.message(),
            finish_reason=self._finish_reason,
            stop_reason=self._stop_reason,
            token_ids=self._token_ids(),
            prompt_token_ids=self._prompt_token_ids,
            prompt_text=self._prompt_text,
            usage=self._usage,
            logprobs=None if self._logprobs is None else tuple(self._logprobs),
            deltas=tuple(self._deltas),
            body=body,
            elapsed_s=elapsed_s,
            error=self._error,
        )

    def _take_chunk(self, chunk: JSONObject, at_s: float) -> None:
        if (problem := problem_of_error(chunk)) is not None:
            self._note(problem)
        self._take_prompt(chunk)
        self._usage = usage_of(chunk.get("usage")) or self._usage
        choices = objects_of(chunk.get("choices"))
        if len(choices) > MAX_CHOICES:
            held = f"event {self._event_count} of the stream holds {len(choices):,} choices"
            self._note(f"{held}, of which {MAX_CHOICES:,} are read")
        for choice in choices[:MAX_CHOICES]:
            if integer_of(choice.get("index")) in (0, None):
                self._take_choice(chunk, choice, at_s)

    def _take_prompt(self, chunk: JSONObject) -> None:
        self._prompt_text = run_facts.prompt_text(chunk) or self._prompt_text
        ids = run_facts.prompt_ids(chunk)
        if ids is not None and self._prompt_token_ids is None:
            self._prompt_token_ids = ids
            if self._on_prompt_ids is not None:
                self._on_prompt_ids(ids)

    def _take_choice(self, chunk: JSONObject, choice: JSONObject, at_s: float) -> None:
        self._finish_reason = text_of(choice.get("finish_reason")) or self._finish_reason
        stop_reason = stop_reason_of(choice.get("stop_reason"))
        self._stop_reason = stop_reason if stop_reason is not None else self._stop_reason
        logprobs = chat_logprobs_of(choice.get("logprobs"))
        if logprobs is not None:
            self._logprobs = self._logprobs or []
            self._logprobs += logprobs
        delta, too_many = bound_calls(object_of(choice.get("delta")), f"event {self._event_count} of the stream")
        if too_many is not None:
            self._note(too_many)
        self._assembler.add(delta)
        ids = run_facts.output_ids(chunk, choice)
        item = StreamDelta(delta, ids, text_of(choice.get("finish_reason")), at_s)
        self._deltas.append(item)
        if self._on_delta is not None:
            self._on_delta(item)

    def _token_ids(self) -> tuple[int, ...] | None:
        """Return the output ids, if any event carried ids."""
        carried = [delta.token_ids for delta in self._deltas if delta.token_ids is not None]
        return tuple(token_id for ids in carried for token_id in ids) if carried else None

    def _note(self, problem: str) -> None:
        self._error = self._error or problem


def _whole_answer(body: str, elapsed_s: float) -> ChatResult | None:
    """Read an answer that is one JSON document though a stream was asked for; `None` if it is none."""
    try:
        answer = parse_json(body)
    except ValueError:
        return None
    result = read_chat(answer, body, elapsed_s)
    if result.error is not None:
        return result
    return replace(result, error="the server does not stream: it answered with one JSON document")
