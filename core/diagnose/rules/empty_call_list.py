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

from prompt_debugger.core.base.json_values import as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import numbered_messages
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request
from prompt_debugger.core.formats import FORMATS

_MAX_SHOWN = 6
_OF_ANY = (
    "Some templates treat an empty list as calls: they leave the text of the message out of the prompt, or fail on the "
    "first call."
)
_OF_HARMONY = (
    "The template of gpt-oss treats an empty list as calls and fails on the first one; releases of vLLM that build the "
    "prompt of this model without the template omit the message's text."
)


def find(trace: Trace) -> Iterator[Report]:
    """Report all such messages in one report."""
    empty = [
        index
        for index, message in numbered_messages(trace.request)
        if message.get("role") == "assistant" and message.get("tool_calls") == []
    ]
    if not empty:
        return
    places = ", ".join(f"`messages[{index}].tool_calls`" for index in empty[:_MAX_SHOWN]) + (
        ", …" * (len(empty) > _MAX_SHOWN)
    )
    model = (as_text(trace.request.body.get("model")) or "").lower()
    is_harmony = any(name in model for name in FORMATS["harmony"].facts.model_names)
    yield Report(
        title=f"{places} {'is an empty list' if len(empty) == 1 else 'are empty lists'}.",
        detail=_OF_HARMONY if is_harmony else _OF_ANY,
        evidence=tuple(in_request(f"messages[{index}].tool_calls") for index in empty[:_MAX_SHOWN]),
        fix="Leave `tool_calls` out of messages without calls before they are sent back.",
        severity=Severity.WARNING if is_harmony else None,
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
