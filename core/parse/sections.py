"""Mark calls that are outside the section that their family writes around calls.

    <｜DSML｜function_calls> … </｜DSML｜function_calls>

They are read all the same; parsers that begin at the section's marker do not see them.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, Span, ToolCallAttempt
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.parse.reading import CallScanner, Scan


def in_sections(scan: CallScanner, opener: re.Pattern[str], closer: re.Pattern[str], name: str) -> CallScanner:
    """Return a scanner that marks complete and open calls without the section around them.

    Args:
        scan: Finds calls and, as markup, the markers of sections.
        opener: A marker that opens a section.
        closer: One that closes it.
        name: The opening marker as a sentence names it, in back-ticks.
    """
    missing = f"{name} before it is missing"

    def scan_in_sections(text: str, region: Span, context: ReadContext) -> Scan:
        found = scan(text, region, context)
        if not found.calls:
            return found
        opens = _sections(text, found, opener, closer)
        starts = [start for start, _ in opens]

        def is_inside(call: ToolCallAttempt) -> bool:
            last = bisect_right(starts, call.char_span.start) - 1
            return opener.match(text, call.char_span.start) is not None or (last >= 0 and opens[last][1])

        return replace(found, calls=tuple(call if is_inside(call) else _outside(call, missing) for call in found.calls))

    return scan_in_sections


def _sections(text: str, found: Scan, opener: re.Pattern[str], closer: re.Pattern[str]) -> list[tuple[int, bool]]:
    """Return where sections open and close, in order."""
    places = {}
    for span in found.markup:
        for pattern, opens in ((opener, True), (closer, False)):
            for match in pattern.finditer(text, *span):
                places[match.start()] = opens
    return sorted(places.items())


def _outside(call: ToolCallAttempt, missing: str) -> ToolCallAttempt:
    if call.status is CallStatus.TRUNCATED:  # it departs twice: at its beginning as well as at its end
        return replace(call, problem="; ".join(filter(None, (call.problem, missing))))
    if call.status is not CallStatus.COMPLETE:
        return call
    return replace(call, deviation="; ".join(filter(None, (call.deviation, missing, call.problem))))
