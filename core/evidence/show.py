"""Evidence → a run as far as it goes: the stages that it allows, and no server is asked."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace

from prompt_debugger.core.base.types import Parse, Trace
from prompt_debugger.core.evidence.evidence import Evidence, trace_of
from prompt_debugger.core.pipeline.diagnosis import checked_steps
from prompt_debugger.core.pipeline.reading import read_run
from prompt_debugger.core.sandbox import sandbox_of


async def show_evidence(evidence: Evidence) -> Trace:
    """Return what can be said of pasted evidence.

    Args:
        evidence: With a raw output, an answer, or a run that was saved, which is returned as it is.

    Raises:
        SandboxError: Reading it takes too much.
    """
    return evidence.run if evidence.run is not None else await read_trace(trace_of(evidence))


async def read_trace(trace: Trace) -> Trace:
    """Return a run whose answers are there with all that can be said of them; no server is asked.

    Raises:
        SandboxError: Reading it takes too much.
    """
    async with aclosing(checked_steps(sandbox_of().stream(read_run, trace, frozenset()), lambda: trace)) as steps:
        async for step in steps:
            if isinstance(step, Parse):
                trace = replace(trace, parse=step)
            else:
                notes = (*trace.notes, *step.notes)
                trace = replace(trace, findings=step.findings, verdict=step.verdict, notes=notes)
    return trace
