r"""The message contains replacement characters that the raw output does not.

What it finds:
    U+FFFD in content, reasoning or arguments, while the raw output, decoded as a whole,
    contains fewer of them.

Why it matters:
    The server decoded token by token and broke a character whose bytes are
    spread over two tokens: `caf��` instead of `café`.

Bad:
    `"content": "caf\ufffd\ufffd"`

Good:
    `"content": "café"`

Source:
    tracker: vllm-project/vllm#8627, waybarrios/vllm-mlx#195.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.fields import content_of, reasoning_of, returned_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, comparison, in_message

_BROKEN = "\ufffd"


def find(trace: Trace) -> Iterator[Report]:
    """Count replacement characters on both sides."""
    certainty = comparison(trace)
    if certainty is None or trace.parse is None or trace.chat is None:
        return
    reasoning = reasoning_of(trace.chat.message)
    texts = [("content", content_of(trace.chat.message) or "")]
    if reasoning is not None:
        texts.append((reasoning.field, reasoning.text))
    texts += [(f"{c.field}.function.arguments", str(c.arguments or "")) for c in returned_calls(trace)]
    broken = [(field, text) for field, text in texts if _BROKEN in text]
    if sum(text.count(_BROKEN) for _, text in broken) <= trace.parse.raw.count(_BROKEN):
        return
    field, text = broken[0]
    at = text.find(_BROKEN)
    yield Report(
        title=f"A character was broken during decoding: {field} contains U+FFFD.",
        detail=f"At character {at} of {field}: {text[max(0, at - 20) : at + 20]!r}; the raw output is intact.",
        evidence=(in_message(field, text[at : at + 1], Span(at, at + 1)),),
        fix="Decode all ids at once: this is a bug in the server's incremental decoding.",
        certainty=certainty,
    )


RULE: Rule = TraceRule(
    code="PD418",
    name="broken-character",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.COMPARISON,
    threads=("vllm-project/vllm#8627", "waybarrios/vllm-mlx#195"),
    explains=("PD402", "PD413"),
)
