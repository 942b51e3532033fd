"""The parser failed and nothing of the turn is left.

What it finds:
    A raw output with text or calls, and an answer without any: an error instead, or a
    message with no content, no reasoning and no tool call although text was also written.
    The server's message is quoted. If only calls are missing and there is no error, they
    are dropped calls (PD401).

Why it matters:
    The generation was fine; the client sees an empty message or HTTP 500 and
    retries, or ends the run.

Bad:
    Raw `Let me look.<tool_call>…`, answer 500 `Failed to parse input at pos 12`

Good:
    What could be read is returned, the rest as content.

Source:
    tracker: ggml-org/llama.cpp#20260, ggml-org/llama.cpp#24329, ggml-org/llama.cpp#27733,
    vllm-project/vllm#40147.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Refusal, SegmentKind, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.fields import content_of, reasoning_of, returned_calls
from prompt_debugger.core.diagnose.refusals.understand import understand
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, body_calls, comparison, in_message, in_raw
from prompt_debugger.core.diagnose.words import counted

_PARSING = re.compile(r"\b(?:un)?pars(?:e|ed|er|ing)\b", re.IGNORECASE)
_OF_PARSER = "The parser of this release fails on it; another release or the family's own parser may not."
_OF_LOG = (
    "The error does not say that a parser failed: look for it in the server's log. If it arose in the parser, another "
    "release or the family's own parser may read the turn."
)


def find(trace: Trace) -> Iterator[Report]:
    """Report a turn that is missing from the message altogether."""
    certainty = comparison(trace)
    if certainty is None or trace.parse is None or trace.chat is None or _has_anything(trace):
        return
    texts = [
        segment.char_span
        for segment in trace.parse.parsed.segments
        if segment.kind is SegmentKind.CONTENT and trace.parse.raw[slice(*segment.char_span)].strip()
    ]
    calls = body_calls(trace)
    error = trace.chat.error
    if not texts and (error is None or not calls):
        return  # a dropped call alone is PD401's to report
    written = [counted(len(calls), "tool call")] if calls else []
    written += [counted(sum(stop - start for start, stop in texts), "character") + " of content"] if texts else []
    yield Report(
        title="The model wrote a turn, but none of it is in the answer.",
        detail=f"Written: {' and '.join(written)}. "
        + (f"The server says: {error[:200]!r}." if error else "The message has no content, no reasoning, no call."),
        evidence=(in_raw(trace, Span(0, len(trace.parse.raw))), in_message("message", error)),
        fix="Read the turn from the raw output. " + (_OF_LOG if error and not _is_of_parser(error) else _OF_PARSER),
        certainty=certainty if error is None else Certainty.OBSERVED,
    )


def _is_of_parser(error: str) -> bool:
    """Return whether an error says that the output could not be parsed."""
    return _PARSING.search(error) is not None or understand(Refusal(None, error)).stage is Stage.PARSE


def _has_anything(trace: Trace) -> bool:
    assert trace.chat is not None
    reasoning = reasoning_of(trace.chat.message)
    content = content_of(trace.chat.message) or ""
    return bool(content.strip() or returned_calls(trace) or (reasoning is not None and reasoning.text.strip()))


RULE: Rule = TraceRule(
    code="PD421",
    name="turn-destroyed",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.COMPARISON,
    threads=("ggml-org/llama.cpp#20260", "ggml-org/llama.cpp#24329", "ggml-org/llama.cpp#27733"),
    explains=("PD401", "PD412", "PD413"),
)
