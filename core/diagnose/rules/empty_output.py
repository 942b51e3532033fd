"""The model ended its turn at once: it wrote nothing.

What it finds:
    Raw output that contains only end tokens and whitespace; or one of no text and a
    single id, which ended with `stop`.

Why it matters:
    The message is empty and looks as if a parser had lost it. The model had nothing to say
    there, which usually means that the prompt was already finished: no generation prompt,
    or a doubled one.

Bad:
    Raw `<|im_end|>`, message `{"content": ""}`

Good:
    Raw `15 °C.<|im_end|>`

Source:
    tracker: ollama/ollama#14958.
    derived: an end token is not text.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.comparable import KEEPS_TOKENS
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Completeness, SegmentKind, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, end_texts, in_raw, prompt_of

_TITLE = "The model ended its turn at once: it wrote nothing."
_FIX = "Check the end of the prompt: it should open the assistant's turn, once."


def find(trace: Trace) -> Iterator[Report]:
    """Report an output without any text."""
    if trace.raw is None or _is_an_end_alone(trace):
        return
    if trace.raw.completeness is Completeness.UNKNOWN and trace.raw.token_ids is None:
        return
    text = trace.raw.text
    for end in end_texts(trace):
        text = text.replace(end, "")
    if trace.parse is not None and all(s.kind is SegmentKind.END for s in trace.parse.parsed.segments):
        text = ""
    # Without ids a server that gave no text may simply not show it.
    if text.strip() or (trace.raw.token_ids is None and not trace.raw.text):
        return
    ids = trace.raw.token_ids
    if not trace.raw.text and ids is not None and prompt_of(trace) is None:
        # Ids that were printed without any text may have been decoded by no one; a single one that ended the output
        # is an end token.
        if len(ids) != 1 or trace.raw.finish_reason != "stop":
            return
        yield Report(
            title=_TITLE,
            detail=f"Its only token has the id {ids[0]}, and the output ended with `stop`.",
            evidence=(in_raw(trace, Span(0, 0)),),
            fix=_FIX,
        )
        return
    yield Report(
        title=_TITLE,
        detail=f"The raw output is {trace.raw.text!r}.",
        evidence=(in_raw(trace, Span(0, len(trace.raw.text))),),
        fix=_FIX,
    )


def _is_an_end_alone(trace: Trace) -> bool:
    """Return whether the output was copied alone: then it may be the end of one that was longer."""
    is_pasted = trace.raw is not None and trace.raw.completeness_reason == KEEPS_TOKENS
    return is_pasted and prompt_of(trace) is None


RULE: Rule = TraceRule(
    code="PD303",
    name="empty-output",
    severity=Severity.WARNING,
    stage=Stage.COMPLETE,
    find=find,
    needs=TracePart.RAW,
    reads_stripped=True,
    threads=("ollama/ollama#14958",),
)
