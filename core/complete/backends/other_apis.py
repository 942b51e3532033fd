"""Responses, Messages and generateContent, whole and streamed, read as a chat completion would have said it."""

from __future__ import annotations

from dataclasses import replace

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import Api, JSONObject
from prompt_debugger.core.base.wire import wire_of
from prompt_debugger.core.complete.backends.error_words import is_page
from prompt_debugger.core.complete.backends.events import EventReader
from prompt_debugger.core.complete.backends.failures import failure_of_format
from prompt_debugger.core.complete.backends.http import HttpConnection
from prompt_debugger.core.complete.backends.sse import SseEvent
from prompt_debugger.core.complete.chat_stream import OnDelta
from prompt_debugger.core.complete.dialects._received import (
    Received,
    dialect_asked_as,
    is_last,
    object_of,
    read_streamed,
    read_whole,
)
from prompt_debugger.core.complete.problem import Problem
from prompt_debugger.core.complete.reading import IN_PLACE_CHARS, read

_STREAMED_UNASKED = "The server streamed its answer although no stream was asked for; it was read as a stream."


async def request_whole(connection: HttpConnection, api: Api, body: JSONObject) -> Received:
    """Send a request and return the whole answer.

    Args:
        connection: Where to.
        api: Which API.
        body: A body of it; `stream` is left out.

    Raises:
        BackendError: There is no answer, none with a good status, or none in JSON.
    """
    wire = wire_of(api, body, is_streamed=False)
    answer = await connection.post(wire.path, wire.body)
    is_streamed = answer.headers.get("content-type", "").startswith("text/event-stream")
    reading = read(len(answer.text), read_streamed if is_streamed else read_whole, answer.text, api)
    received = await connection.await_reading("POST", wire.path, answer, reading)
    notes = (*received.notes, _STREAMED_UNASKED) if is_streamed else received.notes
    return Received(replace(received.result, elapsed_s=answer.elapsed_s), notes)


async def request_streamed(
    connection: HttpConnection, api: Api, body: JSONObject, on_delta: OnDelta | None = None
) -> Received:
    """Send a request and put its stream together, as far as it came.

    Args:
        connection: Where to.
        api: Which API.
        body: A body of it; `stream` is set.
        on_delta: Called with what each event adds to the message.

    Raises:
        BackendError: There is no answer, or none with a good status, or a web page.
    """
    failure: BackendError | None = None
    reporter = _DeltaReporter(api, on_delta)
    async with connection.stream("POST", *wire_of(api, body, is_streamed=True)) as stream:
        events = EventReader(stream)
        try:
            await events.read(reporter.take, lambda: reporter.is_done)
        except BackendError as error:
            failure = error
        text, content_type = events.text, stream.headers.get("content-type", "")
        if failure is not None and failure.status is not None and not text:
            raise failure  # it is packed in a way that is not read: nothing of the answer is known
        if failure is None and is_page(content_type, text):
            raise failure_of_format(stream.call, stream.status, content_type, text, "no event")
        received = await read(len(text), read_streamed, text, api)
        result = replace(received.result, elapsed_s=stream.elapsed_s)
    if failure is not None:
        problem = Problem.of(failure)
        result = replace(result, error=problem.words, unread=problem.unread)
    return replace(received, result=result)


class _DeltaReporter:
    """Reports what each event of a stream adds to the message, and recognises the last event."""

    def __init__(self, api: Api, on_delta: OnDelta | None) -> None:
        self._dialect = dialect_asked_as(api)
        self._on_delta = on_delta
        self.is_done = False

    async def take(self, event: SseEvent) -> None:
        if len(event.data) > IN_PLACE_CHARS:
            return
        value = object_of(event)
        self.is_done = self.is_done or is_last(value)
        if self._on_delta is None or not value or is_last(value):
            return
        reported = self._dialect.read_events([value], "").stream
        for delta in () if reported is None else reported.deltas:
            self._on_delta(delta)
