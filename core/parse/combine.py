"""Two scanners for one family, for when it writes its calls in two notations."""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, Span, ToolCallAttempt
from prompt_debugger.core.parse.reading import CallScanner, Scan


def scan_both(first: CallScanner, second: CallScanner) -> CallScanner:
    """Return a scanner that reads by `first`, and what is left between its calls by `second`.

    Markup that the second one takes for part of a call no longer counts as markup.
    """

    def scan(text: str, region: Span, context: ReadContext) -> Scan:
        found = first(text, region, context)
        calls = list(found.calls)
        markup = list(found.markup)
        for gap in _gaps(region, found.calls):
            more = second(text, gap, context)
            # What seems cut before another call is only where that call's own markup begins.
            fresh = [call for call in more.calls if call.status is CallStatus.COMPLETE or gap.stop == region.stop]
            if not fresh:
                continue
            calls += fresh
            taken = [*(call.char_span for call in fresh), *more.markup]
            markup = [span for span in markup if not any(_overlap(span, other) for other in taken)]
            markup += more.markup
        calls.sort(key=lambda call: call.char_span)
        return Scan(tuple(calls), tuple(sorted(markup)))

    return scan


def _gaps(region: Span, calls: tuple[ToolCallAttempt, ...]) -> list[Span]:
    starts = [region.start, *(call.char_span.stop for call in calls)]
    stops = [*(call.char_span.start for call in calls), region.stop]
    return [Span(start, stop) for start, stop in zip(starts, stops, strict=True) if start < stop]


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.stop and other.start < one.stop
