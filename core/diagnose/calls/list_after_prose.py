"""Calls in a Python list that end a text after other text: vLLM's parsers read such a list only where it is alone.

Let me look that up. [get_weather(city="Paris")]
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, Certainty, FindingEvidence, Severity, Span, ToolCallAttempt
from prompt_debugger.core.diagnose.rules.base import Report
from prompt_debugger.core.formats import FORMATS

_PYTHON_LIST = re.compile(r"\[\s{0,8}[A-Za-z_][\w.]{0,80}\((?=[A-Za-z_]\w{0,60}\s?=)")
_MAX_LISTS = 8
TO_GET_A_LIST = (
    "Tell the model in the system message to answer either with only the list or in words; `tool_choice` as "
    "`required` keeps words out. Another parser of vLLM does not help with this notation."
)


def calls_after_prose(text: str) -> tuple[ToolCallAttempt, ...]:
    """Return the calls of a list in Python's notation that ends a text, where other text precedes it; else none."""
    written = text.rstrip()
    if not written.endswith("]"):
        return ()
    for found in islice(_PYTHON_LIST.finditer(written), _MAX_LISTS):
        at = found.start()
        parsed = FORMATS["pythonic"].read(written[at:], ReadContext(finish_reason="stop"))
        are_whole = parsed.calls and all(call.status is CallStatus.COMPLETE for call in parsed.calls)
        if are_whole and not (parsed.content or "").strip():
            shifted = (
                replace(call, char_span=Span(call.char_span.start + at, call.char_span.stop + at))
                for call in parsed.calls
            )
            return tuple(shifted) if written[:at].strip() else ()
    return ()


def report_after_prose(where: str, calls: tuple[ToolCallAttempt, ...], evidence: tuple[FindingEvidence, ...]) -> Report:
    """Return what to say of such calls.

    Args:
        where: What ends with them, as the beginning of a sentence.
        calls: At least one.
        evidence: Where they are.
    """
    names = ", ".join(f"`{call.name}`" for call in calls[:6])
    subject = "a call" if len(calls) == 1 else "calls"
    return Report(
        title=f"{where} ends with {subject} to {names} as a Python list, after other text.",
        detail="vLLM's parsers for this notation (`pythonic`, `llama4_pythonic`) read a list only where it is the "
        "whole output: with words before it, all of it stays text.",
        evidence=evidence,
        fix=TO_GET_A_LIST,
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )
