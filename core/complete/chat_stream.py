"""A chat stream, event by event, into a `ChatResult`. Sans-I/O: `feed` and `finish`.

Whatever a stream does, what came is kept: an event that is not JSON, an error
event, an end without `[DONE]` become the result's `error`, the first of them.
A stream that has given its finish reason and lacks only `[DONE]` is complete.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from prompt_debugger.core.base.comparable import MESSAGE_IN_EVENTS, REPORTED
from prompt_debugger.core.base.errors import BackendError, shorten
from prompt_debugger.core.base.json_values import as_count, as_object, objects_in
from prompt_debugger.core.base.types import ChatResult, JSONObject, StreamDelta, TokenLogprob, Usage
from prompt_debugger.core.complete import run_facts
from prompt_debugger.core.complete.answers import (
    bound_message,
    chat_logprobs_of,
    finish_reason_of,
    problem_of_error,
    read_chat,
    stop_reason_of,
    usage_of,
)
from prompt_debugger.core.complete.assemble import MessageAssembler
from prompt_debugger.core.complete.backends.limits import (
    MAX_CALLS,
    MAX_CHOICES,
    MAX_EVENTS,
    MAX_STREAM_VALUES,
    MAX_VALUES,
)
from prompt_debugger.core.complete.backends.sse import SseEvent
from prompt_debugger.core.complete.growing_tokens import GrowingIds, GrowingLogprobs
from prompt_debugger.core.complete.json_answers import json_of_text
from prompt_debugger.core.complete.problem import Problem
from prompt_debugger.core.complete.reading import NOT_JSON, READING, read
from prompt_debugger.core.complete.shapes import parse_json
from prompt_debugger.core.sandbox import job
from prompt_debugger.core.sandbox.values import admit

OnDelta = Callable[[StreamDelta], None]
OnPromptIds = Callable[[tuple[int, ...]], None]

_DONE = "[DONE]"
_ERROR = "error"
_ERROR_CHARS = 1_000  # of its words
_END_ALONE = "the stream contains nothing but `[DONE]`"


class ChatStreamReader:
    """Reads one stream; of several choices the first counts, or the first there is."""

    def __init__(self, on_delta: OnDelta | None = None, on_prompt_ids: OnPromptIds | None = None) -> None:
        self._on_delta = on_delta
        self._on_prompt_ids = on_prompt_ids
        self._assembler = MessageAssembler()
        self._deltas: list[StreamDelta] = []
        self._logprobs = GrowingLogprobs()
        self._token_ids = GrowingIds()
        self._value_count = 0
        self._prompt_token_ids: tuple[int, ...] | None = None
        self._prompt_text: str | None = None
        self._finish_reason: str | None = None
        self._stop_reason: str | int | None = None
        self._usage: Usage | None = None
        self._problem: Problem | None = None
        self._event_count = 0
        self._is_of_completions = True
        self._has_messages_alone = True
        self._of_others: list[tuple[ChatChoice, float]] = []
        self.is_done = False

    async def read(self, event: SseEvent, at_s: float) -> None:
        """Take one event as `feed` does; a long one is read in the sandbox."""
        if not self._takes_end(event):
            number, is_complete = self._event_count, event.is_complete
            chunk = await read(len(event.data), read_chat_chunk, event.data, number, is_complete=is_complete)
            self._take(chunk, at_s)

    def feed(self, event: SseEvent, at_s: float) -> None:
        """Take one event that came `at_s` seconds after the request was sent."""
        if not self._takes_end(event):
            self._take(read_chat_chunk(event.data, self._event_count, is_complete=event.is_complete), at_s)

    @property
    def is_empty(self) -> bool:
        """Whether no event has come."""
        return self._event_count == 0

    async def end(self, body: str, elapsed_s: float, failure: Problem | None = None) -> ChatResult:
        """Return what came as `finish` does; a long document in place of events is read in the sandbox."""
        whole = None
        if self._event_count == 0 and failure is None:
            try:
                whole = await read(len(body), read_document, body)
            except BackendError as error:
                failure = Problem.of(error)
        return self._result(whole, body, elapsed_s, failure)

    def finish(self, body: str, elapsed_s: float, failure: Problem | None = None) -> ChatResult:
        """Return what came."""
        whole = read_document(body) if self._event_count == 0 and failure is None else None
        return self._result(whole, body, elapsed_s, failure)

    def _result(self, whole: ChatResult | None, body: str, elapsed_s: float, failure: Problem | None) -> ChatResult:
        if whole is not None:
            return replace(whole, body=body, elapsed_s=elapsed_s)
        self._take_others()
        if failure is not None:
            self._note(failure)
        elif (lack := self._find_lack(body)) is not None:
            self._note(Problem(lack))
        if self._assembler.has_unread_calls:
            words = f"the stream contains more than {MAX_CALLS:,} tool calls; the first {MAX_CALLS:,} are read"
            self._note(Problem(words, "too-much"))
        if self._assembler.has_unread_values:
            most = f"{MAX_VALUES:,} values"
            words = f"the streamed message contains more than {most}, so it was not read to the end"
            self._note(Problem(words, "too-much"))
        return ChatResult(
            message=self._assembler.message(),
            finish_reason=self._finish_reason,
            stop_reason=self._stop_reason,
            token_ids=self._token_ids.reported,
            prompt_token_ids=self._prompt_token_ids,
            prompt_text=self._prompt_text,
            usage=self._usage,
            logprobs=self._logprobs.reported,
            deltas=tuple(self._deltas),
            body=body,
            elapsed_s=elapsed_s,
            error=None if self._problem is None else self._problem.words,
            unread=None if self._problem is None else self._problem.unread,
        )

    def _find_lack(self, body: str) -> str | None:
        """Return what a stream that did not break off should contain and does not."""
        if self._event_count == 0:
            return f"the stream ended without any event; it contained {shorten(body)}"
        if not self._deltas and self._problem is None and self._usage is not None:
            return "the stream contained the server's token count but no delta"
        if not self._deltas:
            return "no event of the stream contains a choice" if self._event_count > self.is_done else _END_ALONE
        if self._is_of_completions:
            return "the events of the stream contain the text of raw completions and no delta"
        if self._has_messages_alone:
            return MESSAGE_IN_EVENTS
        if not self.is_done and self._finish_reason is None:
            return "the stream ended without a finish reason and without `[DONE]`"
        return None

    def _takes_end(self, event: SseEvent) -> bool:
        """Count an event, and return whether it is read with that: the one that ends the stream, an error in words."""
        self._event_count += 1
        if event.data.strip() == _DONE:
            self.is_done = True
            return True
        if not event.is_utf8:
            words = f"event {self._event_count} of the stream is not UTF-8; U+FFFD stands for what was unreadable"
            self._note(Problem(words))
        if event.event == _ERROR and event.data.strip() and not event.data.lstrip().startswith("{"):
            self._note(Problem(f"{REPORTED}{' '.join(event.data[:_ERROR_CHARS].split())}"))
            return True
        return False

    def _take(self, chunk: ChatChunk, at_s: float) -> None:
        if chunk.problem is not None:
            self._note(chunk.problem)
        self._prompt_text = chunk.prompt_text or self._prompt_text
        self._usage = chunk.usage or self._usage
        ids = chunk.prompt_token_ids
        if ids is not None and self._prompt_token_ids is None:
            self._prompt_token_ids = ids
            if self._on_prompt_ids is not None:
                self._on_prompt_ids(ids)
        for choice in chunk.choices:
            if choice.number == 0:
                self._take_choice(choice, at_s)
            elif not self._deltas and len(self._of_others) < MAX_EVENTS:
                self._of_others.append((choice, at_s))

    def _take_others(self) -> None:
        """Take another choice of a stream that never speaks of the first: a client reads the one that is there."""
        if self._of_others and not self._deltas:
            there = min(choice.number for choice, _ in self._of_others)
            for choice, at_s in self._of_others:
                if choice.number == there:
                    self._take_choice(choice, at_s)

    def _take_choice(self, choice: ChatChoice, at_s: float) -> None:
        self._finish_reason = choice.finish_reason or self._finish_reason
        self._stop_reason = choice.stop_reason if choice.stop_reason is not None else self._stop_reason
        self._logprobs.add(choice.logprobs)
        ids = self._token_ids.add(choice.token_ids)
        self._value_count += choice.value_count
        if self._value_count > MAX_STREAM_VALUES:
            most = f"{MAX_STREAM_VALUES:,} values"
            words = f"the events of the stream contain more than {most}, so they were not read to the end"
            self._note(Problem(words, "too-much"))
            return
        self._assembler.add(choice.delta)
        item = StreamDelta(choice.delta, ids, choice.finish_reason, at_s)
        self._deltas.append(item)
        self._is_of_completions = self._is_of_completions and choice.is_plain
        self._has_messages_alone = self._has_messages_alone and choice.is_message
        if self._on_delta is not None:
            self._on_delta(item)

    def _note(self, problem: Problem) -> None:
        self._problem = self._problem or problem


@job("reading the answer to a request for a stream", READING)
def read_document(text: str) -> ChatResult | None:
    """Read an answer that is one JSON document though a stream was asked for; `None` if it is not one."""
    try:
        answer = json_of_text(text)
    except BackendError as error:
        if error.kind != NOT_JSON:
            raise
        return None
    result = read_chat(answer, "", 0.0)
    if result.error is not None:
        return result
    return replace(result, error="the server does not stream: it answered with one JSON document")


@admit
class ChatChoice(NamedTuple):
    """What an event says of a choice.

    Attributes:
        delta: What is new.
        token_ids: The ids it was made of, where they are reported.
        finish_reason: Set at the end.
        stop_reason: Stop id or string, where it is reported.
        logprobs: One per token, where they are reported.
        value_count: How many values the delta is made of.
        number: Which choice it is.
        is_plain: Whether it has the text of a raw completion in place of a delta.
        is_message: Whether it has a message in place of a delta.
    """

    delta: JSONObject
    token_ids: tuple[int, ...] | None = None
    finish_reason: str | None = None
    stop_reason: str | int | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    value_count: int = 1
    number: int = 0
    is_plain: bool = False
    is_message: bool = False


@admit
class ChatChunk(NamedTuple):
    """What an event says.

    Attributes:
        choices: Of the first choice; usually one. Where it says nothing of that, what it says of another.
        prompt_token_ids: Ids of the prompt, where they are reported.
        prompt_text: Its text, where it is reported.
        usage: The server's accounting.
        problem: What is wrong with it.
    """

    choices: tuple[ChatChoice, ...] = ()
    prompt_token_ids: tuple[int, ...] | None = None
    prompt_text: str | None = None
    usage: Usage | None = None
    problem: Problem | None = None


@job("reading an event of the stream", READING)
def read_chat_chunk(data: str, number: int, *, is_complete: bool = True) -> ChatChunk:
    """Read one event, `number` from 1; `is_complete` is false if the end of the stream cut it off."""
    name = f"event {number} of the stream"
    try:
        chunk = parse_json(data)
    except ValueError:
        cut = "" if is_complete else ", which the end of the stream cut off,"
        return ChatChunk(problem=Problem(f"{name}{cut} is not JSON: {shorten(data)}"))
    if not isinstance(chunk, dict):
        return ChatChunk(problem=Problem(f"{name} is not an object: {shorten(chunk)}"))
    error = problem_of_error(chunk)
    problem = None if error is None else Problem(error)
    choices = objects_in(chunk.get("choices"))
    if len(choices) > MAX_CHOICES:
        words = f"{name} contains {len(choices):,} choices, of which {MAX_CHOICES:,} are read"
        problem = problem or Problem(words, "too-much")
    read, left = [], MAX_VALUES
    choices = choices[:MAX_CHOICES]
    for choice in [choice for choice in choices if not as_count(choice.get("index"))] or choices[:1]:
        delta, too_much, count = bound_message(as_object(choice.get("delta")), name, left)
        problem, left = problem or too_much, max(0, left - count)
        read.append(_choice_of(chunk, choice, delta, count))
    usage = usage_of(chunk.get("usage"))
    if "prompt" not in data:  # as in most; looking into all the places where it may be takes longer
        return ChatChunk(tuple(read), None, None, usage, problem)
    return ChatChunk(tuple(read), run_facts.prompt_ids(chunk), run_facts.prompt_text(chunk), usage, problem)


def _choice_of(chunk: JSONObject, choice: JSONObject, delta: JSONObject, count: int) -> ChatChoice:
    return ChatChoice(
        delta,
        run_facts.output_ids(chunk, choice),
        finish_reason_of(choice.get("finish_reason")),
        stop_reason_of(choice.get("stop_reason")),
        chat_logprobs_of(choice.get("logprobs")),
        count,
        as_count(choice.get("index")) or 0,
        isinstance(choice.get("text"), str) and not choice.keys() & {"delta", "message"},
        bool(choice.get("message")) and not choice.get("delta"),
    )
