"""Two scanners for one family: whose markup stays markup."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, Place, Span, ToolCallAttempt
from prompt_debugger.core.parse.combine import scan_both
from prompt_debugger.core.parse.reading import Scan

TEXT = "0123456789"


def call(start: int, stop: int, status: CallStatus = CallStatus.COMPLETE) -> ToolCallAttempt:
    return ToolCallAttempt("f", "{}", {}, None, status, Place.BODY, Span(start, stop))


def both(first: Scan, second: Scan) -> Scan:
    def scan_second(text: str, region: Span, context: ReadContext) -> Scan:
        inside = [one for one in second.calls if region.start <= one.char_span.start < region.stop]
        return Scan(tuple(inside), second.markup if inside else ())

    scanner = scan_both(lambda text, region, context: first, scan_second)
    return scanner(TEXT, Span(0, len(TEXT)), ReadContext())


@pytest.mark.parametrize(
    ("markup", "stays"),
    [
        (Span(0, 3), True),  # ends where the second scanner's call begins
        (Span(7, 9), True),  # begins where it ends
        (Span(2, 4), False),
        (Span(6, 8), False),
        (Span(4, 6), False),
        (Span(2, 8), False),
        (Span(5, 5), False),  # without width, inside it
        (Span(3, 3), True),  # without width, at its edge
        (Span(7, 7), True),
    ],
)
def test_markup_that_only_meets_a_call_stays_markup(markup: Span, stays: bool) -> None:
    found = both(Scan((), (markup,)), Scan((call(3, 7),), ()))

    assert found == Scan((call(3, 7),), (markup,) if stays else ())


def test_the_second_scanner_reads_between_the_calls_of_the_first() -> None:
    found = both(Scan((call(0, 2), call(6, 8)), (Span(8, 9),)), Scan((call(3, 5), call(9, 10)), ()))

    assert [one.char_span for one in found.calls] == [(0, 2), (3, 5), (6, 8), (9, 10)]
    assert found.markup == (Span(8, 9),)


def test_what_seems_cut_before_another_call_is_none() -> None:
    cut = call(3, 5, CallStatus.TRUNCATED)

    assert both(Scan((call(6, 8),), ()), Scan((cut,), (Span(3, 4),))) == Scan((call(6, 8),), ())
    assert both(Scan((), ()), Scan((cut,), (Span(3, 4),))) == Scan((cut,), (Span(3, 4),))
