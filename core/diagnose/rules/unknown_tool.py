"""The answer calls a tool that the request does not offer.

What it finds:
    A returned call whose name is none of the request's tools. Silent where the
    request has no tools. Names that contain markers, and calls without a name, have separate
    rules. Of the last
    call of an output that a limit ended, a beginning of an offered name counts as cut.

Why it matters:
    The agent has nothing to execute. Some servers drop these calls silently, others pass
    them on; vLLM returns a call that was cut inside its name with the arguments `{}` and
    the finish reason `tool_calls`.

Bad:
    Tools `View`, `Edit`; call to `Read`.

Good:
    A call to a tool of the request.

Source:
    tracker: sgl-project/sglang#40817, vllm-project/vllm#15931.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.comparable import REQUEST_GAP
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Stage, Trace
from prompt_debugger.core.diagnose.calls.broken_arguments import NAME_NOT_COPIED
from prompt_debugger.core.diagnose.calls.cut_names import CutName, cut_name
from prompt_debugger.core.diagnose.fields import body_of, request_tools, returned_calls
from prompt_debugger.core.diagnose.markers import has_marker
from prompt_debugger.core.diagnose.near_names import MAX_ASKED, closest
from prompt_debugger.core.diagnose.output_limit import more_output
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message
from prompt_debugger.core.diagnose.words import listed


def find(trace: Trace) -> Iterator[Report]:
    """Report every returned call to a tool that is not offered."""
    known = [tool.name for tool in request_tools(trace.request)]
    settled = {*known, NAME_NOT_COPIED}  # by a paste of arguments alone
    if not known or not body_of(trace).get("tools") or REQUEST_GAP in trace.notes:
        return
    reported = 0
    cut = cut_name(trace)
    for call in returned_calls(trace):
        if not call.name or call.name in settled or has_marker(call.name):
            continue
        field = f"{call.field}.function.name"
        if cut is not None and call == cut.call:
            yield _cut(trace, cut, field)
            continue
        near = _nearest(call.name, known) if reported < MAX_ASKED else None
        reported += 1
        yield Report(
            title=f"The answer calls `{call.name}`, which the request does not offer.",
            detail=f"Offered: {listed(known, 8)}." + (f" Closest: `{near}`." if near else ""),
            evidence=(in_message(field, call.name),),
            fix="Send an error as the tool's result that names the offered tools"
            + (f", or map the name to `{near}`." if near else "."),
        )


def _cut(trace: Trace, cut: CutName, field: str) -> Report:
    return Report(
        title=f"The call to `{cut.call.name}` was cut inside its name.",
        detail=f"Cut because {cut.reason}. Offered tools that begin so: {listed(cut.begun, 8)}.",
        evidence=(in_message(field, cut.call.name),),
        fix=f"Do not execute this call and do not replay it in the history. {more_output(trace).text}",
        stage=Stage.COMPLETE,
        certainty=Certainty.INFERRED,
    )


def _nearest(name: str, known: list[str]) -> str | None:
    bare = name.rpartition(".")[2].rpartition(":")[0] or name.rpartition(".")[2]
    if bare in known:
        return bare
    return closest(name, known)


RULE: Rule = TraceRule(
    code="PD501",
    name="unknown-tool",
    severity=Severity.ERROR,
    stage=Stage.CONTRACT,
    find=find,
    needs=TracePart.ANSWER,
    threads=("sgl-project/sglang#40817", "vllm-project/vllm#15931"),
)
