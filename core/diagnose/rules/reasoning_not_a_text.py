"""The reasoning of the answer is not a string.

What it finds:
    `reasoning_content` or `reasoning` of a message that is an object or a list, where
    clients expect a string.

Why it matters:
    Clients join the pieces of the field, or print it: an object ends in an
    exception, or as `[object Object]` in the history.

Bad:
    `"reasoning_content": {"type": "thinking", "text": "Hm."}`

Good:
    `"reasoning_content": "Hm."`

Source:
    publisher: DeepSeek, `reasoning_content` of chat completions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message

_FIELDS = ("reasoning_content", "reasoning")


def find(trace: Trace) -> Iterator[Report]:
    """Look at the type of both fields."""
    message = {} if trace.chat is None else trace.chat.message
    for field in _FIELDS:
        value = message.get(field)
        if isinstance(value, dict | list) and value:
            kind = "an object" if isinstance(value, dict) else "a list"
            yield Report(
                title=f"`{field}` of the answer is {kind}, not a string.",
                detail="Servers send reasoning as a string, and clients expect one; structured reasoning has "
                "other fields, such as `reasoning_details` of OpenRouter.",
                evidence=(in_message(field, json.dumps(value, ensure_ascii=False)[:200]),),
                fix="Check what is between server and client: a gateway may have changed the field. In the client, "
                "read its text before it is joined or sent back.",
            )


RULE: Rule = TraceRule(
    code="PD461",
    name="reasoning-not-a-text",
    severity=Severity.WARNING,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.ANSWER,
)
