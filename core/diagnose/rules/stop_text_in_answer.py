r"""The answer contains a stop text of its request, and goes on after it.

What it finds:
    A text of the request's `stop` in the content of the answer, with more text after
    it. Silent where the request forbids an early end (`min_tokens`, `ignore_eos`).

Why it matters:
    Whatever follows was not wanted: agents that read one step at a time get the
    next one invented, and the answer costs more.

Bad:
    `"stop": ["Observation:"]`, content `Action: find\nObservation: 3 rivers\nThought: …`

Good:
    `"stop": ["Observation:"]`, content `Action: find`

Source:
    tracker: ollama/ollama#295.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_list
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import FindingEvidence, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fields import body_of
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_request
from prompt_debugger.core.formats import CONTROL_TOKEN

_QUOTED = 60


def find(trace: Trace) -> Iterator[Report]:
    """Look for the stop texts of the request in the content."""
    body = body_of(trace)
    result = trace.chat if trace.chat is not None else trace.chat_stream
    content = None if result is None else result.message.get("content")
    if not isinstance(content, str) or body.get("min_tokens") or body.get("ignore_eos"):
        return
    stops = body.get("stop")
    for stop in [stops] if isinstance(stops, str) else as_list(stops):
        at = content.find(stop) if isinstance(stop, str) and stop else -1
        if not isinstance(stop, str) or at < 0 or CONTROL_TOKEN.fullmatch(stop.strip()):
            continue  # other rules report an end token as text
        end = at + len(stop)
        if not content[end:].strip():
            continue  # which some servers leave at the end
        yield Report(
            title=f"The answer goes on after {stop[:40]!r}, a stop text of the request.",
            detail=f"It is at character {at} of the content, and {content[end : end + _QUOTED]!r} follows: the server "
            "did not stop there.",
            evidence=(
                FindingEvidence("message", char_span=Span(at, end), field="content", quote=content[at : end + _QUOTED]),
                in_request("stop", stop),
            ),
            fix=(
                Step("Check that the server, and a gateway before it, take `stop` from this field; update them."),
                Step("Until then cut the answer at the first stop text in the client."),
            ),
        )
        return


RULE: Rule = TraceRule(
    code="PD327",
    name="stop-text-in-answer",
    severity=Severity.WARNING,
    stage=Stage.COMPLETE,
    find=find,
    needs=TracePart.RESULT,
    stands_in_part=True,
    threads=("ollama/ollama#295",),
)
