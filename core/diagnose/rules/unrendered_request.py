"""The chat template refused the messages, or could not be rendered.

What it finds:
    An error from rendering the prompt: a guard that the template raises itself (roles out
    of order, ids in another form), a field that the template reads and the messages lack,
    or a function that the server's template engine does not have. For known guards, the
    messages that trip them are named by index.

Why it matters:
    There was no prompt, so the model read nothing. The same request renders with another
    model, another engine or another template, so the question is whether these belong
    together.

Bad:
    Two consecutive user messages, for a template whose turns alternate.

Good:
    The two joined into one message.

Source:
    publisher: the chat templates of Mistral, Llama and Qwen; jinja2.
    tracker: vllm-project/vllm#6862, EleutherAI/lm-evaluation-harness#2109.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.refusals.understand import understand
from prompt_debugger.core.diagnose.refusals.words import (
    evidence_of,
    explanation,
    heading,
    links_of,
    named_field,
    remedy_of,
    spots,
    title_words,
)
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart
from prompt_debugger.core.known_errors import Cause

_SUBJECTS = {
    Cause.REQUEST: "The chat template refused the messages",
    Cause.SETTING: "The chat template does not fit",
}
_FAILED = "The prompt could not be rendered"
_FIX = (
    "Render the request here (`render REQUEST --chat-template FILE`): this reports the line of the "
    "template and what is there."
)


def find(trace: Trace) -> Iterator[Report]:
    """Report what the template or its engine says."""
    if trace.refusal is None:
        return
    understood = understand(trace.refusal)
    if understood.stage is not Stage.RENDER:
        return
    found = spots(trace, understood)
    subject = _SUBJECTS.get(understood.cause, "The chat template failed")
    if understood.known is not None and understood.cause is Cause.CLIENT:
        subject = understood.known.error.subject
    if understood.known is None:
        subject = _FAILED if understood.classified is None else understood.classified.error.subject
    yield Report(
        title=f"{subject}: {title_words(understood)}.",
        detail=f"{heading(trace.refusal, trace.refusal.field)} {explanation(understood, found)}",
        evidence=evidence_of(trace, understood, found, named_field(understood)),
        fix=remedy_of(understood) or _FIX,
        certainty=understood.certainty,
        links=links_of(understood),
    )


RULE: Rule = TraceRule(
    code="PD221",
    name="unrendered-request",
    severity=Severity.ERROR,
    stage=Stage.RENDER,
    find=find,
    stands_in_part=True,
    needs=TracePart.REFUSAL,
    threads=("vllm-project/vllm#6862", "EleutherAI/lm-evaluation-harness#2109"),
)
