"""What an event of the page may carry: judged by a table made from the built page, before gradio sees it.

Gradio preprocesses whatever comes: a dictionary that names a file is looked up or fetched, in any field of any
component. Our page has texts, choices and numbers; nothing else passes, and a component of a kind that this file does
not know takes plain values only. What passed is serialized afresh: gradio reads what was judged, not what was sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, assert_never

from prompt_debugger.core.base.types import JSON, JSONObject

MAX_TEXT_CHARS = 100_000  # of a field of one line
MAX_CHOICE_CHARS = 1_000
MAX_NAME_CHARS = 40  # of a session: gradio's own have 11
MAX_EVENT_PARTS = 100  # values in what a view tells of a click
MAX_EVENT_CHARS = 2_000
MAX_EVENT_DEPTH = 4
MAX_STRINGS = 2_000  # in a body: an event has some forty values
MAX_PLAIN_BYTES = 40_000  # of a body, what is outside its strings
MAX_NUMBER = 2**53

# What gradio reads of an event; the front end names the last of them, if at all, without a value.
EVENT_KEYS = (
    "data", "event_data", "fn_index", "trigger_id", "session_hash",
    "event_id", "oauth_token", "simple_format", "batched", "request", "batch_trigger_ids",
)  # fmt: skip

# Keys by which gradio knows a file; no view of ours tells of any.
FILE_KEYS = frozenset({"path", "url", "meta", "_type", "orig_name", "mime_type", "is_stream", "is_file"})

FieldKind = Literal["nothing", "long text", "text", "choice", "number", "plain"]
Choices = Callable[[str, int], frozenset[str] | None]


class PayloadError(Exception):
    """What was sent is nothing that the page sends; it is refused with an HTTP status."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Field:
    """What one input of an event may hold.

    Attributes:
        component: Its number on the page.
        kind: `nothing` is a value that the server has or never reads; `plain` is for a component no one has judged yet.
        choices: Of a `choice`; `None` takes any short text, empty means that the server knows them by session.
        least: Of a `number`.
        most: Of a `number`.
    """

    component: int
    kind: FieldKind
    choices: frozenset[str] | None = None
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True)
class EventRule:
    """What one event of the page takes.

    Attributes:
        index: Its number.
        name: Its name.
        is_queued: Whether it comes through the queue.
        has_code: Whether the server does anything for it; others are the browser's own affair.
        fields: One per input.
        takes_event: Whether it is told what was clicked.
        takes_file: Whether that may be a packed file.
        has_targets: Whether something on the page starts it; a program calls the others by name.
    """

    index: int
    name: str
    is_queued: bool
    has_code: bool
    fields: tuple[Field, ...]
    takes_event: bool = False
    takes_file: bool = False
    has_targets: bool = True


@dataclass(frozen=True, slots=True)
class EventTable:
    """All that the page's events take; `choices_of` returns a visitor's choices where the server changes them."""

    rules: Mapping[int, EventRule]
    components: frozenset[int]
    choices_of: Choices = field(default=lambda _session, _component: None)


class JudgedEvent(NamedTuple):
    """An event that passed."""

    rule: EventRule
    session: str
    body: bytes


def read_table(config: Mapping[str, Any], choices_of: Choices | None = None) -> EventTable:
    """Return the table of a built page, from the description that its front end gets."""
    parts = {part["id"]: part for part in config["components"]}
    rules = {}
    for event in config["dependencies"]:
        rule = EventRule(
            index=event["id"],
            name=str(event["api_name"]),
            is_queued=bool(event["queue"]),
            has_code=bool(event["backend_fn"]),
            fields=tuple(_field(parts[number]) for number in event["inputs"]),
            takes_event=bool(event["collects_event_data"]),
            has_targets=bool(event["targets"]),
            takes_file=any(name == "submit" and parts[number]["type"] == "html" for number, name in _targets(event)),
        )
        rules[rule.index] = rule
    return EventTable(rules, frozenset(parts), choices_of or (lambda _session, _component: None))


def judge_event(raw: bytes, table: EventTable, *, is_queued: bool) -> JudgedEvent:
    """Return an event that the page could have sent.

    Raises:
        PayloadError: The page sends no such thing.
    """
    body = read_object(raw)
    _check_keys(body, EVENT_KEYS)
    if any(body.get(name) for name in _ALWAYS_EMPTY):
        raise PayloadError("The page does not send this.")
    session = read_name(body.get("session_hash"))
    rule = _rule(table, body.get("fn_index"), is_queued=is_queued)
    values = body.get("data")
    if not isinstance(values, list) or len(values) != len(rule.fields):
        raise PayloadError(f"This event takes {len(rule.fields)} values.")
    judged: JSONObject = {
        "data": [_value(value, field, session, table) for value, field in zip(values, rule.fields, strict=True)],
        "event_data": _event_data(body.get("event_data"), rule),
        "fn_index": rule.index,
        "trigger_id": _trigger(body.get("trigger_id"), table),
        "session_hash": session,
    }
    return JudgedEvent(rule, session, json.dumps(judged).encode())


def judge_call(raw: bytes, table: EventTable, name: str, session: str) -> bytes:
    """Return the event that a call by name is: `{"data": [text, …]}`, where what is not given is empty.

    Raises:
        PayloadError: There is no such name, or the body is not one of a call.
    """
    rule = next((one for one in table.rules.values() if one.name == name and not one.has_targets), None)
    if rule is None:
        raise PayloadError("There is no such name.", 404)
    body = read_object(raw)
    _check_keys(body, ("data",))
    values = body.get("data")
    if not isinstance(values, list) or not 0 < len(values) <= len(rule.fields):
        raise PayloadError(f'Expected {{"data": […]}} with 1 to {len(rule.fields)} texts.')
    filled = [*values, *[""] * (len(rule.fields) - len(values))]
    return json.dumps({"data": filled, "fn_index": rule.index, "session_hash": session}).encode()


def judge_cancel(raw: bytes, table: EventTable) -> bytes:
    """Return what ends an event of a session, serialized afresh.

    Raises:
        PayloadError: The page sends no such thing.
    """
    body = read_object(raw)
    _check_keys(body, ("session_hash", "fn_index", "event_id"))
    index = body.get("fn_index")
    if not _is_index(index) or index not in table.rules:
        raise PayloadError("There is no such event.", 404)
    session = read_name(body.get("session_hash"))
    return json.dumps({"session_hash": session, "event_id": _event_name(body), "fn_index": index}).encode()


def judge_reset(raw: bytes) -> bytes:
    """Return the name of an event that the front end is done with, serialized afresh.

    Raises:
        PayloadError: The page sends no such thing.
    """
    body = read_object(raw)
    _check_keys(body, ("event_id",))
    return json.dumps({"event_id": _event_name(body)}).encode()


def _event_name(body: JSONObject) -> str:
    """Return which event is to end; the front end has no name, or null, for one that has not been taken in yet."""
    name = body.get("event_id")
    return _UNNAMED if name is None else read_name(name)


def read_name(value: object) -> str:
    """Return the name of a session or an event.

    Raises:
        PayloadError: It is not short and plain; gradio keeps names of any length and kind.
    """
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise PayloadError(f"A session's name has 1 to {MAX_NAME_CHARS} plain characters.")
    return value


def read_object(raw: bytes) -> JSONObject:
    """Return the JSON object in a body.

    Raises:
        PayloadError: There is none, it has too many parts or is nested beyond reading, or contains NaN or
            Infinity.
    """
    _check_build(raw)
    try:
        value: JSON = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise PayloadError("The message is not JSON.") from None
    if not isinstance(value, dict):
        raise PayloadError("The message is not a JSON object.")
    return value


_ALWAYS_EMPTY = EVENT_KEYS[5:]
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_UNNAMED = "not-taken-in"
_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_NAME_CHARS}}}")
_KINDS: Mapping[str, FieldKind] = {
    "state": "nothing", "html": "nothing", "button": "nothing", "timer": "nothing", "checkbox": "nothing",
    "code": "long text", "api": "long text", "textbox": "text",
    "dropdown": "choice", "radio": "choice", "number": "number",
}  # fmt: skip


def _check_build(raw: bytes) -> None:
    """Refuse a body of many small parts before it is read.

    The page's events are few values, some of them long. Four megabytes of brackets take a second to read, in which
    no one else is answered.
    """
    at = plain = strings = 0
    while (start := raw.find(b'"', at)) >= 0:
        plain, strings = plain + start - at, strings + 1
        found = _STRING.match(raw, start)
        if found is None or plain > MAX_PLAIN_BYTES or strings > MAX_STRINGS:
            raise PayloadError("The message is not JSON written by this page.")
        at = found.end()
    if plain + len(raw) - at > MAX_PLAIN_BYTES:
        raise PayloadError("The message is not JSON written by this page.")


def _targets(event: Mapping[str, Any]) -> list[tuple[int, str]]:
    return [(number, name) for number, name in event["targets"] if number is not None]


def _field(part: Mapping[str, Any]) -> Field:
    props = part["props"]
    kind = _KINDS.get(part["type"], "plain")
    if props.get("multiselect"):
        kind = "plain"
    if kind == "choice":
        choices = [str(value) for _, value in props.get("choices") or ()]
        return Field(part["id"], kind, None if props.get("allow_custom_value") else frozenset(choices))
    return Field(part["id"], kind, least=props.get("minimum"), most=props.get("maximum"))


def _rule(table: EventTable, index: JSON, *, is_queued: bool) -> EventRule:
    rule = table.rules.get(index) if _is_index(index) else None  # type: ignore[arg-type]  # it is a number
    if rule is None or not rule.has_code or rule.is_queued != is_queued:
        raise PayloadError("There is no such event.", 404)
    return rule


def _is_index(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_keys(body: JSONObject, known: tuple[str, ...]) -> None:
    if any(key not in known for key in body):
        raise PayloadError("The page does not send this.")


def _trigger(value: JSON, table: EventTable) -> JSON:
    if value is not None and (not _is_index(value) or value not in table.components):
        raise PayloadError("There is no such component.")
    return value


def _value(value: JSON, field: Field, session: str, table: EventTable) -> JSON:
    """Return one input's value as its handler expects it."""
    match field.kind:
        case "nothing":
            return None  # the server has its own, whatever is sent
        case "long text" | "text":
            most = MAX_TEXT_CHARS if field.kind == "text" else None
            return _text("" if value is None else value, most)
        case "choice":
            return _choice(value, field, session, table)
        case "number":
            return _number(value, field)
        case "plain":
            return _plain(value)
        case _:
            assert_never(field.kind)


def _text(value: JSON, most: int | None) -> str:
    if not isinstance(value, str):
        raise PayloadError("Expected a string.")
    if most is not None and len(value) > most:
        raise PayloadError(f"A field has {len(value):,} characters, but this page accepts {most:,}: shorten it.")
    return value


def _choice(value: JSON, field: Field, session: str, table: EventTable) -> JSON:
    if value is None:
        return None
    text = _text(value, MAX_CHOICE_CHARS)
    choices = field.choices if field.choices != frozenset() else table.choices_of(session, field.component)
    if choices is not None and text not in choices:
        raise PayloadError("Unknown choice: load the page again.")
    return text


def _number(value: JSON, field: Field) -> JSON:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PayloadError("Expected a number.")
    low = -MAX_NUMBER if field.least is None else field.least
    high = MAX_NUMBER if field.most is None else field.most
    if not low <= value <= high:  # nor is any infinity, and a number of hundreds of digits has no float
        raise PayloadError(f"A number is out of range: it goes from {low:,g} to {high:,g}.")
    return value


def _plain(value: JSON) -> JSON:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, MAX_CHOICE_CHARS)
    if isinstance(value, int | float):
        return _number(value, Field(0, "number"))
    raise PayloadError("Expected a plain value.")


def _event_data(value: JSON, rule: EventRule) -> JSON:
    """Return what a view tells of a click, for the events that ask for it: gradio trips over what it does not tell."""
    if not rule.takes_event:
        return None
    if not isinstance(value, dict):
        raise PayloadError("This event must contain what was clicked.")
    if rule.takes_file:
        return _packed_file(value)
    if not {"index", "value"} <= set(value):
        raise PayloadError("This event must contain what was clicked.")
    return _walked(value, MAX_EVENT_DEPTH, [MAX_EVENT_PARTS])


def _packed_file(value: JSONObject) -> JSONObject:
    """Return a packed file and what a browser kept with it: how the run ended, whether its text was edited since."""
    kept: JSONObject = {}
    for name, part in value.items():
        if name == "packed":
            kept[name] = _text(part, None)
        elif name in ("is_edited", "is_chosen") and isinstance(part, bool):
            kept[name] = part
        elif name == "ended" and isinstance(part, dict) and set(part) == {"badge", "sentence"}:
            kept[name] = {word: _text(text, MAX_EVENT_CHARS) for word, text in part.items()}
        elif name != "ended" or part is not None:
            raise PayloadError("This event holds a packed file.")
    if "packed" not in kept:
        raise PayloadError("This event holds a packed file.")
    return kept


def _walked(value: JSON, depth: int, left: list[int]) -> JSON:
    left[0] -= 1
    if depth == 0 or left[0] < 0:
        raise PayloadError("The description of what was clicked is too large.")
    if isinstance(value, dict):
        if FILE_KEYS & set(value):
            raise PayloadError("Events of this page must not name files.")
        return {_text(key, MAX_NAME_CHARS): _walked(item, depth - 1, left) for key, item in value.items()}
    if isinstance(value, list):
        return [_walked(item, depth - 1, left) for item in value]
    return _text(value, MAX_EVENT_CHARS) if isinstance(value, str) else _plain(value)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")
