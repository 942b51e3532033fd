"""A finished exchange → the line that is written, without keys.

    {"schema_version", "id", "captured": {…}, "request": body, "response": answer}

`response` is there only if the answer came whole; one that broke off is under `partial`, so that no one takes
it for an answer. A body that is not a JSON object becomes an excerpt, not a `request`. Runs in the sandbox: neither
side is trusted, and looking for keys takes time.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from prompt_debugger.core.base.json_values import as_object, objects_in
from prompt_debugger.core.base.packed import GZIP, Unpacked, unpack_beginning
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete.backends.sse import SseParser
from prompt_debugger.core.complete.shapes import parse_json
from prompt_debugger.core.report import redact_json, redact_text
from prompt_debugger.core.report.redact import MARK, redact_body
from prompt_debugger.core.report.wire import write_line
from prompt_debugger.core.sandbox import Limits, job
from prompt_debugger.core.sandbox.values import admit
from prompt_debugger.core.tools.capture.assembly import NO_END, assemble
from prompt_debugger.core.tools.capture.exchange import Api, Exchange
from prompt_debugger.core.tools.capture.limits import MAX_ANSWER_BYTES, MAX_EVENT_CHARS, MAX_EVENTS, MAX_EXCERPT_CHARS

SCHEMA_VERSION = 1

_DONE = "[DONE]"


@admit
@dataclass(frozen=True, slots=True)
class Raw:
    """What was kept of an exchange, as it came.

    Attributes:
        facts: What is recorded of it in addition, under `captured`.
        api: Name of the API.
        sent: The request's body.
        is_sent_whole: Whether that is all of it.
        sent_packing: What it is packed in; "" for nothing.
        answered: The answer's body.
        is_answered_whole: Whether that is all of it.
        content_type: Of the answer.
        packing: What the answer is packed in; "" for nothing.
        marks: When pieces came: the size before each, and seconds.
        secrets: What must not be written.
    """

    facts: JSONObject
    number: int
    api: str
    sent: bytes
    is_sent_whole: bool
    sent_packing: str
    answered: bytes
    is_answered_whole: bool
    content_type: str
    packing: str
    marks: tuple[tuple[int, float], ...]
    secrets: tuple[str, ...]


@admit
@dataclass(frozen=True, slots=True)
class Line:
    """What is written of an exchange: one line of JSON, and its tool calls; `None` if there is no whole answer."""

    text: str
    n_calls: int | None


@dataclass(frozen=True, slots=True)
class _Body:
    """A body as far as it could be read: a JSON object, or an excerpt and why it is not a JSON object."""

    value: JSONObject | None = None
    excerpt: str = ""
    problem: str = ""
    partial: JSONObject | None = None
    events: tuple[tuple[float, str], ...] | None = None


def raw_of(exchange: Exchange, upstream: str) -> Raw:
    """Return what was kept of an exchange that is over."""
    facts: JSONObject = {
        "at": exchange.began.isoformat(timespec="milliseconds"),
        "method": exchange.method,
        "path": exchange.path,
        "upstream": upstream,
        "client": exchange.client or None,
        "status": exchange.status,
        "first_s": _rounded(exchange.first_s),
        "duration_s": _rounded(exchange.ended_s),
        "sent_bytes": exchange.sent.size,
        "answered_bytes": exchange.answered.size,
        "error": exchange.error or None,
    }
    return Raw(
        facts=facts,
        number=exchange.number,
        api=str(exchange.api),
        sent=exchange.sent.data,
        is_sent_whole=exchange.sent.is_whole,
        sent_packing=exchange.sent_packing,
        answered=exchange.answered.data,
        is_answered_whole=exchange.answered.is_whole,
        content_type=exchange.content_type,
        packing=exchange.packing,
        marks=tuple(exchange.marks),
        secrets=exchange.secrets,
    )


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 4)


@job("reading a captured exchange", Limits(cpu_s=30.0, wall_s=120.0, memory_mb=2048))
def write_exchange(raw: Raw) -> Line:
    """Return the line of an exchange, keys taken out; never raises on what the two sides sent."""
    try:
        return _written(raw)
    except RecursionError:
        return line_without_bodies(raw, "the request or the answer is nested too deeply to be searched for keys")


def _written(raw: Raw) -> Line:
    sent, answer = _sent_of(raw), _answer_of(raw)
    cover = _Cover(raw.secrets)
    request = None if sent.value is None else cover.body(sent.value)
    response, partial = cover.json(answer.value), cover.json(answer.partial)
    facts: JSONObject = {
        **raw.facts,
        "path": cover.text(str(raw.facts["path"])),
        "client": None if raw.facts["client"] is None else cover.text(str(raw.facts["client"])),
        "streamed": answer.events is not None,
        "problems": [cover.text(problem) for problem in dict.fromkeys((sent.problem, answer.problem)) if problem],
        **({"sent_excerpt": cover.excerpt(sent.excerpt)} if sent.excerpt else {}),
        **({"answer_excerpt": cover.excerpt(answer.excerpt)} if answer.excerpt else {}),
    }
    events = _events_that_may_stay(answer, has_key=cover.has_covered)
    if events is not None:
        facts["events"] = [[at_s, cover.text(data)] for at_s, data in events]
    facts["keys_removed"] = cover.has_covered
    document: JSONObject = {"schema_version": SCHEMA_VERSION, "id": raw.number, "captured": cover.known(facts)}
    for name, value in (("request", request), ("response", response), ("partial", partial)):
        if value is not None:
            document[name] = value
    return Line(write_line(document), None if answer.value is None else count_calls(raw.api, answer.value))


def line_without_bodies(raw: Raw, reason: str) -> Line:
    """Return the line of an exchange whose bodies cannot be read: that it was, and why no more is known."""
    facts: JSONObject = {**raw.facts, "problems": [reason]}
    return Line(write_line({"schema_version": SCHEMA_VERSION, "id": raw.number, "captured": facts}), None)


def count_calls(api: str, answer: JSONObject) -> int | None:
    """Return how many tool calls an answer holds; `None` for a raw output, in which they are text.

    >>> count_calls("chat-completions", {"choices": [{"message": {"tool_calls": [{}, {}]}}]})
    2
    """
    if api == Api.COMPLETIONS:
        return None
    if api == Api.RESPONSES:
        return sum(item.get("type") == "function_call" for item in objects_in(answer.get("output")))
    if api == Api.MESSAGES:
        return sum(item.get("type") == "tool_use" for item in objects_in(answer.get("content")))
    if api == Api.GEMINI:
        contents = [as_object(one.get("content")) for one in objects_in(answer.get("candidates"))]
        return sum("functionCall" in part for one in contents for part in objects_in(one.get("parts")))
    messages = [as_object(choice.get("message")) for choice in objects_in(answer.get("choices"))]
    return sum(len(objects_in(message.get("tool_calls"))) for message in messages)


def _sent_of(raw: Raw) -> _Body:
    if not raw.is_sent_whole:
        return _Body(problem="the request is too long to be kept, or too many were in progress")
    if raw.sent_packing:
        return _Body(problem=f"the request is compressed as {raw.sent_packing[:40]}, which is not supported")
    if not raw.sent and raw.facts["error"]:
        return _Body(problem=str(raw.facts["error"]))  # it ended before the request came
    text = raw.sent.decode("utf-8", "replace")
    try:
        value = parse_json(text)
    except ValueError as error:
        return _Body(excerpt=text, problem=f"the request is not JSON: {str(error)[:200]}")
    if not isinstance(value, dict):
        return _Body(excerpt=text, problem="the request is not a JSON object")
    return _Body(value)


def _answer_of(raw: Raw) -> _Body:
    if raw.facts["status"] is None:
        return _Body(problem=str(raw.facts["error"] or ""))
    if not raw.is_answered_whole:
        return _Body(problem="the answer is too long to be kept, or too many were in progress")
    try:
        data, is_whole = _unpacked(raw)
    except ValueError as error:
        return _Body(problem=f"the answer cannot be decompressed: {error}")
    problem = str(raw.facts["error"] or "")
    if not is_whole:
        problem = problem or "the answer ends in the middle of its compressed data"
    text = data.decode("utf-8", "replace")
    if raw.content_type.partition(";")[0].strip().lower() == "text/event-stream":
        return _stream_of(raw, data, problem)
    try:
        value = parse_json(text)
    except ValueError as error:
        reason = problem or f"the answer is not JSON: {str(error)[:200]}"
        return _Body(excerpt=text, problem=reason)
    if not isinstance(value, dict):
        return _Body(excerpt=text, problem=problem or "the answer is not a JSON object")
    return _Body(value)  # complete, whatever happened afterwards: the beginning of an object does not parse


def _unpacked(raw: Raw) -> Unpacked:
    """Return the answer's bytes, as far as they came."""
    if not raw.packing:
        return Unpacked(raw.answered, is_whole=True)
    if raw.packing not in ("gzip", "x-gzip"):
        raise ValueError(f"it is compressed as {raw.packing[:40]!r}, but only gzip is supported")
    return unpack_beginning(raw.answered, MAX_ANSWER_BYTES, form=GZIP)


def _stream_of(raw: Raw, data: bytes, problem: str) -> _Body:
    parser = SseParser()
    chunks: list[JSONObject] = []
    events: list[tuple[float, str]] = []
    starts = [mark[0] for mark in raw.marks]
    is_done, unread = False, ""
    for at, piece in _pieces(data, starts if not raw.packing else []):
        at_s = raw.marks[max(0, bisect_right(starts, at) - 1)][1] if raw.marks else 0.0
        for event in (*parser.feed(piece), *(parser.finish() if at + len(piece) == len(data) else ())):
            events.append((at_s, event.data))
            if event.data.strip() == _DONE:
                is_done = True
                continue
            try:
                chunk = parse_json(event.data)
            except ValueError:
                chunk = None
            if not isinstance(chunk, dict) or not event.is_utf8:
                unread = unread or f"event {len(events):,} of the stream is not a JSON object"
            if isinstance(chunk, dict):
                chunks.append(chunk)
    api = Api(raw.api)
    made = assemble(api, chunks, is_done=is_done)
    broke_off, problem = problem, unread or made.problem
    is_open = not is_done if api in (Api.CHAT, Api.COMPLETIONS) else made.problem.startswith(NO_END)
    if is_open:  # those of the others say that they are at their end
        problem = broke_off or problem
    body = _Body(made.document) if not problem else _Body(partial=made.document, problem=problem)
    is_begun = bool(chunks) or is_done
    return replace(body, events=tuple(events), excerpt="" if is_begun else data.decode("utf-8", "replace").strip())


def _pieces(data: bytes, starts: Sequence[int]) -> list[tuple[int, bytes]]:
    """Return an answer in the pieces in which it came, as far as those are known."""
    edges = sorted({0, *starts, len(data)})
    return [(a, data[a:b]) for a, b in pairwise(edges)]


def _events_that_may_stay(answer: _Body, *, has_key: bool) -> list[tuple[float, str]] | None:
    """Return the first events of a stream; none where a key was found, which events may split."""
    if answer.events is None or has_key or (answer.value is None and answer.partial is None):
        return None
    kept: list[tuple[float, str]] = []
    left = MAX_EVENT_CHARS
    for at_s, data in answer.events[:MAX_EVENTS]:
        left -= len(data)
        if left < 0:
            break
        kept.append((at_s, data))
    return kept


_MIN_BEGUN = 4  # characters of a secret that was cut


class _Cover:
    """Redacts keys, and remembers whether there were any."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = secrets
        self.has_covered = False

    def text(self, text: str) -> str:
        """Return a text without keys."""
        return redact_text(self._plain(text))

    def excerpt(self, text: str) -> str:
        """Return the beginning of a text without keys; a key is not cut in two before it is looked for."""
        plain = redact_text(self._cut_begun(self._plain(text))[: 10 * MAX_EXCERPT_CHARS])[:MAX_EXCERPT_CHARS]
        self.has_covered = self.has_covered or plain != text[:MAX_EXCERPT_CHARS]
        return plain

    def json(self, value: JSONObject | None) -> JSON:
        """Return an answer without keys."""
        return None if value is None else self._noted(value, redact_json(self.known(value)))

    def body(self, value: JSONObject) -> JSON:
        """Return a request's body without keys, nor what is for its transport."""
        return self._noted(value, redact_body(as_object(self.known(value))))

    def known(self, value: JSON) -> JSON:
        """Return a value without the secrets that are known, in names of fields, too."""
        if isinstance(value, str):
            return self._plain(value)
        if isinstance(value, list):
            return [self.known(item) for item in value]
        if isinstance(value, dict):
            return {self._plain(key): self.known(item) for key, item in value.items()}
        return value

    def _cut_begun(self, text: str) -> str:
        """Return a text without the beginning of a secret at its end, where it was cut."""
        for secret in self._secrets:
            for size in range(min(len(secret) - 1, len(text)), _MIN_BEGUN - 1, -1):
                if text.endswith(secret[:size]):
                    return text[:-size] + MARK
        return text

    def _plain(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, MARK)
        return text

    def _noted(self, before: JSON, after: JSON) -> JSON:
        self.has_covered = self.has_covered or json.dumps(before) != json.dumps(after)
        return after
