"""What is wrong with arguments that are not the JSON text of an object: cut, printed as Python, joined, and so on.

Each kind has its own cause and its own advice, so the kinds are distinguished here, from the text alone. The text is
only read: Python literals are recognised with `ast.literal_eval`, which runs nothing, and up to a size.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.types import Span, Trace
from prompt_debugger.core.diagnose.fields import CallField, returned_calls
from prompt_debugger.core.diagnose.markers import find_markers
from prompt_debugger.core.diagnose.trace_queries import written_as

_DECODER = json.JSONDecoder()
_LENIENT = json.JSONDecoder(strict=False)
_MAX_OBJECTS = 200
_MAX_PYTHON = 20_000
_MAX_NESTING = 100
_MAX_STARTS = 20  # places at which an object inside other text may begin
_SEPARATORS = " \t\r\n,;"
_CLOSERS = re.compile(r"[\]}\s,;\"'`)>]{1,8}\Z")
_PYTHON = re.compile(r"\{\s*'|[:,\[]\s*(?:True|False|None)\s*[,}\]]")
_ESCAPED = re.compile(r'\s*\{\s*\\+"')
_FENCE = re.compile(r"\A\s*```[\w-]{0,20}\s*\n?")
_BARE_KEY = re.compile(r"\s*\{\s*([A-Za-z_]\w{0,60})\s*:")
_BARE_VALUE = re.compile(r"(?!(?:true|false|null|True|False|None)\b)([A-Za-z_][\w.-]{0,60})(\"?)(?=\"?\s*[,}\]])")
_CONTROL_NAMES = {"\n": "a line feed", "\t": "a tab", "\r": "a carriage return"}
# The end of a key that continues into the markup of its call, `"b\n</parameter": 1`, and what precedes it in the key.
_TAG_OF_KEY = re.compile(r'(</(?:parameter|function|tool_call|invoke|arg_key|arg_value|think)\b>?)(?:\\n|\s)*+"\s*+:')
_REST_OF_KEY = re.compile(r'(?:[^"\\]|\\.){0,2000}')
_PYTHON_STRING = re.compile(r"'(?:[^'\\\n]++|\\.)*+'|\"(?:[^\"\\\n]++|\\.)*+\"", re.DOTALL)
_PYTHON_CLOSERS = {"(": ")", "[": "]", "{": "}"}
BROKEN_INSIDE = "cannot be read as one"  # of arguments in Python that do not stop early
_LITERALS = ("true", "false", "null")
_HEADS = ("{", '{"', '{"": ', '{"": "')

NAME_NOT_COPIED = "name not copied"  # in place of the name of a call whose arguments alone are available


class Break(StrEnum):
    """The ways in which arguments are not the text of one JSON object."""

    CUT = "cut"
    PYTHON = "python"
    JOINED = "joined"
    MARKUP = "markup"
    ESCAPED = "escaped"
    WRAPPED = "wrapped"
    CONTROL = "control"
    TRAILING = "trailing"
    BEHEADED = "beheaded"
    NO_OBJECT = "no-object"
    OTHER = "other"


class BrokenArguments(NamedTuple):
    """What is wrong with a text that had to be a JSON object.

    Attributes:
        kind: Which way it is broken.
        span: Where in the text it shows.
        words: What is wrong, as a clause: "they end inside a string".
        parts: Of joined arguments, where each object is.
    """

    kind: Break
    span: Span
    words: str
    parts: tuple[Span, ...] = ()


def broken_calls(trace: Trace, *kinds: Break) -> Iterator[tuple[CallField, str, BrokenArguments]]:
    """Yield the returned calls whose arguments are broken in one of these ways, unless the model wrote them so.

    What the model wrote has its own rule (PD308), as the advice is another.
    """
    origins = written_as(trace)
    for index, call in enumerate(returned_calls(trace)):
        if not isinstance(call.arguments, str):
            continue
        fault = break_of(call.arguments)
        written = origins.get(index)
        if fault is not None and fault.kind in kinds and (written is None or written.arguments != call.arguments):
            yield call, call.arguments, fault


def key_with_tag(text: str) -> Span | None:
    """Return the closing tag into which a key runs, where one does; each tag is looked at once, not each quote."""
    for tag in _TAG_OF_KEY.finditer(text):
        quote = text.rfind('"', 0, tag.start())
        if quote >= 0 and _REST_OF_KEY.fullmatch(text, quote + 1, tag.start()) is not None:
            return Span(*tag.span(1))
    return None


@lru_cache(maxsize=32)
def break_of(text: str) -> BrokenArguments | None:
    """Return what is wrong with arguments; `None` for a JSON object, for a blank text, and for JSON inside a string.

    >>> [fault.kind.value for text in ("{'a': 1}", '{"a": 1}{"a": 2}', '{"a": "b') if (fault := break_of(text))]
    ['python', 'joined', 'cut']
    """
    if not text.strip():
        return None
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        return _kind_of(text, error)
    except (ValueError, RecursionError):
        return BrokenArguments(Break.OTHER, Span(0, len(text)), "they cannot be decoded")
    if isinstance(value, dict | str):
        return None
    return BrokenArguments(Break.NO_OBJECT, Span(0, len(text)), "they are JSON, but not an object")


def _kind_of(text: str, error: json.JSONDecodeError) -> BrokenArguments:
    parts = tuple(_objects(text))
    return (
        _joined(text, parts)
        or _find_markup(text, error)
        or _trailing(text, parts)
        or _escaped(text)
        or _control(text)
        or _python(text)
        or _cut(text, error)
        or _wrapped(text)
        or _beheaded(text)
        or _other(text, error)
    )


def _objects(text: str) -> Iterator[Span]:
    """Yield the JSON objects that follow one another from the beginning of a text."""
    at = 0
    for _ in range(_MAX_OBJECTS):
        while at < len(text) and text[at] in _SEPARATORS:
            at += 1
        if text[at : at + 1] != "{":
            return
        try:
            _, stop = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield Span(at, stop)
        at = stop


def _joined(text: str, parts: tuple[Span, ...]) -> BrokenArguments | None:
    rest = "" if not parts else text[parts[-1].stop :].lstrip(_SEPARATORS)
    is_last_cut = rest.startswith("{") and stops_early(rest)
    if len(parts) + is_last_cut < 2 or (rest and not is_last_cut):
        return None
    objects = (*parts, Span(len(text) - len(rest), len(text))) if is_last_cut else parts
    written = {text[slice(*part)] for part in parts}
    same = ", all identical" if len(written) == 1 and not is_last_cut else ""
    cut = ", the last of them cut" if is_last_cut else ""
    words = f"they are {len(objects)} JSON objects end to end{same}{cut}"
    return BrokenArguments(Break.JOINED, Span(objects[1].start, len(text)), words, objects)


def stops_early(text: str) -> bool:
    """Return whether a text is JSON that stops before its end.

    >>> stops_early('{"a": [1, "b'), stops_early('{"a" 1}')
    (True, False)
    """
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return _cut(text, error) is not None
    except (ValueError, RecursionError):
        return False
    return False


def _find_markup(text: str, error: json.JSONDecodeError) -> BrokenArguments | None:
    """Find markup that ended up in arguments; inside a long string that is cut, it is part of what was to be said."""
    tag = key_with_tag(text)
    if tag is not None:  # whatever else is wrong: no key ends so
        words = f"a key in them runs into the closing tag {text[slice(*tag)]!r} at character {tag.start}"
        return BrokenArguments(Break.MARKUP, tag, words)
    markers = list(find_markers(text))
    if not markers or (len(text.rstrip()) > markers[-1].stop and _cut(text, error) is not None):
        return None
    marker = markers[0]
    name = text[slice(*marker)]
    return BrokenArguments(Break.MARKUP, marker, f"the marker {name!r} appears in them at character {marker.start}")


def _trailing(text: str, parts: tuple[Span, ...]) -> BrokenArguments | None:
    if len(parts) != 1 or parts[0].start > 0:
        return None
    rest = text[parts[0].stop :]
    if not _CLOSERS.match(rest):
        return None
    words = f"the object is complete at character {parts[0].stop}, and {rest.strip()[:20]!r} follows it"
    return BrokenArguments(Break.TRAILING, Span(parts[0].stop, len(text)), words)


def _escaped(text: str) -> BrokenArguments | None:
    if not _ESCAPED.match(text):
        return None
    inside = decode_json(f'"{text}"')
    decoded = decode_json(inside) if isinstance(inside, str) else None
    if not isinstance(decoded, dict):
        return None
    words = "each quotation mark in them is escaped, but they are not enclosed in quotation marks"
    return BrokenArguments(Break.ESCAPED, Span(0, len(text)), words)


def _control(text: str) -> BrokenArguments | None:
    try:
        value, stop = _LENIENT.raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or text.lstrip()[stop:].strip():
        return None
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        at = error.pos
        char = text[at : at + 1]
        name = _CONTROL_NAMES.get(char, f"the control character {char!r}")
        words = f"{name} is unescaped in a string at character {at}"
        return BrokenArguments(Break.CONTROL, Span(at, at + 1), words)
    return None


def _python(text: str) -> BrokenArguments | None:
    found = _PYTHON.search(text)
    if found is None or len(text) > _MAX_PYTHON or _nesting(text) > _MAX_NESTING:
        return None
    stripped = text.strip()
    is_whole = isinstance(_literal(stripped), dict)
    starts_so = re.match(r"\{\s*'[^'\n]{0,200}'\s*:", stripped) is not None
    if not is_whole and not starts_so:
        return None
    cut = "" if is_whole else f", and they {_end_of_python(stripped) or BROKEN_INSIDE}"
    shown = found.group().strip(" \t\n{:,[]}")
    sign = f"`{shown}`" if shown in ("True", "False", "None") else "single quotes"
    return BrokenArguments(Break.PYTHON, Span(*found.span()), f"they are a Python dict ({sign}){cut}")


def _end_of_python(text: str) -> str:
    """Return how a Python literal that is not whole breaks off: inside a string or before brackets; "" if it does not.

    >>> _end_of_python("{'a': 'b"), _end_of_python("{'a': [1"), _end_of_python("{'a': b}")
    ('end inside a string', "end before ']}' closes them", '')
    """
    stack: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char in "'\"":
            found = _PYTHON_STRING.match(text, at)
            if found is None:
                return "end inside a string"
            at = found.end()
            continue
        if char in "([{":
            stack.append(_PYTHON_CLOSERS[char])
        elif stack and char == stack[-1]:
            stack.pop()
        at += 1
    return f"end before {''.join(reversed(stack[-8:]))!r} closes them" if stack else ""


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def _nesting(text: str) -> int:
    depth = most = 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        most = max(most, depth)
    return most


def _cut(text: str, error: json.JSONDecodeError) -> BrokenArguments | None:
    end = len(text.rstrip())
    if not text.lstrip().startswith(("{", "[")):
        return None
    rest = text[error.pos :].strip()
    is_literal = error.msg == "Expecting value" and any(
        word.startswith(rest) and rest != word for word in (*_LITERALS, "-")
    )
    if error.msg.startswith("Unterminated string"):
        words = "they end inside a string"
    elif error.msg.startswith("Invalid \\") and len(text) - error.pos <= len("uXXXX"):
        words = "they end inside an escape"
    elif error.pos >= end or is_literal:
        missing = _missing_closers(text)
        words = f"they end before {missing!r} closes them" if missing else "they are incomplete"
    else:
        return None
    return BrokenArguments(Break.CUT, Span(max(0, len(text) - 40), len(text)), words)


def _missing_closers(text: str) -> str:
    """Return the brackets that would make a text whole; "" if more is missing than brackets."""
    stack: list[str] = []
    inside, escaped = False, False
    for char in text:
        if inside:
            inside = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            inside = True
        elif char in "{[":
            stack.append("}" if char == "{" else "]")
        elif char in "}]" and stack:
            stack.pop()
    closing = "".join(reversed(stack[-8:]))
    return closing if len(stack) <= 8 and isinstance(decode_json(text + closing), dict) else ""


def _wrapped(text: str) -> BrokenArguments | None:
    """Find a whole object inside a code fence or among other words."""
    fence = _FENCE.match(text)
    at = -1
    for _ in range(_MAX_STARTS):
        at = text.find("{", at + 1)
        if at == -1:
            return None
        try:
            value, stop = _LENIENT.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if not isinstance(value, dict) or not value:
            continue
        before, after = text[:at].strip(), text[stop:].strip()
        if before.startswith("{"):
            words = f"a broken beginning of {at} characters precedes the complete object, as if it had been sent twice"
            words += _divergence(text, at, stop)
            if at == 1:
                words = "the complete object has one brace too many before it"
            return BrokenArguments(Break.WRAPPED, Span(at, stop), words)
        where = "a code fence" if fence is not None else f"other text ({(before or after)[:40]!r})"
        return BrokenArguments(Break.WRAPPED, Span(at, stop), f"the object is in {where}")
    return None


def _beheaded(text: str) -> BrokenArguments | None:
    """Find the rest of an object whose beginning is missing: up to within its first key, or its first value."""
    if text.lstrip().startswith(("{", "[")) or not text.rstrip().endswith("}"):
        return None
    for head in _HEADS:
        value = decode_json(f"{head}{text}")
        if isinstance(value, dict) and value:
            words = "their beginning is missing: only the rest of a JSON object arrived"
            return BrokenArguments(Break.BEHEADED, Span(0, min(len(text), 1)), words)
    return None


def _divergence(text: str, at: int, stop: int) -> str:
    """Say where a broken beginning departs from the whole object that follows it; "" if it only stops too early."""
    pairs = zip(text[:at], text[at:stop], strict=False)
    place = next((index for index, (one, other) in enumerate(pairs) if one != other), None)
    if place is None:
        return ""
    broken, whole = (repr(part[max(0, place - 8) : place + 12]) for part in (text[:at], text[at:stop]))
    return f", and diverges from it at character {place}: {broken} where the object has {whole}"


def _other(text: str, error: json.JSONDecodeError) -> BrokenArguments:
    bare = _BARE_KEY.match(text)
    if bare is not None:
        return BrokenArguments(Break.OTHER, Span(*bare.span(1)), f"the key `{bare[1]}` has no quotation marks")
    value = _BARE_VALUE.match(text, error.pos) if error.msg == "Expecting value" else None
    if value is not None:
        lacks = "no opening quotation mark" if value[2] else "no quotation marks"
        return BrokenArguments(Break.OTHER, Span(*value.span(1)), f"the value `{value[1]}` has {lacks}")
    near = text[max(0, error.pos - 10) : error.pos + 10]
    words = f"{error.msg} at character {error.pos}, near {near!r}"
    return BrokenArguments(Break.OTHER, Span(error.pos, min(len(text), error.pos + 1)), words)
