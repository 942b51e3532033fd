"""What is true of a run on a real server, found without this program's own reading, and what it must not say."""

from __future__ import annotations

import json
from typing import Any

from prompt_debugger.core.base.types import Severity, Trace

_PARIS = ("get_weather", {"city": "Paris"})
EXPECTED_CALLS = {
    "healthy": [_PARIS],
    "parallel": [("get_weather", {"city": "Rome"}), ("get_weather", {"city": "Oslo"})],
    "prose": [],
    "dropped": [_PARIS],
}


def returned_calls(trace: Trace) -> list[tuple[str, object]]:
    """Return the calls of the message as a client reads them."""
    assert trace.chat is not None
    calls: Any = trace.chat.message.get("tool_calls") or []
    return [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls]


def errors_of(trace: Trace) -> list[str]:
    """Return the findings of severity error."""
    return [f"{finding.code} {finding.title}" for finding in trace.findings if finding.severity is Severity.ERROR]


def assert_healthy(trace: Trace) -> None:
    """Nothing is wrong with a run, so nothing may be said to be."""
    verdict = trace.verdict
    assert verdict is not None
    assert errors_of(trace) == []
    assert verdict.stage is None, verdict.sentence
    assert (verdict.dropped_calls, verdict.altered_calls, verdict.invented_calls) == (0, 0, 0)


def assert_loss_is_not_denied(trace: Trace) -> None:
    """A call was written and is not in the message: it is said, or said to be unknown; never that all is well."""
    verdict = trace.verdict
    assert verdict is not None
    assert "Nothing lost" not in verdict.sentence
    assert verdict.dropped_calls or "is unknown" in verdict.sentence or errors_of(trace), verdict.sentence
    assert verdict.invented_calls == 0
