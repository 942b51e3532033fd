"""What a server's other APIs answer over the wire, read as a `ChatResult`; a long answer is read in the sandbox.

Nothing raises for an odd answer: it is data, with its `error` set, like that of a chat completion.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from prompt_debugger.core.base.errors import shorten
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import Api, ChatResult, JSONObject
from prompt_debugger.core.complete.answers import problem_of_error
from prompt_debugger.core.complete.backends.limits import MAX_VALUES
from prompt_debugger.core.complete.backends.sse import SseEvent, SseParser
from prompt_debugger.core.complete.dialects import DIALECTS, Answer, Dialect
from prompt_debugger.core.complete.dialects.base import COPIED
from prompt_debugger.core.complete.json_answers import json_of_text
from prompt_debugger.core.complete.reading import READING
from prompt_debugger.core.complete.shapes import count_values, parse_object
from prompt_debugger.core.sandbox import job
from prompt_debugger.core.sandbox.values import admit

_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed", "message_stop"})


@admit
@dataclass(frozen=True, slots=True)
class Received:
    """An answer of another API.

    Attributes:
        result: It, as a chat completion would have said it.
        notes: What has no place there and was left out, a sentence each.
    """

    result: ChatResult
    notes: tuple[str, ...] = ()


def dialect_asked_as(api: Api) -> Dialect:
    """Return the dialect by which a server is asked for an API other than chat completions."""
    return next(dialect for dialect in DIALECTS.values() if dialect.asked_as is api)


@job("reading the answer", READING)
def read_whole(text: str, api: Api) -> Received:
    """Read an answer that was not streamed; its time is left out.

    Raises:
        BackendError: It is not JSON (kind `not-json`).
    """
    value, dialect = json_of_text(text), dialect_asked_as(api)
    answer = as_object(value)
    if dialect.is_answer(answer) and count_values(answer, MAX_VALUES) <= MAX_VALUES:
        return _received(dialect.read_answer(answer), text)
    wrong = problem_of_error(answer) or f"the answer is not one of {dialect.api}: {shorten(value)}"
    return Received(ChatResult({}, None, body=text, error=wrong))


@job("reading the stream", READING)
def read_streamed(text: str, api: Api) -> Received:
    """Read a stream, as far as it came; its time is left out."""
    objects = objects_of_stream(text)
    if not objects:
        return Received(ChatResult({}, None, body=text, error=f"the stream contained no event, only {shorten(text)}"))
    return _received(dialect_asked_as(api).read_events(objects, text), text)


def objects_of_stream(text: str) -> list[JSONObject]:
    """Return the objects of a stream's events, in their order."""
    parser = SseParser()
    events = (*parser.feed(text.encode("utf-8", "replace")), *parser.finish())
    return [value for event in events if (value := object_of(event))]


def object_of(event: SseEvent) -> JSONObject:
    """Return the object in an event; an empty one if there is none."""
    return parse_object(event.data) if event.data.lstrip().startswith("{") else {}


def is_last(event: JSONObject) -> bool:
    """Return whether an event is the last one of a stream."""
    return event.get("type") in _ENDS


def _received(answer: Answer, text: str) -> Received:
    chat = answer.chat or ChatResult({}, None, error="the answer contains no message")
    reported = replace(
        chat, token_ids=answer.token_ids, prompt_token_ids=answer.prompt_ids, prompt_text=answer.prompt, body=text
    )
    return Received(reported, tuple(_losses(answer.notes, has_failed=chat.error is not None)))


def _losses(notes: Iterable[str], *, has_failed: bool) -> Iterable[str]:
    """Return the notes on an answer that was received, not copied; one that failed says so itself."""
    for note in notes:
        if note.startswith(COPIED):
            if not has_failed:
                yield note.replace(COPIED, "The stream came", 1)
        elif not note.startswith("The message was assembled"):
            yield note
