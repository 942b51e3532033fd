"""The rows of a dataset: one chat body per line, as K2VV's and MiniMax's verifiers read them. Memory stays flat.

    {"messages": […], "tools": […], "temperature": 0.6, …}                         K2VV
    {"messages": […], …, "check_type": ["tool_calls"], "expected_tool_call": true}  MiniMax: labels next to the body

Batch lines, cases and captured exchanges (`body` or `request` around the body) are read, too, and so are bodies for
OpenAI's Responses or Anthropic's Messages, which are kept unchanged next to their conversion. A row's number is that
of its line, from 1; empty lines are skipped.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, Api, JSONObject, Request
from prompt_debugger.core.request.other_bodies import convert_as, convert_body

LABELS = ("check_type", "expected_tool_call", "scenario_check")
# What bounds an answer's tokens.
_LIMITS = {Api.RESPONSES: "max_output_tokens", Api.GEMINI: "maxOutputTokens"}
_OUTSIDE = ("model", "stream")  # of Gemini's `generationConfig`


@dataclass(frozen=True, slots=True)
class Row:
    """One request of a dataset.

    Attributes:
        index: Number of its line, from 1.
        body: As prepared, without what `extra_body` adds, as a chat completion body; empty if the line contains none.
        hash: K2VV's: MD5 of the prepared body.
        labels: MiniMax's fields, which are not sent.
        problem: Why it cannot be asked; "" if it can.
        api: The API that the line is a body of.
        native: That body, prepared, where it is not of chat completions.
    """

    index: int
    body: JSONObject
    hash: str
    labels: JSONObject
    problem: str = ""
    api: Api = Api.CHAT
    native: JSONObject | None = None

    def request(self, extra_body: Mapping[str, JSON]) -> Request:
        """Return what is asked, with further fields."""
        if self.native is None:
            body: JSONObject = {**self.body, **extra_body}
            return Request(body, json.dumps(body))
        native: JSONObject = {**self.native, **extra_body}
        converted = convert_as(self.api, native)
        if converted is None:
            return Request(native, json.dumps(native))
        return Request(converted.body, json.dumps(native), "json", None, converted.notices, self.api, native)


@dataclass(frozen=True, slots=True)
class Preparation:
    """What is changed in every body before it is sent.

    Attributes:
        model: Model to send; `None` keeps the row's own.
        served_models: Names that the server lists; a row that names none of them gets the first, unless `model` is set.
        temperature: In place of the row's.
        max_tokens: Likewise.
        extra_body: Further fields of every request; no part of the hash.
        is_streamed: Whether every request asks for a stream; else as the row says.
    """

    model: str | None = None
    served_models: tuple[str, ...] = ()
    temperature: float | None = None
    max_tokens: int | None = None
    extra_body: Mapping[str, JSON] = field(default_factory=dict)
    is_streamed: bool = False

    def prepare(self, body: JSONObject, api: Api = Api.CHAT) -> JSONObject:
        """Return a body as K2VV prepares it: `_input` becomes a system message, and a stream reports its usage."""
        changes = self._changes(body)
        if api is not Api.CHAT:
            return _changed(body, api, changes)
        prepared = {**body, **changes}
        messages = prepared.get("messages")
        if isinstance(messages, list):
            prepared["messages"] = [_map_role(message) for message in messages]
        if prepared.get("stream"):
            prepared["stream_options"] = {"include_usage": True}
        return prepared

    def _changes(self, body: JSONObject) -> JSONObject:
        changes: JSONObject = {"model": self._model_for(body.get("model"))}
        if self.temperature is not None:
            changes["temperature"] = self.temperature
        if self.max_tokens is not None:
            changes["max_tokens"] = self.max_tokens
        if self.is_streamed:
            changes["stream"] = True
        return {key: value for key, value in changes.items() if value is not None}

    def _model_for(self, own: JSON) -> JSON:
        if self.model is not None:
            return self.model
        if isinstance(own, str) and (own in self.served_models or not self.served_models):
            return own
        return self.served_models[0] if self.served_models else None


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of a dataset: the rows whose number, counted from 0, leaves `number - 1` when divided by `count`.

    Attributes:
        number: Which part, from 1.
        count: Number of parts.
    """

    number: int = 1
    count: int = 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def has(self, index: int) -> bool:
        """Whether a row belongs to it."""
        return (index - 1) % self.count == self.number - 1


def read_shard(text: str) -> Shard:
    """Read `i/n`.

    >>> read_shard("2/4")
    Shard(number=2, count=4)

    Raises:
        RequestError: The text is not of this form.
    """
    number, slash, count = text.partition("/")
    if slash and number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count):
        return Shard(int(number), int(count))
    raise RequestError(f"{text!r} is not a shard.", "Write it as 1/4 for the first of four.", field="--shard")


def read_rows(path: Path, preparation: Preparation, *, shard: Shard, limit: int | None = None) -> Iterator[Row]:
    """Yield the rows of a dataset, line by line.

    Raises:
        RequestError: The file cannot be read.
    """
    for index, line in _lines(path, shard, limit):
        yield _read_row(index, line, preparation)


def count_rows(path: Path, *, shard: Shard, limit: int | None = None) -> int:
    """Return how many rows `read_rows` yields, without reading what is in them.

    Raises:
        RequestError: The file cannot be read.
    """
    return sum(1 for _ in _lines(path, shard, limit))


def _lines(path: Path, shard: Shard, limit: int | None) -> Iterator[tuple[int, bytes]]:
    seen = 0
    try:
        with path.open("rb") as file:
            for index, line in enumerate(file, 1):
                if not line.strip():
                    continue
                seen += 1
                if limit is not None and seen > limit:
                    return
                if shard.has(index):
                    yield index, line
    except OSError as error:
        raise RequestError(f"Cannot read {str(path)!r}: {error.strerror or error}", field="DATASET") from None


def hash_of(body: JSONObject) -> str:
    """Return K2VV's hash of a prepared body."""
    text = json.dumps(body, sort_keys=True, ensure_ascii=False)
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def _read_row(index: int, line: bytes, preparation: Preparation) -> Row:
    try:
        value: JSON = json.loads(line.decode("utf-8-sig"))
        body = _body_of(value)
        labels = {name: body.pop(name) for name in LABELS if name in body}
        converted = convert_body(body)
        if converted is None or converted.api is Api.CHAT:
            prepared = preparation.prepare(body if converted is None else converted.body)
            return Row(index, prepared, hash_of(prepared), labels)
        native = preparation.prepare(body, converted.api)
        row = Row(index, {}, hash_of(native), labels, "", converted.api, native)
        return replace(row, body=row.request({}).body)
    except (ValueError, RecursionError) as error:
        return Row(index, {}, hashlib.md5(line, usedforsecurity=False).hexdigest(), {}, f"line {index}: {error}")


def _body_of(value: JSON) -> JSONObject:
    if not isinstance(value, dict):
        raise ValueError(f"A request is a JSON object, not {type(value).__name__}.")
    if not _is_body(value):
        inner = next((value[key] for key in ("body", "request") if isinstance(value.get(key), dict)), None)
        if not isinstance(inner, dict) or not _is_body(inner):
            raise ValueError("The object has no `messages`.")
        return {**inner, **{name: value[name] for name in LABELS if name in value}}
    return dict(value)


def _changed(body: JSONObject, api: Api, changes: JSONObject) -> JSONObject:
    """Return a body of another API with the changes, in the names of its fields."""
    named = {_LIMITS.get(api, name) if name == "max_tokens" else name: value for name, value in changes.items()}
    if api is not Api.GEMINI:
        return {**body, **named}
    config = {name: value for name, value in named.items() if name not in _OUTSIDE}
    outside = {name: value for name, value in named.items() if name in _OUTSIDE}
    return {**body, **outside, "generationConfig": {**as_object(body.get("generationConfig")), **config}}


def _is_body(value: JSONObject) -> bool:
    return "messages" in value or convert_body(value) is not None


def _map_role(message: JSON) -> JSON:
    if isinstance(message, dict) and message.get("role") == "_input":
        return {**message, "role": "system"}
    return message
