"""The texts of a run that are there in pieces only, put together: a secret may be cut anywhere.

Events of a stream, its lines as received, and logprobs hold a few characters
each. Nothing here is shown; `mask` looks for secrets in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.types import ChatResult, Completion, TokenLogprob, Trace

Path = tuple[str | int, ...]


def joined_texts(trace: Trace) -> Iterator[str]:
    """Yield every text that events, lines and logprobs of a run hold in pieces."""
    for chat in (trace.chat, trace.chat_stream, trace.chat_whole):
        if chat is not None:
            yield from _joined(delta.delta for delta in chat.deltas)
    for answer in answers_of(trace):
        yield from _joined(events_of(answer.body))
        for name in logprob_fields(answer):
            items = getattr(answer, name) or ()
            yield "".join(item.text for item in items if isinstance(item, TokenLogprob))


def logprob_fields(answer: ChatResult | Completion) -> tuple[str, ...]:
    """Return the names of the fields that contain a text token by token, with logprobs."""
    return tuple(field.name for field in fields(answer) if field.name.endswith("logprobs"))


def answers_of(trace: Trace) -> tuple[ChatResult | Completion, ...]:
    """Return everything that a server answered in a run."""
    found = (trace.raw, trace.raw_again, trace.chat, trace.chat_stream, trace.chat_whole)
    return tuple(answer for answer in found if answer is not None)


def events_of(body: str) -> tuple[object, ...]:
    """Return the JSON values of a body as received: of each of its lines, or of the whole."""
    return tuple(value for line in (body, *body.splitlines()) if (value := _decoded(line)) is not None)


def _decoded(line: str) -> object:
    text = line.removeprefix("data:").strip()
    if not text.startswith(("{", "[")):
        return None
    return decode_json(text)


def _joined(values: Iterable[object]) -> Iterator[str]:
    pieces: dict[Path, list[str]] = {}
    for value in values:
        for path, text in _leaves(value, ()):
            pieces.setdefault(path, []).append(text)
    return ("".join(texts) for texts in pieces.values())


def _leaves(value: object, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the strings in a JSON value with their paths; an item that names its `index` is there."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, (*path, str(key)))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            index = item.get("index") if isinstance(item, Mapping) else None
            yield from _leaves(item, (*path, index if isinstance(index, int) else position))
