"""Somebody tells that a call came as text, and does not show the answer.

What it finds:
    A pasted report without an answer, an output or an error, one of whose sentences says
    that a call was returned as text, in content, or as JSON in place of a call. Silent
    about what should happen, what a prompt teaches, and what was mended.

Why it matters:
    The server, or what is between it and the client, took no call out of the output. In
    which notation it stands is only seen in the text itself.

Bad:
    *The tool call comes back as plain text in `content`, and `tool_calls` is empty.*

Good:
    the answer itself, pasted as it came

Source:
    tracker: Podden/openwebui_anthropic_api_manifold_pipe#35, cline/cline#5683.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.bare_lists import model_names
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.told_calls import TOLD
from prompt_debugger.core.diagnose.trace_queries import quote
from prompt_debugger.core.diagnose.unparsed_calls import family_of_model, have_parsed

_SHOW = Step(
    "Ask the server itself once, without the client or gateway in between: if the call is in `tool_calls` there, the "
    "part in between loses it. Paste that answer: the notation of the call in it names the parser."
)


def find(trace: Trace) -> Iterator[Report]:
    """Report what the notes tell."""
    told = [note.removeprefix(TOLD) for note in trace.notes if note.startswith(TOLD)]
    if not told or trace.chat is not None or trace.raw is not None or trace.refusal is not None:
        return
    families = [found for name in model_names(trace) if (found := family_of_model(name)) is not None]
    yield Report(
        title="According to the report, a tool call came as text instead of in `tool_calls`; the answer is not shown.",
        detail="The model wrote a call, and nothing parsed it: the server has no parser for this model's notation, or "
        "none is switched on, or the model wrote another notation than its own. This is inferred from what the text "
        f"says: {' '.join(told)}",
        evidence=tuple(FindingEvidence("server", quote=quote(one)) for one in told),
        fix=(*have_parsed(trace, families[0] if families else "generic"), _SHOW),
        certainty=Certainty.INFERRED,
    )


RULE: Rule = TraceRule(
    code="PD469",
    name="call-told-as-text",
    severity=Severity.WARNING,
    stage=Stage.PARSE,
    find=find,
    threads=("cline/cline#5683",),
)
