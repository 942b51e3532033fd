"""A time of day near the start of the prompt makes every prompt different.

What it finds:
    A clock time that the template prints (by `strftime_now`), or that the
    system message states as the current time, with a long prompt after it.

Why it matters:
    Servers reuse the work for a prompt up to the first token that differs.
    With the time at the front, nothing after it is ever reused: every turn
    costs the whole prompt again.

Bad:
    `{"role": "system", "content": "Current date and time: 06:00:31 PM. …"}`

Good:
    The date alone, or the time in the last user message.

Source:
    tracker: earendil-works/pi#2013, ollama/ollama#18431.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Prompt, Severity, Span, SpanKind, Stage, Trace
from prompt_debugger.core.diagnose.fields import message_texts
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_prompt, prompt_of

_TIME = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?\b")
_STATED = re.compile(
    r"(?i)\b(?:current|present|local|today'?s?|now)\b[^.\n]{0,40}?(?P<time>\b\d{1,2}:\d{2}(?::\d{2})?\b)"
)
_AFTER = 4000  # characters whose reuse is worth a word


def find(trace: Trace) -> Iterator[Report]:
    """Report the first such time."""
    prompt = prompt_of(trace)
    if prompt is None:
        return
    found = next(_times(trace, prompt), None)
    if found is None or len(prompt.text) - found.stop < _AFTER:
        return
    share = round(100 * (len(prompt.text) - found.start) / len(prompt.text))
    yield Report(
        title=f"The time of day at character {found.start} changes {share} % of the prompt with every request.",
        detail=(
            f"The prompt contains {prompt.text[found.start : found.stop]!r}; {len(prompt.text) - found.stop} "
            "characters follow it."
        ),
        evidence=(in_prompt(prompt, found),),
        fix="State the date without the time, fix the clock, or move the time to the last user message.",
    )


def _times(trace: Trace, prompt: Prompt) -> Iterator[Span]:
    for span in prompt.spans:
        if span.kind is SpanKind.ENVIRONMENT:
            match = _TIME.search(prompt.text, *span.char_span)
            if match is not None:
                yield Span(*match.span())
    for text in message_texts(trace.request):
        match = _STATED.search(text.text) if text.role in ("system", "developer") else None
        start = prompt.text.find(match.group()) if match is not None else -1
        if match is not None and start >= 0:
            yield Span(start + match.start("time") - match.start(), start + match.end("time") - match.start())


RULE: Rule = TraceRule(
    code="PD214",
    name="volatile-prefix",
    severity=Severity.NOTE,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("earendil-works/pi#2013", "ollama/ollama#18431"),
)
