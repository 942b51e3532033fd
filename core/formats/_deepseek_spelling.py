"""DeepSeek's markers as some templates and terminals spell them: `|` for `｜`, a space for `▁`.

    <|tool▁calls▁begin|>      <|tool calls begin|>      for      <｜tool▁calls▁begin｜>

They are as long, so that places stay what they are. A text that has markers in their own spelling is left alone:
there, another spelling is text.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, Span
from prompt_debugger.core.parse.reading import CallScanner, Scan

_OTHER = re.compile(r"<\|(tool[▁ ](?:calls?[▁ ](?:begin|end)|sep))\|>")
_SAID = "its markers are written with `|` in place of `｜`, or with spaces"


def own_spelling(raw: str) -> str:
    """Return a text with DeepSeek's markers in their own spelling; the same text where there is nothing to change."""
    if "<|tool" not in raw or "<｜tool" in raw:
        return raw
    return _OTHER.sub(lambda found: f"<｜{found[1].replace(' ', '▁')}｜>", raw)


def in_any_spelling(scan: CallScanner) -> CallScanner:
    """Return a scanner that also finds calls whose markers are spelled otherwise, and says so of complete ones."""

    def scan_any(text: str, region: Span, context: ReadContext) -> Scan:
        own = own_spelling(text)
        found = scan(own, region, context)
        if own is text:
            return found
        calls = tuple(
            replace(call, deviation=_SAID) if call.status is CallStatus.COMPLETE and call.deviation is None else call
            for call in found.calls
        )
        return replace(found, calls=calls)

    return scan_any
