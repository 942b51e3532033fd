"""Answers of `/v1/completions`, whole or streamed, into a `Completion`. Sans-I/O."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from prompt_debugger.core.base.errors import BackendError, shorten
from prompt_debugger.core.base.json_values import as_count, as_object, as_text, objects_in
from prompt_debugger.core.base.types import JSON, Basis, Completion, JSONObject, TokenLogprob, Usage
from prompt_debugger.core.complete import run_facts
from prompt_debugger.core.complete.answers import completion_logprobs_of, problem_of_error, stop_reason_of, usage_of
from prompt_debugger.core.complete.backends.limits import MAX_CHOICES
from prompt_debugger.core.complete.backends.sse import SseEvent
from prompt_debugger.core.complete.growing_text import GrowingText
from prompt_debugger.core.complete.growing_tokens import GrowingIds, GrowingLogprobs
from prompt_debugger.core.complete.json_answers import json_of_text
from prompt_debugger.core.complete.reading import NOT_JSON, READING, read
from prompt_debugger.core.sandbox import job
from prompt_debugger.core.sandbox.values import admit

OnText = Callable[[str], None]

_DONE = "[DONE]"
_BODY_CHARS = 2000


@admit
class RawChoice(NamedTuple):
    """What an answer, or one event of a stream, says of the first choice; as `ChatChoice`."""

    text: str
    token_ids: tuple[int, ...] | None = None
    finish_reason: str | None = None
    stop_reason: str | int | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None


@admit
class RawChunk(NamedTuple):
    """What an answer, or one event of a stream, says."""

    choices: tuple[RawChoice, ...] = ()
    usage: Usage | None = None


@job("reading the raw completion's answer", READING)
def read_raw_answer(text: str) -> RawChunk:
    """Read a whole answer.

    Raises:
        BackendError: It reports an error (kind `broken-stream`), or is not JSON (kind `not-json`).
    """
    return _chunk_of(json_of_text(text))


@job("reading an event of the raw completion's stream", READING)
def read_raw_event(data: str) -> RawChunk:
    """Read an event of a stream.

    Raises:
        BackendError: It is not JSON, or reports an error (kind `broken-stream`).
    """
    try:
        return _chunk_of(json_of_text(data))
    except BackendError as error:
        if error.kind != NOT_JSON:
            raise
        message = f"an event of the raw completion's stream is not JSON: {shorten(data)}"
        raise BackendError(message, kind="broken-stream") from None


class CompletionReader:
    """Reads one raw completion; of several choices the first counts.

    A chunk of a stream and a whole answer have the same shape, so one method reads both.
    """

    def __init__(self, on_text: OnText | None = None) -> None:
        """Prepare; `on_text` is called with all the text so far, as often as is worth it."""
        self._text = GrowingText(on_text)
        self._token_ids = GrowingIds()
        self._has_gap = False
        self._logprobs = GrowingLogprobs()
        self._finish_reason: str | None = None
        self._stop_reason: str | int | None = None
        self._usage: Usage | None = None
        self.has_choice = False
        self.is_done = False

    async def read(self, event: SseEvent) -> None:
        """Take one event of a stream as `feed` does; a long one is read in the sandbox."""
        if not self._takes_end(event):
            self._take(await read(len(event.data), read_raw_event, event.data))

    def feed(self, event: SseEvent) -> None:
        """Take one event of a stream.

        Raises:
            BackendError: It is not JSON, or reports an error (kind `broken-stream`).
        """
        if not self._takes_end(event):
            self._take(read_raw_event(event.data))

    async def read_whole(self, body: str) -> None:
        """Take a whole answer; a long one is read in the sandbox.

        Raises:
            BackendError: It reports an error (kind `broken-stream`), or is not JSON (kind `not-json`).
        """
        self._take(await read(len(body), read_raw_answer, body))
        self.is_done = True  # a whole answer needs no `[DONE]`

    def take(self, answer: JSON) -> None:
        """Take a whole answer, or one chunk.

        Raises:
            BackendError: It reports an error (kind `broken-stream`).
        """
        self._take(_chunk_of(answer))

    def finish(self, body: str, elapsed_s: float, constraint: str | None) -> Completion:
        """Return the completion.

        Raises:
            BackendError: There is none (kind `odd-answer`), or its stream ended early (kind `broken-stream`).
        """
        if not self.has_choice:
            message = f"the raw completion's answer contains no choice: {shorten(body)}"
            raise BackendError(message, kind="odd-answer", body=body[:_BODY_CHARS])
        if self._finish_reason is None and not self.is_done:
            message = "the raw completion's stream ended without a finish reason and without `[DONE]`"
            raise BackendError(message, kind="broken-stream", body=body[:_BODY_CHARS])
        token_ids = None if self._has_gap else self._token_ids.reported
        return Completion(
            text=self._text.text,
            token_ids=token_ids,
            finish_reason=self._finish_reason,
            stop_reason=self._stop_reason,
            evidence=Basis.TEXT_ONLY if token_ids is None else Basis.OWN_RENDER,
            usage=self._usage,
            logprobs=self._logprobs.reported,
            constraint=constraint,
            body=body,
            elapsed_s=elapsed_s,
        )

    def _takes_end(self, event: SseEvent) -> bool:
        """Return whether an event is the one that ends the stream."""
        is_end = event.data.strip() == _DONE
        self.is_done = self.is_done or is_end
        return is_end

    def _take(self, chunk: RawChunk) -> None:
        self._usage = chunk.usage or self._usage
        for choice in chunk.choices:
            self.has_choice = True
            self._finish_reason = choice.finish_reason or self._finish_reason
            self._stop_reason = choice.stop_reason if choice.stop_reason is not None else self._stop_reason
            if choice.token_ids is not None:
                self._token_ids.add(choice.token_ids)
            elif choice.text:
                self._has_gap = True  # text without its ids: the ids of the rest would not be all
            self._logprobs.add(choice.logprobs)
            if choice.text:
                self._text.add(choice.text)


def _chunk_of(answer: JSON) -> RawChunk:
    """Narrow a whole answer, or one chunk of a stream.

    Raises:
        BackendError: It reports an error (kind `broken-stream`), or holds too many choices (kind `odd-answer`).
    """
    whole = as_object(answer)
    if (problem := problem_of_error(whole)) is not None:
        message = f"raw completion: {problem}"
        raise BackendError(message, kind="broken-stream", body=json.dumps(answer)[:_BODY_CHARS])
    choices = objects_in(whole.get("choices"))
    if len(choices) > MAX_CHOICES:
        message = f"the raw completion's answer contains {len(choices):,} choices, more than {MAX_CHOICES:,}"
        raise BackendError(message, kind="odd-answer")
    first = [choice for choice in choices if as_count(choice.get("index")) in (0, None)]
    return RawChunk(tuple(_choice_of(whole, choice) for choice in first), usage_of(whole.get("usage")))


def _choice_of(answer: JSONObject, choice: JSONObject) -> RawChoice:
    return RawChoice(
        as_text(choice.get("text")) or "",
        run_facts.output_ids(answer, choice),
        as_text(choice.get("finish_reason")),
        stop_reason_of(choice.get("stop_reason")),
        completion_logprobs_of(choice.get("logprobs")),
    )
