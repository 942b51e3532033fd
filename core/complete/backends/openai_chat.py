"""`POST /v1/chat/completions`, whole and streamed."""

from __future__ import annotations

from dataclasses import replace

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import ChatResult, JSONObject
from prompt_debugger.core.complete.answers import read_chat_text
from prompt_debugger.core.complete.backends.error_words import is_page
from prompt_debugger.core.complete.backends.events import EventReader
from prompt_debugger.core.complete.backends.failures import failure_of_format
from prompt_debugger.core.complete.backends.http import HttpConnection
from prompt_debugger.core.complete.backends.sse import SseEvent
from prompt_debugger.core.complete.chat_stream import ChatStreamReader, OnDelta, OnPromptIds
from prompt_debugger.core.complete.problem import Problem
from prompt_debugger.core.complete.reading import read

PATH = "/v1/chat/completions"


async def request_chat(connection: HttpConnection, body: JSONObject) -> ChatResult:
    """Send a chat completion and return the whole answer.

    Args:
        connection: Where to.
        body: The request; without `stream`, and of one that asks for a stream without its options.

    Returns:
        What came; an odd answer has its `error` set.

    Raises:
        BackendError: There is no answer, none with a good status, or none in JSON.
    """
    left_out = ("stream", "stream_options") if body.get("stream") is True else ("stream",)
    sent: JSONObject = {key: value for key, value in body.items() if key not in left_out}
    answer = await connection.post(PATH, sent)
    reading = read(len(answer.text), read_chat_text, answer.text)
    result = await connection.await_reading("POST", PATH, answer, reading)
    result = replace(result, body=answer.text, elapsed_s=answer.elapsed_s)
    if not answer.is_utf8 and result.error is None:
        return replace(result, error="the answer is not UTF-8; U+FFFD stands for what was unreadable")
    return result


async def request_chat_stream(
    connection: HttpConnection,
    body: JSONObject,
    on_delta: OnDelta | None = None,
    on_prompt_ids: OnPromptIds | None = None,
) -> ChatResult:
    """Send a chat completion and put its stream together.

    Args:
        connection: Where to.
        body: The request; `stream` is set.
        on_delta: Called with each event of the first choice.
        on_prompt_ids: Called once when the server reports the prompt ids.

    Returns:
        What came; a stream that broke off has its `error` set.

    Raises:
        BackendError: There is no answer, or none with a good status, or a web page.
    """
    reader = ChatStreamReader(on_delta, on_prompt_ids)
    failure: BackendError | None = None
    async with connection.stream("POST", PATH, {**body, "stream": True}) as stream:

        async def feed(event: SseEvent) -> None:
            await reader.read(event, stream.elapsed_s)

        events = EventReader(stream)
        try:
            await events.read(feed, lambda: reader.is_done)
        except BackendError as error:
            failure = error
        if failure is not None and failure.status is not None and reader.is_empty:
            raise failure  # it is packed in a way that is not read: nothing of the answer is known
        if failure is None or failure.kind != "too-large":  # an event that we cut short is not the server's fault
            await events.finish(feed)
        if failure is None and reader.is_empty and is_page(stream.headers.get("content-type", ""), events.text):
            content_type = stream.headers.get("content-type", "")
            raise failure_of_format(stream.call, stream.status, content_type, events.text, "no event")
        return await reader.end(events.text, stream.elapsed_s, None if failure is None else Problem.of(failure))
