"""A system message comes after other messages, or there are several.

What it finds:
    Messages with the role `system` or `developer` that are not the first one.

Why it matters:
    Templates that print the system text into the head of the prompt refuse the request
    (*System message must be at the beginning*) or leave the later ones out. Others print
    each in its place.

Bad:
    `[{"role": "user", …}, {"role": "system", …}]`

Good:
    One system message, first.

Source:
    tracker: vllm-project/vllm#41114, BerriAI/litellm#26879.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import numbered_messages
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request
from prompt_debugger.core.diagnose.words import counted

_SYSTEM = ("system", "developer")
_MAX_SHOWN = 6


def find(trace: Trace) -> Iterator[Report]:
    """Report all of them in one report."""
    late = [
        (index, as_text(message.get("role")))
        for index, message in numbered_messages(trace.request)
        if index > 0 and message.get("role") in _SYSTEM
    ]
    if not late:
        return
    come = "comes" if len(late) == 1 else "come"
    places = ", ".join(f"messages[{index}]" for index, _ in late[:_MAX_SHOWN]) + (
        ", …" if len(late) > _MAX_SHOWN else ""
    )
    yield Report(
        title=f"{counted(len(late), 'system message')} {come} after the first message: {places}.",
        detail=(
            "Some templates (Qwen3.5 and later, Mistral) refuse a system message that is not the first, or "
            "leave it out; others print it where it was sent."
        ),
        evidence=tuple(in_request(f"messages[{index}].role", role) for index, role in late[:_MAX_SHOWN]),
        fix="Where the server refuses it, or the text is missing from the prompt, put all of it into messages[0].",
    )


RULE: Rule = TraceRule(
    code="PD121",
    name="late-system-message",
    severity=Severity.NOTE,
    stage=Stage.REQUEST,
    find=find,
    threads=("vllm-project/vllm#41114", "BerriAI/litellm#26879"),
    asks_request_alone=True,
)
