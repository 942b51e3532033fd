r"""The message contains replacement characters that the raw output does not.

What it finds:
    U+FFFD in content, reasoning or arguments, while the raw output, decoded as a whole,
    contains fewer of them. An inference and a warning where no raw output is known, unless
    the request contains the character, too.

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
from prompt_debugger.core.base.types import Certainty, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.fields import body_of, content_of, reasoning_of, returned_calls, texts_inside
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, comparison, in_message

_BROKEN = "\ufffd"


def find(trace: Trace) -> Iterator[Report]:
    """Count replacement characters on both sides."""
    certainty = comparison(trace)
    if trace.chat is None or (certainty is None and trace.parse is not None):
        return
    reasoning = reasoning_of(trace.chat.message)
    texts = [("content", content_of(trace.chat.message) or "")]
    if reasoning is not None:
        texts.append((reasoning.field, reasoning.text))
    texts += [(f"{c.field}.function.arguments", str(c.arguments or "")) for c in returned_calls(trace)]
    broken = [(field, text) for field, text in texts if _BROKEN in text]
    known = trace.parse.raw.count(_BROKEN) if trace.parse is not None else 0
    if sum(text.count(_BROKEN) for _, text in broken) <= known:
        return
    field, text = broken[0]
    at = text.find(_BROKEN)
    if certainty is None:
        if not any(_BROKEN in one for one in texts_inside(body_of(trace))):
            yield _report_without_raw(field, text, at)
        return
    yield Report(
        title=f"A character was broken during decoding: {field} contains U+FFFD.",
        detail=f"At character {at} of {field}: {text[max(0, at - 20) : at + 20]!r}; the raw output is intact.",
        evidence=(in_message(field, text[at : at + 1], Span(at, at + 1)),),
        fix="Decode all ids at once: this is a bug in the server's incremental decoding.",
        certainty=certainty,
    )


def _report_without_raw(field: str, text: str, at: int) -> Report:
    return Report(
        title=f"A character is broken: {field} contains U+FFFD.",
        detail=f"At character {at} of {field}: {text[max(0, at - 20) : at + 20]!r}. It stands for bytes that do not "
        "form a character: the server decoded the ids one by one and cut a character whose bytes are spread over two "
        "tokens, the output ended within one, or the text was read in the wrong encoding when it was copied.",
        evidence=(in_message(field, text[at : at + 1], Span(at, at + 1)),),
        fix="Ask once more without streaming: if the character is complete then, the server's incremental decoding "
        "breaks it, so update the server. If it is broken there, too, look at the ids (`return_token_ids` in vLLM).",
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )


RULE: Rule = TraceRule(
    code="PD418",
    name="broken-character",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.ANSWER,
    threads=("vllm-project/vllm#8627", "waybarrios/vllm-mlx#195"),
    explains=("PD402", "PD413"),
)
