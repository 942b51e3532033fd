"""Answers of Gemini's generateContent, whole or streamed (server-sent events, or one list of answers).

    {"candidates": [{"content": {"role": "model", "parts": [{"thought": true, "text": "…"},
       {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "…"}]}, "finishReason": "STOP"}],
     "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 12}}

A call may come in pieces (`streamFunctionCallArguments`): the first has the name, the next ones have parts of values,
and the one without `willContinue` ends it:

    {"functionCall": {"name": "f", "willContinue": true}}
    {"functionCall": {"partialArgs": [{"jsonPath": "$.city", "stringValue": "Os", "willContinue": true}],
       "willContinue": true}}
    {"functionCall": {}}

Names come in camel case over the wire and in snake case from Google's Python client. `STOP` also ends answers
with calls, so it is read as `tool_calls` there.

Source: https://ai.google.dev/api/generate-content, as of 2026-10.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from prompt_debugger.core.base.errors import shorten
from prompt_debugger.core.base.json_values import as_count, as_object, as_text, either_case, objects_in
from prompt_debugger.core.base.types import JSON, Api, JSONObject, Usage
from prompt_debugger.core.complete.dialects._answer import Answer
from prompt_debugger.core.complete.dialects.base import Dialect, MessageDraft, StreamDraft, no_place, of_message

_API = "Gemini's generateContent"
_FILTERED = (
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "LANGUAGE",
    "MODEL_ARMOR",
)
_REASONS: Mapping[str, str] = MappingProxyType(
    {"STOP": "stop", "MAX_TOKENS": "length", **dict.fromkeys(_FILTERED, "content_filter")}
)


# What Vertex writes with `enum-encoding=int`; the APIs agree on these numbers alone.
_NUMBERED = ("", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)*)'\]")
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")
_MAX_STEPS = 40
_MAX_GAP = 1_000  # entries that a list may lack before the one that is set


def _is_answer(value: JSONObject) -> bool:
    if "choices" in value or "contents" in value:
        return False
    candidates = objects_in(value.get("candidates"))
    if candidates:
        return any("content" in one or either_case(one, "finishReason") is not None for one in candidates)
    if "expireTime" in value:
        return False  # what `cachedContents` answers
    return any(isinstance(either_case(value, name), dict) for name in ("promptFeedback", "usageMetadata"))


def _read_answer(value: JSONObject) -> Answer:
    draft = MessageDraft()
    candidates = _candidates(value)
    first = candidates[0] if candidates else {}
    if len(candidates) > 1:
        draft.note(f"Only the first of {len(candidates)} answers was read.")
    for part in _parts(first):
        match _kind(part):
            case "call":
                call = as_object(either_case(part, "functionCall"))
                draft.call(call.get("id"), call.get("name"), call.get("args") or {})
            case "thought":
                draft.reasoning.append(as_text(part.get("text")) or "")
            case "text":
                draft.texts.append(as_text(part.get("text")) or "")
            case other:
                draft.note(no_place(other))
    draft.notes += _list_reasons(value, first)
    return of_message(
        _API,
        draft.message(""),
        _reason(value, first, has_calls=bool(draft.calls)),
        whole=value if either_case(first, "finishReason") is not None or not candidates else None,
        usage=_usage(value),
        notes=draft.notes,
    )


def _read_events(events: Sequence[JSONObject], body: str) -> Answer:
    draft, calls, is_ended = StreamDraft(), _CallsInPieces(), False
    draft.add({"role": "assistant"})
    for event in events:
        if event.get("error"):
            error = as_object(event["error"])
            draft.fail(f"the server reported an error: {as_text(error.get('message')) or shorten(event['error'])}")
        candidates = _candidates(event)
        first = candidates[0] if candidates else {}
        for part in _parts(first):
            kind = _kind(part)
            if kind == "call":
                calls.take(as_object(either_case(part, "functionCall")), draft)
            elif kind in ("thought", "text"):
                draft.add({"reasoning" if kind == "thought" else "content": as_text(part.get("text")) or ""})
            else:
                draft.note(no_place(kind))
        draft.usage = _usage(event) or draft.usage
        if (reason := _reason(event, first, has_calls=calls.count > 0)) is not None:
            is_ended = True
            calls.finish(draft)
            draft.add({}, reason)
        for words in _list_reasons(event, first):
            draft.note(words)
    calls.finish(draft)
    return draft.answer(_API, body, is_ended=is_ended, end="`finishReason`")


class _CallsInPieces:
    """The calls of one stream, whole or in pieces that say where in the arguments a value belongs.

    Attributes:
        count: How many have begun.
    """

    def __init__(self) -> None:
        self.count = 0
        self._begun: JSONObject | None = None
        self._arguments: JSON = {}

    def take(self, call: JSONObject, draft: StreamDraft) -> None:
        """Take a `functionCall`: a whole call, or the first, a further or the last piece of one."""
        goes_on = either_case(call, "willContinue") is True
        pieces = objects_in(either_case(call, "partialArgs"))
        if call.get("name") is not None or (self._begun is None and not pieces):
            self.finish(draft)
            if not goes_on and not pieces:
                self._put(call, call.get("args") or {}, draft)
                return
            self._begun, self._arguments = call, {}
        for piece in pieces:
            steps = _steps(as_text(either_case(piece, "jsonPath")) or "")
            self._arguments = _set(self._arguments, steps, _value_of(piece))
        if not goes_on and self._begun is not None:
            self.finish(draft)

    def finish(self, draft: StreamDraft) -> None:
        """Put down the call that has begun, if one has."""
        if self._begun is not None:
            begun, self._begun = self._begun, None
            self._put(begun, self._arguments, draft)

    def _put(self, call: JSONObject, arguments: JSON, draft: StreamDraft) -> None:
        draft.call(self.count, call.get("id"), call.get("name"), arguments)
        self.count += 1


def _value_of(piece: JSONObject) -> JSON:
    given = next((name for name in _VALUES if either_case(piece, name) is not None), None)
    return None if given in (None, "nullValue") else either_case(piece, str(given))


def _steps(path: str) -> list[str | int]:
    """Return the steps of a path such as `$.recipe.steps[0]`; without any, where it is written in another way."""
    steps: list[str | int] = []
    at = 1
    while (step := _STEP.match(path, at)) is not None and len(steps) < _MAX_STEPS:
        name, number, quoted = step.groups()
        steps.append(int(number) if number is not None else name if name is not None else quoted)
        at = step.end()
    return steps if at == len(path) else []


def _set(within: JSON, steps: list[str | int], value: JSON) -> JSON:
    """Return a value with a part set; a piece of a text is appended to the text that is there."""
    if not steps:
        return within + value if isinstance(within, str) and isinstance(value, str) else value
    first, rest = steps[0], steps[1:]
    if isinstance(first, str):
        fields = as_object(within)
        return {**fields, first: _set(fields.get(first), rest, value)}
    entries = [*within] if isinstance(within, list) else []
    if first - len(entries) > _MAX_GAP:
        return within
    entries += [None] * (first + 1 - len(entries))
    entries[first] = _set(entries[first], rest, value)
    return entries


def _candidates(value: JSONObject) -> tuple[JSONObject, ...]:
    """Return the answers; the Agent Development Kit keeps the first one's fields alone, beside the token counts."""
    if "candidates" not in value and isinstance(as_object(value.get("content")).get("parts"), list):
        return (value,)
    return objects_in(value.get("candidates"))


def _parts(candidate: JSONObject) -> tuple[JSONObject, ...]:
    return objects_in(as_object(candidate.get("content")).get("parts"))


def _kind(part: JSONObject) -> str:
    """Return what a part is; fields that a client prints as null are not there."""
    if isinstance(either_case(part, "functionCall"), dict):
        return "call"
    if isinstance(part.get("text"), str):
        return "thought" if part.get("thought") is True else "text"
    names = [name for name, value in part.items() if value is not None and name not in ("thought", "thoughtSignature")]
    return "text" if not names else names[0]


def _reason(value: JSONObject, candidate: JSONObject, *, has_calls: bool) -> str | None:
    blocked = either_case(as_object(either_case(value, "promptFeedback")), "blockReason")
    given = either_case(candidate, "finishReason")
    number = as_count(given) or 0
    reason = as_text(given) or (_NUMBERED[number] if 0 <= number < len(_NUMBERED) else f"number {number}") or None
    if reason is None:
        return "content_filter" if blocked else None
    reason = reason.removeprefix("FinishReason.")
    return "tool_calls" if reason == "STOP" and has_calls else _REASONS.get(reason, reason)


def _list_reasons(value: JSONObject, candidate: JSONObject) -> list[str]:
    """Return what an answer says of an end that the API does not define."""
    sentences: list[str] = []
    if words := as_text(either_case(candidate, "finishMessage")):
        sentences.append(f"The API says: {shorten(words, 300)}")
    if blocked := either_case(as_object(either_case(value, "promptFeedback")), "blockReason"):
        sentences.append(f"The prompt was blocked: {shorten(blocked)}.")
    if either_case(candidate, "finishReason") == "MALFORMED_FUNCTION_CALL":
        sentences.append(
            "`MALFORMED_FUNCTION_CALL`: the model wrote a call that the API could not parse, and the API dropped it."
        )
    return sentences


def _usage(value: JSONObject) -> Usage | None:
    usage = as_object(either_case(value, "usageMetadata"))
    prompt, total = (
        as_count(either_case(usage, "promptTokenCount")),
        as_count(either_case(usage, "totalTokenCount")),
    )
    written = [as_count(either_case(usage, name)) for name in ("candidatesTokenCount", "thoughtsTokenCount")]
    known = [count for count in written if count is not None]
    if not any((prompt, *known)):  # LiteLLM streams zeros where it did not ask for counts
        return None
    return Usage(prompt, sum(known) if known else None, total)


DIALECT = Dialect(_API, _is_answer, _read_answer, _is_answer, _read_events, Api.GEMINI)
