"""An assistant message of the history says nothing.

What it finds:
    A message with the role `assistant` that is not the last one and contains neither text nor
    reasoning nor tool calls.

Why it matters:
    The prompt shows the model an empty assistant turn, which teaches it to end at once;
    some servers refuse the message. It is usually the trace of an answer that was lost: a
    call that stayed in reasoning, or a failed turn.

Bad:
    `{"role": "assistant", "content": null}`

Good:
    The message left out, or with its tool calls.

Source:
    derived: an empty turn only teaches the model to stop.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import numbered_messages
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request
from prompt_debugger.core.diagnose.words import counted

_CONTENTS = ("tool_calls", "function_call", "reasoning", "reasoning_content", "refusal", "audio", "thinking")
_MAX_SHOWN = 6


def find(trace: Trace) -> Iterator[Report]:
    """Report all empty turns in one report."""
    messages = list(numbered_messages(trace.request))
    empty = [
        index
        for index, message in messages[:-1]
        if message.get("role") == "assistant"
        and not any(message.get(key) for key in _CONTENTS)
        and _is_blank(message.get("content"))
    ]
    if not empty:
        return
    places = ", ".join(f"messages[{index}]" for index in empty[:_MAX_SHOWN]) + (
        ", …" if len(empty) > _MAX_SHOWN else ""
    )
    yield Report(
        title=f"{counted(len(empty), 'assistant message')} of the history {'is' if len(empty) == 1 else 'are'} empty: "
        f"{places}.",
        detail="They contain no text, no reasoning and no tool call: the model sees turns in which it said nothing.",
        evidence=tuple(in_request(f"messages[{index}]") for index in empty[:_MAX_SHOWN]),
        fix="Leave them out, or restore what the answer contained: its tool calls, or the text that was lost.",
    )


def _is_blank(content: JSON) -> bool:
    if isinstance(content, list):
        return all(not part or (isinstance(part, dict) and part.get("text") == "") for part in content)
    return content is None or (isinstance(content, str) and not content.strip())


RULE: Rule = TraceRule(
    code="PD122",
    name="empty-assistant-turn",
    severity=Severity.WARNING,
    stage=Stage.REQUEST,
    find=find,
    asks_request_alone=True,
)
