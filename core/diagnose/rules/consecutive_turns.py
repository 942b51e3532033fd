"""Two consecutive turns have the same role.

What it finds:
    Neighbouring messages that are both the user's, or both the assistant's
    without tool calls, with their places. Silent where the request was answered, or its
    prompt rendered: then nothing refused it.

Why it matters:
    Templates of Mistral, Gemma and Llama 2 raise *roles must alternate* on such
    a request; others print it as it is. The error does not say which messages break the order.

Bad:
    `[{"role": "user", …}, {"role": "user", …}]`

Good:
    One user message with both texts.

Source:
    tracker: mistralai/mistral-vibe#1006, vllm-project/vllm#6862.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from prompt_debugger.core.base.comparable import REQUEST_GAP
from prompt_debugger.core.base.json_values import as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import numbered_messages
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request, was_answered
from prompt_debugger.core.diagnose.words import counted

_MAX_SHOWN = 6


def find(trace: Trace) -> Iterator[Report]:
    """Report all pairs of one role in one report."""
    if was_answered(trace) or REQUEST_GAP in trace.notes:
        return
    turns = [(index, as_text(message.get("role")), message) for index, message in numbered_messages(trace.request)]
    pairs = [
        (first[0], second[0], second[1])
        for first, second in pairwise(turns)
        if first[1] == second[1] and first[1] in ("user", "assistant") and not first[2].get("tool_calls")
    ]
    if not pairs:
        return
    first, second, role = pairs[0]
    more = f" ({counted(len(pairs) - 1, 'more pair')})" if len(pairs) > 1 else ""
    listed = ", ".join(f"{a} and {b} ({who})" for a, b, who in pairs[:_MAX_SHOWN])
    yield Report(
        title=f"messages[{first}] and messages[{second}] both have the role `{role}`{more}.",
        detail=(
            "Templates that require user and assistant to alternate (Mistral, Gemma, Llama 2) refuse this; "
            f"others accept it. In a row: {listed}{', …' if len(pairs) > _MAX_SHOWN else ''}."
        ),
        evidence=tuple(in_request(f"messages[{b}].role", who) for _, b, who in pairs[:_MAX_SHOWN]),
        fix=f"Where the server refuses it, join messages[{first}] and messages[{second}] into one message.",
    )


RULE: Rule = TraceRule(
    code="PD120",
    name="consecutive-turns",
    severity=Severity.NOTE,
    stage=Stage.REQUEST,
    find=find,
    threads=("mistralai/mistral-vibe#1006", "vllm-project/vllm#6862"),
)
