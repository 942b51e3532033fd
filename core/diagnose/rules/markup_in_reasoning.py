"""Markup is in the reasoning of the answer.

What it finds:
    Where no raw output is known: in the reasoning field, the tag that closes reasoning, or
    a marker of calls or turns that no sentence mentions and that is not in the request. A
    complete call there has a separate rule.

Why it matters:
    The reasoning parser missed where reasoning ends: what follows the marker is the answer,
    or a call that is never executed.

Bad:
    `"reasoning": "They ask for the weather.</think>15 °C."`, content null

Good:
    `"reasoning": "They ask for the weather.", "content": "15 °C."`

Source:
    tracker: vllm-project/vllm#31581.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.calls.written_calls import written_calls
from prompt_debugger.core.diagnose.fields import body_of, content_of, reasoning_of, returned_calls, texts_inside
from prompt_debugger.core.diagnose.leftovers import ends_at_tail, repeated_token
from prompt_debugger.core.diagnose.markers import find_used_markers
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message
from prompt_debugger.core.formats import TABLES

_CLOSERS = tuple(
    pair.closer.strip() for pair in TABLES.reasoning_pairs if pair.closer.strip().startswith(("<", "[", "◁"))
)

_MIN_WORDS = 6  # of a thought that goes on
_SAID_AGAIN = 60  # characters of content that are looked for after the marker


def find(trace: Trace) -> Iterator[Report]:
    """Report the first marker of reasoning."""
    reasoning = None if trace.chat is None or trace.parse is not None else reasoning_of(trace.chat.message)
    if reasoning is None or repeated_token(reasoning.text) is not None:
        return
    text = reasoning.text
    asked = "\n".join(texts_inside(body_of(trace)))
    ends = [end.span for end in ends_at_tail(text)]
    at, closer = min(((text.find(one), one) for one in _CLOSERS if one in text), default=(-1, ""))
    used = (span for span in find_used_markers(text) if not any(a <= span.start < b for a, b in ends))
    span = Span(at, at + len(closer)) if at >= 0 and text[at - 1 : at] not in ("`", "'", '"') else next(used, None)
    if span is None or text[slice(*span)] in asked or any(True for _ in written_calls(trace, text)):
        return
    if span.start != at and any(call.name and call.name in text[span.stop :] for call in returned_calls(trace)):
        return  # a draft of a call that was returned
    answer = (content_of(trace.chat.message) or "").strip()[:_SAID_AGAIN] if trace.chat is not None else ""
    if answer and answer in text[span.stop :]:
        return  # a transcript of all that was done; the answer is in content as well
    marker = text[slice(*span)]
    if answer and _is_told(marker, text[: span.start], text[span.stop :]):
        return
    yield Report(
        title=f"The marker `{marker}` is in {reasoning.field}.",
        detail=(
            f"At character {span.start} of {len(text)}, followed by {text[span.stop : span.stop + 60]!r}: the "
            "reasoning parser read past it."
        ),
        evidence=(in_message(reasoning.field, marker, span),),
        fix=(
            "Check the server's reasoning parser: it must be the one for the model's family, and account for "
            "whether the prompt opens the block. What follows the marker is the answer."
        ),
        certainty=Certainty.INFERRED,
    )


def _is_told(marker: str, before: str, after: str) -> bool:
    """Return whether a marker stands within a sentence on what was done: closed, with prose before and after it."""
    closer = f"</{marker[1:]}"
    _, end, rest = after.partition(closer)
    return marker.startswith("<") and bool(end) and before.rstrip().endswith(":") and len(rest.split()) >= _MIN_WORDS


RULE: Rule = TraceRule(
    code="PD458",
    name="markup-in-reasoning",
    severity=Severity.WARNING,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.ANSWER,
    threads=("vllm-project/vllm#31581",),
)
