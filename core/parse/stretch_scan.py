"""What every scanner of one stretch carries along: the text, searches in it, and what was found."""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import Span, ToolCallAttempt
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.scan import Finder, QuoteGuard, stops_of
from prompt_debugger.core.parse.tools import tool_names


class StretchScan:
    """State of one scan; the families' scanners derive from it and fill calls and markup."""

    def __init__(self, text: str, region: Span, context: ReadContext) -> None:
        self._text = text
        self._region = region
        self._context = context
        self._finder = Finder(text, region.stop)
        self._guard = QuoteGuard(text, region.start, region.stop)
        self._names = tool_names(context.tools)
        self._stops = stops_of(context.ends)
        self._is_cut = context.finish_reason == "length"
        self._calls: list[ToolCallAttempt] = []
        self._markup: list[Span] = []

    def _found(self) -> Scan:
        return Scan(tuple(self._calls), tuple(self._markup))
