"""The model wrote a call to a tool that the request does not offer.

What it finds:
    Where there is no message: a call of the raw output whose name is none of
    the request's tools, with the closest that is. With a message, the returned
    calls are checked (PD501).

Why it matters:
    Some servers drop such a call silently, others pass it on to a client that
    has no such tool.

Bad:
    Tools `view`, written `Read`

Good:
    A name as the request spells it.

Source:
    tracker: sgl-project/sglang#40817, vllm-project/vllm#15931.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import request_tools
from prompt_debugger.core.diagnose.markers import has_marker
from prompt_debugger.core.diagnose.near_names import MAX_ASKED, closest
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, body_calls, in_raw
from prompt_debugger.core.diagnose.words import listed


def find(trace: Trace) -> Iterator[Report]:
    """Compare the names of written calls with the tools."""
    known = [tool.name for tool in request_tools(trace.request)]
    if trace.chat is not None or not known:
        return
    offered = {*known}
    reported = 0
    for _, call in body_calls(trace):
        if call.name is None or call.name in offered or has_marker(call.name):
            continue
        near = closest(call.name, known) if reported < MAX_ASKED else None
        reported += 1
        yield Report(
            title=f"The model wrote a call to `{call.name}`, which the request does not offer.",
            detail=f"Offered: {listed(known, 8)}." + (f" Closest: `{near}`." if near else ""),
            evidence=(in_raw(trace, call.name_span or call.char_span),),
            fix="Send an error as the tool's result that names the offered tools"
            + (f", or map the name to `{near}`." if near else "."),
        )


RULE: Rule = TraceRule(
    code="PD515",
    name="written-unknown-tool",
    severity=Severity.ERROR,
    stage=Stage.CONTRACT,
    find=find,
    needs=TracePart.RAW,
    threads=("sgl-project/sglang#40817", "vllm-project/vllm#15931"),
    reads_stripped=True,
)
