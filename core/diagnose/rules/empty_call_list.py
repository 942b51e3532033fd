"""An assistant message of the history has an empty list of tool calls.

What it finds:
    `tool_calls: []` in an assistant message.

Why it matters:
    Servers answer with an empty list, and clients send it back. Templates that test `if
    message.tool_calls is defined` take it for calls: they leave the text out of the prompt,
    or fail on the first call of the list.

Bad:
    `{"role": "assistant", "content": "Hello Ann!", "tool_calls": []}`

Good:
    `{"role": "assistant", "content": "Hello Ann!"}`

Source:
    tracker: vllm-project/vllm#30648, vllm-project/vllm#13978.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import numbered_messages
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request

_MOST = 6


def find(trace: Trace) -> Iterator[Report]:
    """Report all such messages in one report."""
    empty = [
        index
        for index, message in numbered_messages(trace.request)
        if message.get("role") == "assistant" and message.get("tool_calls") == []
    ]
    if not empty:
        return
    places = ", ".join(f"`messages[{index}].tool_calls`" for index in empty[:_MOST]) + (", …" * (len(empty) > _MOST))
    yield Report(
        title=f"{places} {'is an empty list' if len(empty) == 1 else 'are empty lists'}.",
        detail=(
            "Some templates treat an empty list as calls: they leave the text of the message out of the "
            "prompt, or fail on the first call."
        ),
        evidence=tuple(in_request(f"messages[{index}].tool_calls") for index in empty[:_MOST]),
        fix="Leave `tool_calls` out of messages without calls before they are sent back.",
    )


RULE: Rule = TraceRule(
    code="PD128",
    name="empty-call-list",
    severity=Severity.NOTE,
    stage=Stage.REQUEST,
    find=find,
    threads=("vllm-project/vllm#30648", "vllm-project/vllm#13978"),
    explains=("PD206",),
    asks_request_alone=True,
)
