"""Answers of `/v1/completions`, whole or streamed, into a `Completion`. Sans-I/O."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress

from prompt_debugger.core.complete import run_facts
from prompt_debugger.core.complete.answers import completion_logprobs_of, problem_of_error, stop_reason_of, usage_of
from prompt_debugger.core.complete.backends.limits import MAX_CHOICES
from prompt_debugger.core.complete.backends.sse import SseEvent
from prompt_debugger.core.complete.growing_text import GrowingText
from prompt_debugger.core.complete.shapes import integer_of, object_of, objects_of, parse_json, text_of
from prompt_debugger.core.errors import BackendError, shorten
from prompt_debugger.core.types import JSON, Completion, Evidence, JSONObject, TokenLogprob, Usage

OnText = Callable[[str], None]

_DONE = "[DONE]"
_BODY_CHARS = 2000


class CompletionReader:
    """Reads one raw completion; of several choices the first counts.

    A chunk of a stream and a whole answer have the same shape, so one method reads both.
    """

    def __init__(self, on_text: OnText | None = None) -> None:
        """Prepare; `on_text` is called with all the text so far, as often as is worth it."""
        self._text = GrowingText(on_text)
        self._token_ids: list[int] | None = None
        self._has_gap = False
        self._logprobs: list[TokenLogprob] | None = None
        self._finish_reason: str | None = None
        self._stop_reason: str | int | None = None
        self._usage: Usage | None = None
        self.has_choice = False
        self.is_done = False

    def feed(self, event: SseEvent) -> None:
        """Take one event of a stream.

        Raises:
            BackendError: It is no JSON object, or reports an error (kind `broken-stream`).
        """
        if event.data.strip() == _DONE:
            self.is_done = True
            return
        try:
            chunk = parse_json(event.data)
        except ValueError:
            raise BackendError(
                f"an event of the raw completion's stream is not JSON: {shorten(event.data)}", kind="broken-stream"
            ) from None
        self.take(chunk)

    def take(self, answer: JSON) -> None:
        """Take a whole answer, or one chunk.

        Raises:
            BackendError: It reports an error (kind `broken-stream`).
        """
        whole = object_of(answer)
        if (problem := problem_of_error(whole)) is not None:
            raise BackendError(
                f"raw completion: {problem}", kind="broken-stream", body=json.dumps(answer)[:_BODY_CHARS]
            )
        self._usage = usage_of(whole.get("usage")) or self._usage
        choices = objects_of(whole.get("choices"))
        if len(choices) > MAX_CHOICES:
            message = f"the raw completion's answer holds {len(choices):,} choices, more than {MAX_CHOICES:,}"
            raise BackendError(message, kind="odd-answer")
        for choice in choices:
            if integer_of(choice.get("index")) in (0, None):
                self._take_choice(whole, choice)

    def take_text(self, body: str) -> None:
        """Take a whole answer as text, if it is one.

        Raises:
            BackendError: It reports an error (kind `broken-stream`).
        """
        with suppress(ValueError):
            self.take(parse_json(body))
            self.is_done = True

    def finish(self, body: str, elapsed_s: float, constraint: str | None) -> Completion:
        """Return the completion.

        Raises:
            BackendError: There is none (kind `odd-answer`), or its stream ended early (kind `broken-stream`).
        """
        if not self.has_choice:
            message = f"the raw completion's answer holds no choice: {shorten(body)}"
            raise BackendError(message, kind="odd-answer", body=body[:_BODY_CHARS])
        if self._finish_reason is None and not self.is_done:
            message = "the raw completion's stream ended without a finish reason and without `[DONE]`"
            raise BackendError(message, kind="broken-stream", body=body[:_BODY_CHARS])
        has_ids = self._token_ids is not None and not self._has_gap
        return Completion(
            text=self._text.text,
            token_ids=tuple(self._token_ids or ()) if has_ids else None,
            finish_reason=self._finish_reason,
            stop_reason=self._stop_reason,
            evidence=Evidence.OWN_RENDER if has_ids else Evidence.TEXT_ONLY,
            usage=self._usage,
            logprobs=None if self._logprobs is None else tuple(self._logprobs),
            constraint=constraint,
            body=body,
            elapsed_s=elapsed_s,
        )

    def _take_choice(self, answer: JSONObject, choice: JSONObject) -> None:
        self.has_choice = True
        self._finish_reason = text_of(choice.get("finish_reason")) or self._finish_reason
        stop_reason = stop_reason_of(choice.get("stop_reason"))
        self._stop_reason = stop_reason if stop_reason is not None else self._stop_reason
        ids = run_facts.output_ids(answer, choice)
        text = text_of(choice.get("text")) or ""
        if ids is not None:
            self._token_ids = self._token_ids or []
            self._token_ids += ids
        elif text:
            self._has_gap = True  # text without its ids: the ids of the rest would not be all
        logprobs = completion_logprobs_of(choice.get("logprobs"))
        if logprobs is not None:
            self._logprobs = self._logprobs or []
            self._logprobs += logprobs
        if text:
            self._text.add(text)
