"""`POST /v1/completions`: raw text or raw token ids, no template and no parser."""

from __future__ import annotations

import json

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import Completion, JSONObject
from prompt_debugger.core.complete.backends.events import EventReader
from prompt_debugger.core.complete.backends.http import HttpConnection
from prompt_debugger.core.complete.raw_completion import CompletionReader, OnText
from prompt_debugger.core.complete.reading import NOT_JSON

PATH = "/v1/completions"
_EXCERPT_CHARS = 2000
_REFUSED = frozenset({400, 422})


async def request_completion(connection: HttpConnection, body: JSONObject, on_text: OnText | None = None) -> Completion:
    """Send a raw completion; streamed if someone wants to watch.

    Args:
        connection: Where to.
        body: The request, its `prompt` in it.
        on_text: Called with all the text so far.

    Returns:
        The completion, its text as the server decoded it.

    Raises:
        BackendError: There is no answer, it is odd, or its stream broke off.
    """
    constraint = constraint_of(body)
    if on_text is None:
        answer = await connection.post(PATH, {**body, "stream": False})
        reader = CompletionReader()
        await connection.await_reading("POST", PATH, answer, reader.read_whole(answer.text))
        return reader.finish(answer.text, answer.elapsed_s, constraint)
    streamed: JSONObject = {**body, "stream": True}
    counted: JSONObject = {**streamed, "stream_options": {"include_usage": True}}
    try:
        return await _streamed(connection, counted, CompletionReader(on_text), constraint)
    except BackendError as error:
        if error.status not in _REFUSED or "stream_options" not in f"{error.message} {error.body}":
            raise
    return await _streamed(connection, streamed, CompletionReader(on_text), constraint)


def constraint_of(body: JSONObject) -> str | None:
    """Return the grammar that a request puts on the output, as JSON text; `None` if there is none."""
    for key in ("structured_outputs", "response_format"):
        value = as_object(body.get(key))
        if value and value.get("type") != "text":
            return json.dumps(value, ensure_ascii=False)
    return None


async def _streamed(
    connection: HttpConnection, body: JSONObject, reader: CompletionReader, constraint: str | None
) -> Completion:
    async with connection.stream("POST", PATH, body) as stream:
        events = EventReader(stream)
        try:
            await events.read(reader.read, lambda: reader.is_done)
            await events.finish(reader.read)
            if not reader.has_choice:  # a server that does not stream answers with one JSON document
                await _read_document(reader, events.text)
        except BackendError as error:
            error.body = error.body or events.text[:_EXCERPT_CHARS]
            raise
        return reader.finish(events.text, stream.elapsed_s, constraint)


async def _read_document(reader: CompletionReader, body: str) -> None:
    """Take a whole answer as text, if it is one."""
    try:
        await reader.read_whole(body)
    except BackendError as error:
        if error.kind != NOT_JSON:
            raise
