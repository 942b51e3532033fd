"""Turn one JSON object of raw output into a tool call.

    {"name": "NAME", "arguments": {…}, "id": "…"}
    {"type": "function", "function": {"name": "NAME", "arguments": "{…}"}}

Which keys are used is a family's business; these and their look-alikes are known.
A Python dict in its place is a whole call only of a family that writes those; of others its name is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from prompt_debugger.core.base.types import JSON, CallStatus, JSONObject, Place, Span, ToolCallAttempt
from prompt_debugger.core.base.types.frozen import value
from prompt_debugger.core.parse.arguments import object_from_value
from prompt_debugger.core.parse.json_scan import JSONScan, Member, decode_json, partial_string, scan_json, scan_members
from prompt_debugger.core.parse.python_dicts import (
    end_of_python_dict,
    explain_break,
    python_string_at,
    scan_python_members,
)
from prompt_debugger.core.parse.python_values import read_python_value
from prompt_debugger.core.parse.scan import skip_space

_MemberReader = Callable[[str, int, int], tuple[Member, ...]]


_USUAL = 2  # keys of the arguments that parsers know, too


@value(frozen=True, slots=True)
class CallKeys:
    """Which members of an object hold what; the first one present counts.

    Attributes:
        name: Keys of the tool name.
        arguments: Keys of the arguments.
        id: Keys of the id.
        name_is_key: True if an object has one member, whose key is the name and whose value the arguments.
        is_python: True if the family writes Python dicts, so that one is a whole call.
    """

    name: tuple[str, ...] = ("name", "tool_name", "function_name", "tool")
    arguments: tuple[str, ...] = ("arguments", "parameters", "args", "input")
    id: tuple[str, ...] = ("id", "tool_call_id", "call_id")
    name_is_key: bool = False
    is_python: bool = False


class WrittenCall(NamedTuple):
    """A call as read from one object, and whether the object says itself where it ends."""

    call: ToolCallAttempt
    has_end: bool


def read_call(text: str, start: int, stop: int, keys: CallKeys) -> WrittenCall:
    """Read the call that the object at `start` makes, whether JSON, broken JSON or a Python dict.

    Returns:
        The call, its char span that of the object, as far as it could be followed.
    """
    scan = scan_json(text, start, stop)
    end = end_of_python_dict(text, scan, stop)
    if end is not None or _begins_as_python(text, scan, stop):
        call = _call_from_dict(text, scan, stop, end, keys)
        return WrittenCall(_believed(text, call, stop) if keys.is_python else call, end is not None)
    if (doubled := _read_doubled_braces(text, scan, stop, keys)) is not None:
        return WrittenCall(doubled, has_end=True)
    return WrittenCall(call_from_object(text, scan, keys), scan.status is not CallStatus.MALFORMED)


def _read_doubled_braces(text: str, scan: JSONScan, stop: int, keys: CallKeys) -> ToolCallAttempt | None:
    """Return the call in `{{…}}`, as models write it whose prompt shows the escapes of a format string; else `None`."""
    start = scan.span.start
    if scan.status is not CallStatus.MALFORMED or not text.startswith("{{", start):
        return None
    inner = scan_json(text, start + 1, stop)
    end = skip_space(text, inner.span.stop, stop)
    if inner.status is not CallStatus.COMPLETE or end >= stop or text[end] != "}":
        return _read_all_doubled(text, start, stop, keys)
    call = call_from_object(text, inner, keys)
    problem = "its outer braces are doubled, as in a format string"
    return replace(call, status=CallStatus.MALFORMED, problem=problem, char_span=Span(start, end + 1))


def _read_all_doubled(text: str, start: int, stop: int, keys: CallKeys) -> ToolCallAttempt | None:
    """Return the call in an object whose braces are all doubled; `None` if it is not one."""
    halved = _halve_braces(text, start, stop)
    if halved is None:
        return None
    written, places = halved
    scan = scan_json(written, 0, len(written))
    if scan.status is not CallStatus.COMPLETE:
        return None
    call = call_from_object(written, scan, keys)

    def back(span: Span) -> Span:
        return Span(places[span.start], places[span.stop])

    arguments_span = back(call.arguments_span) if call.arguments_span is not None else None
    return replace(
        call,
        status=CallStatus.MALFORMED,
        problem="its braces are doubled, as in a format string",
        char_span=back(call.char_span),
        name_span=None if call.name_span is None else back(call.name_span),
        id_span=None if call.id_span is None else back(call.id_span),
        arguments_span=arguments_span,
        arguments="" if arguments_span is None else text[arguments_span.start : arguments_span.stop],
    )


def _halve_braces(text: str, start: int, stop: int) -> tuple[str, list[int]] | None:
    """Return an object with each doubled brace outside of strings as one, and where each character and its end lie."""
    kept: list[str] = []
    places: list[int] = []
    depth, at, is_string = 0, start, False
    while at < stop:
        char, width = text[at], 1
        if char == '"':
            is_string = not is_string
        elif is_string and char == "\\":
            kept.append(char)
            places.append(at)
            at += 1
            char = text[at : at + 1]
        elif char in "{}" and not is_string:
            if not text.startswith(char * 2, at):
                return None
            width = 2
            depth += 1 if char == "{" else -1
        kept.append(char)
        places.append(at)
        at += width
        if depth == 0:
            return "".join(kept), [*places, at]
    return None


def call_from_object(text: str, scan: JSONScan, keys: CallKeys) -> ToolCallAttempt:
    """Return the call that an object at `scan.span` makes.

    Returns:
        The call, its char span that of the object. Without a name it is malformed, unless it was cut.
    """
    outer = scan_members(text, scan.span.start, scan.span.stop)
    if keys.name_is_key:
        return _call_from_key(text, scan, outer)
    members = _unwrap(text, outer, scan_members)
    name_member, arguments_member, id_member = (
        _find(members, wanted) for wanted in (keys.name, keys.arguments, keys.id)
    )
    name, name_span = _string_at(text, name_member)
    name = name or None
    identifier, id_span = _string_at(text, id_member)
    arguments_span = None if arguments_member is None else arguments_member.value_span
    value, problem = _arguments_value(text, arguments_member, scan.status)
    status = scan.status
    if status is CallStatus.COMPLETE and (name is None or value is None):
        status = CallStatus.MALFORMED
        problem = problem or "it has no name"
    stop = scan.span.stop
    return ToolCallAttempt(
        name=name,
        arguments="" if arguments_span is None else text[arguments_span.start : arguments_span.stop],
        arguments_json=value,
        id=identifier,
        status=status,
        deviation=_other_key(keys.arguments, arguments_member) if status is CallStatus.COMPLETE else None,
        place=Place.BODY,
        char_span=scan.span,
        name_span=name_span,
        id_span=id_span,
        arguments_span=Span(stop, stop) if arguments_span is None else arguments_span,
        problem=scan.problem or problem,
    )


def _begins_as_python(text: str, scan: JSONScan, stop: int) -> bool:
    """Return whether a broken object begins with a key between single quotation marks."""
    return scan.status is CallStatus.MALFORMED and text.startswith("'", skip_space(text, scan.span.start + 1, stop))


def _call_from_dict(text: str, scan: JSONScan, stop: int, end: int | None, keys: CallKeys) -> ToolCallAttempt:
    """Read what a Python dict says that ends at `end`; never complete, since no JSON reader takes it."""
    start, is_whole = scan.span.start, end is not None
    members: Sequence[Member] = scan_python_members(text, start, stop)
    if keys.name_is_key:
        quote = skip_space(text, start + 1, stop)
        arguments_member = members[0] if members else None
        name = None if arguments_member is None else arguments_member.key
        name_span = None if name is None else Span(quote + 1, quote + 1 + len(name))
        id_member = None
    else:
        members = _unwrap(text, members, scan_python_members)
        name_member, arguments_member, id_member = (_find(members, k) for k in (keys.name, keys.arguments, keys.id))
        name, name_span = (None, None) if name_member is None else python_string_at(text, name_member.value_span)
    identifier, id_span = (None, None) if id_member is None else python_string_at(text, id_member.value_span)
    end = end or max((scan.span.stop, *(member.value_span.stop for member in members)))
    arguments = Span(end, end) if arguments_member is None else arguments_member.value_span
    value, _ = _arguments_value(text, arguments_member, scan.status)
    return ToolCallAttempt(
        name=name,
        arguments=text[arguments.start : arguments.stop],
        arguments_json=value,
        id=identifier,
        status=CallStatus.MALFORMED,
        place=Place.BODY,
        char_span=Span(start, end),
        name_span=name_span,
        id_span=id_span,
        arguments_span=arguments,
        problem=explain_break(text, scan, stop)
        if is_whole
        else f"neither JSON nor a complete Python dict: {scan.problem}",
    )


def _believed(text: str, call: ToolCallAttempt, stop: int) -> ToolCallAttempt:
    """Return a call read from a Python dict as what it is where the family writes those: whole, cut or broken."""
    written = read_python_value(text, call.char_span.start, stop)
    if written.problem is not None:
        status = CallStatus.TRUNCATED if written.is_cut else CallStatus.MALFORMED
        end = max(call.char_span.stop, written.stop) if written.is_cut else call.char_span.stop
        whole = Span(call.char_span.start, end)
        return replace(call, status=status, char_span=whole, problem=f"not a complete Python dict: {written.problem}")
    value: JSONObject | None = {}
    problem: str | None = None
    if call.arguments_span is not None and call.arguments:
        value, problem = object_from_value(read_python_value(text, *call.arguments_span).value)
    problem = problem if call.name is not None else "it has no name"
    status = CallStatus.COMPLETE if problem is None and value is not None else CallStatus.MALFORMED
    return replace(call, status=status, arguments_json=value, problem=problem)


def _call_from_key(text: str, scan: JSONScan, members: Sequence[Member]) -> ToolCallAttempt:
    """Read `{"NAME": {arguments}}`."""
    member = members[0] if members else None
    key_start = text.find('"', scan.span.start, scan.span.stop) + 1
    if member is None or not key_start:
        is_cut = scan.status is CallStatus.TRUNCATED
        broken = CallStatus.TRUNCATED if is_cut else CallStatus.MALFORMED
        why = scan.problem or "it has no name"
        return ToolCallAttempt(None, "", None, None, broken, Place.BODY, scan.span, problem=why)
    value, problem = _arguments_value(text, member, scan.status)
    status = CallStatus.MALFORMED if scan.status is CallStatus.COMPLETE and value is None else scan.status
    return ToolCallAttempt(
        name=member.key,
        arguments=text[member.value_span.start : member.value_span.stop],
        arguments_json=value,
        id=None,
        status=status,
        place=Place.BODY,
        char_span=scan.span,
        name_span=Span(key_start, key_start + len(member.key)),
        arguments_span=member.value_span,
        problem=scan.problem or problem,
    )


def break_call(text: str, call: ToolCallAttempt, stop: int, problem: str) -> ToolCallAttempt:
    """Return a call whose JSON is broken and which its writer ended at `stop`.

    Its arguments end there too, less the closing bracket of the object around them.
    """
    arguments = call.arguments_span
    if arguments is not None and arguments.start < arguments.stop and call.arguments_json is None:
        start = min(arguments.start, stop)
        written = text[start:stop].rstrip()
        if written.endswith("}") and written.count("}") > written.count("{"):
            written = written[:-1].rstrip()
        arguments = Span(start, start + len(written))
    elif arguments is not None:
        arguments = Span(min(arguments.start, stop), min(arguments.stop, stop))
    name_span = call.name_span
    if name_span is not None and name_span.stop > stop:
        name_span = Span(min(name_span.start, stop), stop)
    return replace(
        call,
        char_span=Span(call.char_span.start, stop),
        name_span=name_span,
        arguments_span=arguments,
        arguments="" if arguments is None else text[arguments.start : arguments.stop],
        status=CallStatus.MALFORMED,
        problem=problem,
    )


def _unwrap(text: str, members: Sequence[Member], read_members: _MemberReader) -> Sequence[Member]:
    """Return the members of an inner `"function": {…}` with the outer id, if that is how it is written."""
    function = next((m for m in members if m.key == "function"), None)
    if function is None or not text.startswith("{", function.value_span.start):
        return members
    inner = read_members(text, function.value_span.start, function.value_span.stop)
    return (*inner, *(m for m in members if m.key != "function" and m.key != "name"))


def _other_key(usual: Sequence[str], member: Member | None) -> str | None:
    """Say that the arguments are under a key that this program accepts and parsers do not."""
    if member is None or member.key in usual[:_USUAL]:
        return None
    return f"its arguments are under `{member.key}`, not under `{usual[0]}`"


def _find(members: Sequence[Member], keys: Sequence[str]) -> Member | None:
    for key in keys:
        for member in reversed(members):  # of two of one name, JSON readers take the last
            if member.key == key:
                return member
    return None


def _string_at(text: str, member: Member | None) -> tuple[str | None, Span | None]:
    """Return a string value and where its characters are, without the quotation marks."""
    if member is None or not text.startswith('"', member.value_span.start):
        return None, None
    value = partial_string(text, member.value_span)
    start, stop = member.value_span
    return value, Span(start + 1, max(start + 1, stop - 1 if member.is_closed else stop))


def _arguments_value(text: str, member: Member | None, status: CallStatus) -> tuple[JSONObject | None, str | None]:
    if member is None:
        return ({} if status is CallStatus.COMPLETE else None), None
    if not member.is_closed:
        return None, None
    try:
        value: JSON = decode_json(text[member.value_span.start : member.value_span.stop])
    except (ValueError, RecursionError):
        return None, None
    return object_from_value(value)
