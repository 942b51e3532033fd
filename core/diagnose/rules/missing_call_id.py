"""A tool call of the answer has no id.

What it finds:
    A returned call whose `id` is absent, null or empty, where the API has ids:
    Ollama's own has none, and Gemini's are optional.

Why it matters:
    The result of a tool names its call by id. Without one, a client makes one up or fails,
    and results of several calls can be mixed up.

Bad:
    `{"id": "", "type": "function", "function": {…}}`

Good:
    `{"id": "call_1", "type": "function", "function": {…}}`

Source:
    publisher: `tool_calls[].id` of chat completions is required, `tool_call_id` of a tool
    message refers to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_list, as_object
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Api, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import returned_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.rules.duplicate_call_id import OWN_IDS
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message
from prompt_debugger.core.diagnose.words import counted

_WITHOUT_IDS = ('"done"', '"candidates"')  # what answers of Ollama and Gemini have


def find(trace: Trace) -> Iterator[Report]:
    """Report the calls without an id, in one report."""
    calls = returned_calls(trace)
    without = [call for call in calls if not call.id]
    if not without or _has_no_ids(trace):
        return
    yield Report(
        title=f"The answer has {counted(len(without), 'tool call')} without an id.",
        detail=f"{', '.join(f'`{call.field}`' for call in without[:6])} of {counted(len(calls), 'call')}: "
        "the tool's result has nothing to refer to.",
        evidence=tuple(in_message(f"{call.field}.id", call.id) for call in without),
        fix="Assign the call an id before it goes into the history, and use the same id in its result.",
    )


def _has_no_ids(trace: Trace) -> bool:
    """Return whether an answer is of Ollama or Gemini, or has the older `function_call`, where results name the tool.

    Of a piece of an answer no one knows whether its calls have ids.
    """
    if trace.request.api is Api.GEMINI:
        return True
    body = next((chat.body for chat in (trace.chat, trace.chat_stream) if chat is not None and chat.body), "")
    message = {} if trace.chat is None else trace.chat.message
    calls = as_list(message.get("tool_calls"))
    if calls and not body and all("id" not in as_object(call) for call in calls):
        return True  # a piece of an answer, which may begin after the id
    is_legacy = bool(message.get("function_call"))
    return is_legacy or ('"choices"' not in body and any(name in body for name in _WITHOUT_IDS))


RULE: Rule = TraceRule(
    code="PD507",
    name="missing-call-id",
    severity=Severity.WARNING,
    stage=Stage.CONTRACT,
    find=find,
    needs=TracePart.ANSWER,
    fixes=(OWN_IDS,),
)
