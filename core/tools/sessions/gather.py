"""Files → exchanges in their order: captures, HARs, lines of requests and answers, files of `watch`, agents' sessions.

A session file of an agent contains messages, not requests: each answer's request is what was before it. What the
client wrote around them (system prompt, tools) is not in such a file, and nothing is said of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from prompt_debugger.core.base.errors import DebuggerError, RequestError
from prompt_debugger.core.base.json_values import as_count, as_object, decode_json, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.request import body_text, read_request
from prompt_debugger.core.tools.verify.making import Unread
from prompt_debugger.core.tools.verify.stored import JOURNALS, open_stored

_SUFFIXES = (".json", ".jsonl", ".har", ".log", *JOURNALS)
_MAX_FILES = 2_000
_MAX_BYTES = 256 << 20  # of one file


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request, and what the server reported of it.

    Attributes:
        body: As a chat completion, whatever API it was for.
        place: Where it was read.
        at: When it was sent; "" if that is not known.
        prompt_tokens: The server's count; `None` if it does not tell.
        cached_tokens: Those that it had computed before, by its own word.
    """

    body: JSONObject
    place: str
    at: str = ""
    prompt_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(slots=True)
class Gathered(Unread):
    """What was read."""

    exchanges: list[Exchange] = field(default_factory=list)


def gather_exchanges(paths: Iterable[Path]) -> Gathered:
    """Read files, and folders with all that is in them.

    Raises:
        RequestError: A path does not exist or cannot be read.
    """
    gathered = Gathered()
    for path in _files(paths):
        if path.suffix in JOURNALS:
            gathered.exchanges += _read_journal(path)
            continue
        try:
            text = path.read_text(encoding="utf-8-sig", errors="replace")
        except OSError as error:
            raise RequestError(f"Cannot read {str(path)!r}: {error.strerror or error}.", field="PATH") from None
        gathered.exchanges += _read_text(text, path, gathered)
    return _sorted(gathered)


def gather_pasted(text: str) -> Gathered:
    """Read the exchanges of a text: lines of requests with or without answers, a HAR, an agent's session file."""
    gathered = Gathered()
    gathered.exchanges += _read_text(text, Path("the text"), gathered)
    return _sorted(gathered)


def _sorted(gathered: Gathered) -> Gathered:
    if all(exchange.at for exchange in gathered.exchanges):
        gathered.exchanges.sort(key=lambda exchange: exchange.at)
    return gathered


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.exists():
            raise RequestError(
                f"There is no file {str(path)!r}.", "Give captures, HARs or session files.", field="PATH"
            )
        found = sorted(one for one in path.rglob("*") if one.suffix in _SUFFIXES) if path.is_dir() else [path]
        yield from (one for one in found[:_MAX_FILES] if one.is_file() and one.stat().st_size <= _MAX_BYTES)


def _read_journal(path: Path) -> Iterator[Exchange]:
    for row in open_stored(str(path))[0].rows():
        body = as_object(row.get("request"))
        if isinstance(body.get("messages"), list):
            usage = as_object(as_object(row.get("response")).get("usage"))
            place = f"{path.name}, exchange {row.get('data_index')}"
            yield Exchange(_plain(body), place, str(row.get("last_run_at") or ""), *_counts(usage))


def _read_text(text: str, path: Path, gathered: Gathered) -> Iterator[Exchange]:
    """Yield the exchanges of a text: each line of lines, each entry of a HAR."""
    lines = [line for line in text.splitlines() if line.strip()]
    values = (
        [as_object(decode_json(line)) for line in lines] if len(lines) > 1 and lines[0].lstrip().startswith("{") else []
    )
    values = [value for value in values if value]
    if len(values) > 1:
        session = list(_read_session(values, path))
        if session:
            yield from session
            return
    else:
        values = [as_object(decode_json(text))]
    entries = objects_in(as_object(values[0].get("log")).get("entries")) if len(values) == 1 else []
    for number, value in enumerate(entries or values, 1):
        one: JSONObject = {"log": {"entries": [value]}} if entries else value
        place = f"{path.name}, number {number}" if len(entries or values) > 1 else path.name
        try:
            found = read_evidence(json.dumps(one))
            request = found.request if found.run is None else found.run.request
            if request is None or not isinstance(request.body.get("messages"), list):
                gathered.note(f"{place} contains no request with messages, only {found.words}.")
                continue
        except DebuggerError as error:
            gathered.note(f"{place}: {error.message}")
            continue
        at = as_object(value.get("captured")).get("at") or value.get("startedDateTime") or ""
        yield Exchange(_plain(request.body), place, str(at), *_counts(_usage_of(value)))


def _read_session(values: list[JSONObject], path: Path) -> Iterator[Exchange]:
    """Yield the requests of Claude Code's and Codex's session files: before each answer, what was said until then."""
    so_far: list[JSON] = []
    last_id: JSON = None
    for value in values:
        message, payload = as_object(value.get("message")), as_object(value.get("payload"))
        if value.get("type") in ("user", "assistant") and message and value.get("isSidechain") is not True:
            is_new = value.get("type") == "assistant" and (message.get("id") != last_id or last_id is None)
            if is_new and so_far:
                body: JSONObject = {"model": message.get("model"), "anthropic_version": "", "messages": [*so_far]}
                yield from _request(body, path, value, as_object(message.get("usage")))
            last_id = message.get("id") if value.get("type") == "assistant" else None
            so_far.append({"role": message.get("role"), "content": message.get("content")})
        elif value.get("type") == "response_item" and payload:
            is_output = payload.get("type") in ("function_call", "custom_tool_call", "reasoning")
            is_output = is_output or payload.get("role") == "assistant"
            if is_output and so_far and last_id is None:
                yield from _request({"model": "", "input": [*so_far]}, path, value, {})
            last_id = "output" if is_output else None
            so_far.append(payload)


def _request(body: JSONObject, path: Path, line: JSONObject, usage: JSONObject) -> Iterator[Exchange]:
    try:
        request = read_request(body_text(body))
    except DebuggerError:
        return
    yield Exchange(_plain(request.body), path.name, str(line.get("timestamp") or ""), *_counts(usage))


def _plain(body: JSONObject) -> JSONObject:
    """Return a request without what makes no prompt another: marks for a cache, one text written as a list of it."""
    messages = body.get("messages")
    return {**body, "messages": [_plain_message(one) for one in (messages if isinstance(messages, list) else [])]}


def _plain_message(message: JSON) -> JSON:
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(content, list):
        return message
    parts: list[JSON] = [
        {name: value for name, value in part.items() if name != "cache_control"} if isinstance(part, dict) else part
        for part in content
    ]
    only = as_object(parts[0]) if len(parts) == 1 else {}
    return {**message, "content": only["text"] if only.keys() == {"type", "text"} else parts}


def _usage_of(value: JSONObject) -> JSONObject:
    """Return what an answer counts, of whichever API; of a stream what its events say together."""
    answer = as_object(value.get("response"))
    usage: JSONObject = {}
    for place in (answer, answer.get("body"), answer.get("body_raw"), as_object(answer.get("content")).get("text")):
        for one in _values_of(place):
            for holder in (one, as_object(one.get("message")), as_object(one.get("response"))):
                reported = as_object(holder.get("usage"))
                usage |= {name: count for name, count in reported.items() if count is not None}
    return usage


def _values_of(place: JSON) -> Iterator[JSONObject]:
    """Yield an answer, or the events of its stream that count."""
    if isinstance(place, dict):
        yield place
    elif isinstance(place, str) and '"usage"' in place:
        whole = as_object(decode_json(place))
        yield whole
        if not whole:
            yield from (as_object(decode_json(line[5:])) for line in place.splitlines() if line.startswith("data:"))


def _counts(usage: JSONObject) -> tuple[int | None, int | None]:
    """Return prompt tokens, and those of them that came from a cache, as the APIs count them.

    >>> _counts({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}})
    (9, 4)
    >>> _counts({"input_tokens": 1, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3})
    (9, 5)
    """
    read = as_count(usage.get("cache_read_input_tokens"))
    if read is not None:
        written = as_count(usage.get("cache_creation_input_tokens")) or 0
        return (as_count(usage.get("input_tokens")) or 0) + read + written, read
    prompt = as_count(usage.get("prompt_tokens"))
    prompt = as_count(usage.get("input_tokens")) if prompt is None else prompt
    details = (as_object(usage.get(name)) for name in ("prompt_tokens_details", "input_tokens_details"))
    cached = next((found for one in details if (found := as_count(one.get("cached_tokens"))) is not None), None)
    return prompt, as_count(usage.get("prompt_cache_hit_tokens")) if cached is None else cached
