"""Recognise Python dicts where JSON is due: single quotation marks, `True`, `None`.

    {'name': 'NAME', 'arguments': {'a': True}}

No JSON reader takes them, so nothing here repairs them; it reports what they
are and what they contain.
"""

from __future__ import annotations

from prompt_debugger.core.base.types import CallStatus, Span
from prompt_debugger.core.parse.json_scan import JSONScan, Member
from prompt_debugger.core.parse.python_values import read_python_value
from prompt_debugger.core.parse.scan import skip_space

_BREAKS = ("'", "True", "False", "None")  # where JSON breaks and Python does not
_QUOTES = "\"'"


def end_of_python_dict(text: str, scan: JSONScan, stop: int) -> int | None:
    """Return where the Python dict ends that `scan` took for broken JSON; `None` if it is no whole dict."""
    if scan.status is not CallStatus.MALFORMED or not text.startswith(_BREAKS, scan.span.stop):
        return None
    value = read_python_value(text, scan.span.start, stop)
    return value.stop if value.problem is None and value.stop > scan.span.stop else None


def explain_break(text: str, scan: JSONScan, stop: int) -> str | None:
    """Say why a text is not JSON, and whether it is Python's notation."""
    if end_of_python_dict(text, scan, stop) is None:
        return scan.problem
    return f"written as in Python, which is {scan.problem or 'no valid JSON'}"


def scan_python_members(text: str, start: int, stop: int) -> tuple[Member, ...]:
    """Return the members of the dict at `start`, as many as are written, the last one perhaps broken."""
    members: list[Member] = []
    position = skip_space(text, start + 1, stop)
    while position < stop and text[position] in _QUOTES:
        key = read_python_value(text, position, stop)
        colon = skip_space(text, key.stop, stop)
        if key.problem is not None or not isinstance(key.value, str) or not text.startswith(":", colon):
            break
        begin = min(stop, skip_space(text, colon + 1, stop))
        value = read_python_value(text, begin, stop)
        members.append(Member(key.value, Span(begin, max(begin, value.stop)), value.problem is None))
        position = skip_space(text, value.stop, stop)
        if value.problem is not None or position >= stop or text[position] != ",":
            break
        position = skip_space(text, position + 1, stop)
    return tuple(members)


def python_string_at(text: str, span: Span) -> tuple[str | None, Span | None]:
    """Return the string written at `span` and where its characters are, without the quotation marks."""
    value = read_python_value(text, span.start, span.stop)
    if not isinstance(value.value, str) or span.stop - span.start < len("''"):
        return None, None
    return value.value, Span(span.start + 1, span.stop - 1)
