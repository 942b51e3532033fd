"""Evidence → a run as far as it goes: the stages that it allows, and no server is asked."""

from __future__ import annotations

from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.diagnose.verdict import is_nothing_wrong
from prompt_debugger.core.evidence.evidence import Evidence, trace_of
from prompt_debugger.core.pipeline.diagnosis import read_trace


async def show_evidence(evidence: Evidence) -> Trace:
    """Return what can be said of pasted evidence.

    Args:
        evidence: With a raw output, an answer, or a run that was saved, which is returned as it is. Of several
            answers the first is shown in which something is wrong.

    Raises:
        SandboxError: Reading it takes too much.
    """
    if evidence.run is not None:
        return evidence.run
    trace = await read_trace(trace_of(evidence))
    for other in evidence.others if is_nothing_wrong(trace.findings) else ():
        shown = await read_trace(trace_of(other))
        if not is_nothing_wrong(shown.findings):
            return shown
    return trace
