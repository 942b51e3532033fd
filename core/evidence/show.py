"""Evidence → a run as far as it goes: the stages that it allows, and no server is asked."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace

from prompt_debugger.core.base.types import Completeness, Completion, JSONObject, Parse, Request, Trace
from prompt_debugger.core.evidence.forms import Intake
from prompt_debugger.core.formats import CONTROL_TOKEN
from prompt_debugger.core.pipeline.diagnosis import checked_steps
from prompt_debugger.core.pipeline.reading import read_run
from prompt_debugger.core.sandbox import sandbox_of


async def show_evidence(intake: Intake) -> Trace:
    """Return what can be said of pasted evidence.

    Args:
        intake: With a raw output, an answer, or a run that was saved, which is returned as it is.

    Raises:
        SandboxError: Reading it takes too much.
    """
    return intake.run if intake.run is not None else await read_trace(_trace_of(intake))


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


def _trace_of(intake: Intake) -> Trace:
    body: JSONObject = {"tools": list(intake.tools)} if intake.tools else {}
    request = intake.request or Request(body, "")
    raw = None if intake.raw is None else _completion(intake)
    return Trace(request, notes=("Pasted: no server was asked.", *intake.notes), raw=raw, chat=intake.chat)


def _completion(intake: Intake) -> Completion:
    """Return the raw output; it counts as whole if control tokens stand in it, or if its message came with it."""
    raw = Completion(intake.raw or "", None, intake.finish_reason)
    if intake.chat is not None or CONTROL_TOKEN.search(raw.text):
        return raw
    reason = "no control token stands in it, and who copied it may have copied what a server shows"
    return replace(raw, completeness=Completeness.UNKNOWN, completeness_reason=reason)
