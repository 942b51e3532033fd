"""Read the arguments of one call that writes them as JSON between markers.

The delimiter may be inside a string of the arguments: JSON decides where
they end, the markers only confirm it.
"""

from __future__ import annotations

from collections.abc import Iterable

from prompt_debugger.core.base.types import JSON, CallStatus, JSONObject, Span
from prompt_debugger.core.base.types.frozen import value
from prompt_debugger.core.parse.json_scan import decode_json, decode_object, explain_json_error, scan_json
from prompt_debugger.core.parse.python_dicts import explain_break
from prompt_debugger.core.parse.scan import Finder, Hit, skip_space, trim_span


@value(frozen=True, slots=True)
class Arguments:
    """The arguments of one call as they occur in the text.

    Attributes:
        span: As emitted, without the whitespace around; empty if none were written.
        value: Decoded, if they are an object; `{}` if none were written in a finished call.
        status: Complete, truncated or malformed.
        problem: What is wrong, in plain words.
        stop: Where the arguments end, or their closing marker if it is there.
    """

    span: Span
    value: JSONObject | None
    status: CallStatus
    problem: str | None
    stop: int


def read_arguments(
    finder: Finder, start: int, *, closers: Iterable[str], stops: Iterable[str] = (), is_cut: bool = False
) -> Arguments:
    """Read JSON arguments from `start` up to their closing marker.

    Args:
        finder: Search over the text; its `stop` bounds the reading.
        start: Where the arguments begin.
        closers: Markers that close them; part of the call.
        stops: Markers that end them without being part of the call.
        is_cut: True if the server said that it cut the output.

    Returns:
        What was found; never raises.
    """
    closing = tuple(closers)
    markers = (*closing, *stops)
    text = finder.text
    begin = skip_space(text, start, finder.stop)
    hit = finder.first(markers, begin)
    span = trim_span(text, begin, finder.stop if hit is None else hit.start)
    try:
        value = decode_json(text[span.start : span.stop]) if span.start < span.stop else {}
    except (ValueError, RecursionError) as error:
        return _read_broken(finder, span, hit, closing, markers, is_cut=is_cut, error=error)
    return _judge(text, span, value, hit, closing, is_cut=is_cut)


def object_from_value(value: JSON) -> tuple[JSONObject | None, str | None]:
    """Return arguments as an object, and what is odd about them in plain words."""
    if isinstance(value, dict):
        return value, None
    if isinstance(value, str):
        inner = decode_object(value)
        if inner is not None:
            return inner, "the arguments are JSON inside a JSON string"
    if value is None:
        return {}, None
    kind = {str: "a string", list: "a list", bool: "a boolean"}.get(type(value), "a number")
    return None, f"the arguments are {kind}, not an object"


def _read_broken(
    finder: Finder,
    span: Span,
    hit: Hit | None,
    closing: tuple[str, ...],
    markers: tuple[str, ...],
    *,
    is_cut: bool,
    error: Exception,
) -> Arguments:
    text = finder.text
    is_bracket = text[span.start] in "{["
    scan = scan_json(text, span.start, finder.stop) if is_bracket else None
    if scan is not None and scan.status is CallStatus.COMPLETE and scan.span.stop > span.stop:
        # The first marker was inside a string: the JSON continues after it.
        after = finder.first(markers, scan.span.stop)
        if after is None or trim_span(text, scan.span.stop, after.start) == Span(scan.span.stop, scan.span.stop):
            return _judge(text, scan.span, scan.value, after, closing, is_cut=is_cut)
    if scan is not None and scan.status is CallStatus.COMPLETE and (hit is None or hit.marker not in closing):
        # Nothing closes the call: its JSON says where it ends.
        return _judge(text, scan.span, scan.value, None, closing, is_cut=is_cut and not text[scan.span.stop :].strip())
    problem = explain_json_error(error)
    if scan is not None:
        problem = (
            explain_break(text, scan, finder.stop)
            or f"text follows the arguments: {text[scan.span.stop : span.stop][:40]!r}"
        )
    if hit is None and (scan is None or scan.status is CallStatus.TRUNCATED):
        return Arguments(span, None, CallStatus.TRUNCATED, f"cut inside the arguments: {problem}", finder.stop)
    return Arguments(span, None, CallStatus.MALFORMED, problem, _stop(span, hit, closing, finder.stop))


def _judge(text: str, span: Span, value: JSON, hit: Hit | None, closing: tuple[str, ...], *, is_cut: bool) -> Arguments:
    stop = _stop(span, hit, closing, span.stop)
    arguments, problem = object_from_value(value)
    if hit is None and ((is_cut and closing) or span.start == span.stop):
        return Arguments(span, arguments, CallStatus.TRUNCATED, "cut before its closing marker", stop)
    if closing and hit is not None and hit.marker not in closing and span.start == span.stop:
        return Arguments(span, None, CallStatus.MALFORMED, "it has no arguments", stop)
    if closing and (hit is None or hit.marker not in closing):
        problem = problem or f"its closing marker {closing[0]!r} is missing"
    status = CallStatus.MALFORMED if arguments is None else CallStatus.COMPLETE
    return Arguments(span, arguments, status, problem, stop)


def _stop(span: Span, hit: Hit | None, closing: tuple[str, ...], otherwise: int) -> int:
    if hit is None:
        return otherwise
    return hit.stop if hit.marker in closing else max(span.stop, span.start)
