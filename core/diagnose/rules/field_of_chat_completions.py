"""A body for OpenAI Responses has a field of chat completions.

What it finds:
    In a body for `/v1/responses`: `response_format`, `max_tokens`, `reasoning_effort`,
    `functions`, `function_call`, and tools whose members are inside `function`. Responses
    uses different names for them.

Why it matters:
    OpenAI refuses the request; other servers silently ignore the field and answer without
    the schema, or without the limit.

Bad:
    `{"input": "…", "response_format": {"type": "json_schema", …}}`

Good:
    `{"input": "…", "text": {"format": {"type": "json_schema", "name": …, "schema": …}}}`

Source:
    publisher: OpenAI, Responses API, `text.format`.
    derived: the fields that vLLM's `ResponsesRequest` declares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request

_NOTICE = re.compile(r"Responses has no field `([^`]+)`")


def find(trace: Trace) -> Iterator[Report]:
    """Report each notice of such a field."""
    for notice in trace.request.notices:
        if (found := _NOTICE.match(notice.message)) is not None:
            yield Report(
                title=f"`{notice.field}` is not a field of OpenAI Responses.",
                detail=f"{notice.message} OpenAI refuses the request; other servers ignore the field.",
                evidence=(in_request(notice.field),),
                fix=_fix(found[1], notice.message),
            )


def _fix(name: str, words: str) -> str:
    if name == "response_format":
        return "Send the schema in `text.format`: its type, name and schema next to each other."
    if name == "function":
        return 'Write the tool as `{"type": "function", "name": …, "parameters": …}`.'
    return f"Send {words.rpartition(' takes ')[2].rstrip('.')} instead."


RULE: Rule = TraceRule(
    code="PD136",
    name="field-of-chat-completions",
    severity=Severity.WARNING,
    stage=Stage.REQUEST,
    find=find,
    asks_request_alone=True,
)
