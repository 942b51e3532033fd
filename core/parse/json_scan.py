"""Read JSON that a model wrote: where it ends, what is in it, what is wrong with it.

Tolerant in that nothing raises; strict in that only JSON is called complete.
Time is linear in the text read.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

from prompt_debugger.core.base.json_values import is_too_deep
from prompt_debugger.core.base.types import JSON, CallStatus, JSONObject, Span
from prompt_debugger.core.base.types.frozen import value

# One lexical step outside strings: separators, a literal or number, a bracket, or a whole string.
_STEP = re.compile(
    r'[\s,:]++|-?[0-9][-+.0-9eE]*+|(?:true|false|null)\b|[{}\[\]]|"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL
)
_LONGEST_LITERAL = 6
_CLOSING = {"{": "}", "[": "]"}
_DECODER_ERRORS = (ValueError, RecursionError)


@value(frozen=True, slots=True)
class JSONScan:
    """One JSON value as it occurs in a text.

    Attributes:
        span: From its first character to the end of its last; of a broken one, as far as it could be followed.
        status: Complete, truncated (the text ends inside it) or malformed.
        value: Decoded, if complete.
        problem: What is wrong with it, in plain words; `None` if complete.
    """

    span: Span
    status: CallStatus
    value: JSON = None
    problem: str | None = None


@value(frozen=True, slots=True)
class Member:
    """One `key: value` pair of a JSON object, perhaps cut.

    Attributes:
        key: The key, decoded.
        value_span: The value as written; empty if the text ends before it.
        is_closed: Whether the value is written to its end.
    """

    key: str
    value_span: Span
    is_closed: bool


def scan_json(text: str, start: int, stop: int) -> JSONScan:
    """Read the JSON object or array that starts at `start`, not looking past `stop`.

    Returns:
        What was found; never raises.
    """
    end, status, problem = _follow_brackets(text, start, stop)
    span = Span(start, end)
    if status is not CallStatus.COMPLETE:
        return JSONScan(span, status, problem=problem)
    try:
        return JSONScan(span, status, value=decode_json(text[start:end]))
    except _DECODER_ERRORS as error:
        return JSONScan(span, CallStatus.MALFORMED, problem=explain_json_error(error))


def decode_json(text: str) -> JSON:
    """Decode a whole JSON text.

    Raises:
        ValueError: It is not JSON; neither are `NaN` and the infinities.
        RecursionError: It is nested too deeply to decode.
    """
    if is_too_deep(text):
        raise RecursionError("nested too deeply")
    value: JSON = _DECODER.decode(text)
    return value


def decode_object(text: str) -> JSONObject | None:
    """Decode a JSON object; `None` for anything else. An object inside a JSON string counts."""
    value: JSON = text
    for _ in range(2):
        if not isinstance(value, str):
            break
        try:
            value = decode_json(value)
        except _DECODER_ERRORS:
            return None
    return value if isinstance(value, dict) else None


def explain_json_error(error: Exception) -> str:
    """Say in plain words what is wrong with a JSON text that does not decode."""
    if isinstance(error, json.JSONDecodeError):
        return f"invalid JSON: {error.msg[:1].lower()}{error.msg[1:]} at character {error.pos}"
    if isinstance(error, RecursionError):
        return "JSON nested too deeply to decode"
    return f"invalid JSON: {str(error)[:80]}"


def scan_members(text: str, start: int, stop: int) -> tuple[Member, ...]:
    """Return the members of the object at `start`, as many as are written, the last one perhaps cut.

    Returns:
        The members in order; a broken object gives those before the break.
    """
    members: list[Member] = []
    position = _skip(text, start + 1, stop, " \t\r\n,")
    while position < stop and text[position] == '"':
        key_end, is_whole = _value_end(text, position, stop)
        if not is_whole:
            break
        colon = _skip(text, key_end, stop, " \t\r\n")
        if colon < stop and text[colon] != ":":
            break
        value_start = min(stop, _skip(text, colon + 1, stop, " \t\r\n"))
        value_end, is_whole = _value_end(text, value_start, stop)
        members.append(Member(_decode_key(text[position:key_end]), Span(value_start, value_end), is_whole))
        if not is_whole or value_end == value_start:
            break
        position = _skip(text, value_end, stop, " \t\r\n,")
    return tuple(members)


def partial_string(text: str, span: Span) -> str | None:
    """Return the string value written at `span`, decoded as far as it goes; `None` if it is not a string."""
    written = text[span.start : span.stop]
    if not written.startswith('"'):
        return None
    for candidate in (written, written + '"', written.rpartition("\\")[0] + '"'):
        try:
            value = decode_json(candidate)
        except _DECODER_ERRORS:
            continue
        return value if isinstance(value, str) else None
    return written[1:]


def _follow_brackets(text: str, start: int, stop: int) -> tuple[int, CallStatus, str | None]:
    open_brackets: list[str] = []
    position = start
    while position < stop:
        match = _STEP.match(text, position, stop)
        if match is None:
            if text[position] == '"':
                return stop, CallStatus.TRUNCATED, "ends inside a string"
            if stop - position < _LONGEST_LITERAL and _is_literal_start(text[position:stop]):
                return stop, CallStatus.TRUNCATED, "ends inside a value"
            return position, CallStatus.MALFORMED, f"invalid JSON: unexpected {text[position]!r}"
        char = text[position]
        position = match.end()
        if char in "{[":
            open_brackets.append(_CLOSING[char])
        elif char in "}]" and (not open_brackets or open_brackets.pop() != char):
            return position, CallStatus.MALFORMED, f"invalid JSON: unexpected {char!r}"
        if not open_brackets:
            return position, CallStatus.COMPLETE, None
    return stop, CallStatus.TRUNCATED, "ends before its closing bracket"


def _is_literal_start(written: str) -> bool:
    return any(literal.startswith(written) for literal in ("true", "false", "null", "-"))


def _value_end(text: str, start: int, stop: int) -> tuple[int, bool]:
    """Return where the value at `start` ends, and whether it is complete."""
    if start >= stop:
        return stop, False
    if text[start] in "{[":
        end, status, _ = _follow_brackets(text, start, stop)
        return end, status is CallStatus.COMPLETE
    match = _STEP.match(text, start, stop)
    if match is None or text[start] in "}],: \t\r\n":
        return (stop, False) if text[start] == '"' else (start, False)
    is_string = text[start] == '"'
    return match.end(), is_string or match.end() < stop


def _skip(text: str, start: int, stop: int, chars: str) -> int:
    while start < stop and text[start] in chars:
        start += 1
    return start


def _decode_key(written: str) -> str:
    try:
        key = decode_json(written)
    except _DECODER_ERRORS:
        return written[1:-1]
    return key if isinstance(key, str) else written


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
