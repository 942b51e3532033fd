"""A tool call of the history has no result, and the conversation continues.

What it finds:
    A call of an assistant message after which a user's or the assistant's turn
    comes before any tool message with its id, or a message that has its id with
    another role. Calls of the last assistant message are left alone: their
    results may still come.

Why it matters:
    Anthropic, OpenAI and several templates refuse such a history (*tool_use ids were found
    without tool_result blocks*); elsewhere the model sees a call without an answer and
    repeats it, or makes up its result.

Bad:
    A call with the id `a`, then a user message.

Good:
    A call with the id `a`, a tool message with `"tool_call_id": "a"`, then the user.

Source:
    publisher: Anthropic's and OpenAI's checks of the messages; derived for other servers.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Api, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import calls_of_message, numbered_messages
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request

_MAX_SHOWN = 6
_JOIN_TURNS = (Api.MESSAGES, Api.GEMINI)  # messages of one role in a row are one turn there


def find(trace: Trace) -> Iterator[Report]:
    """Walk the messages once and report all calls without a result."""
    waiting: dict[str, str] = {}
    missing: list[tuple[str, str]] = []
    misnamed: dict[str, tuple[int, str]] = {}  # results whose message has another role
    for index, message in numbered_messages(trace.request):
        role = message.get("role")
        result_of = as_text(message.get("tool_call_id")) or ""
        if role not in ("tool", "function") and result_of in waiting:
            misnamed[result_of] = index, str(role)
        if role in ("tool", "function"):
            waiting.pop(as_text(message.get("tool_call_id")) or "", None)
        elif role in ("user", "assistant"):
            calls = {call.id: call.field for call in calls_of_message(message, f"messages[{index}]") if call.id}
            if role == "assistant" and trace.request.api in _JOIN_TURNS:
                waiting |= calls
                continue
            missing += waiting.items()
            waiting = calls
    if not missing:
        return
    call_id, field = missing[0]
    more = f" {len(missing) - 1} more calls have no result either." if len(missing) > 1 else ""
    if call_id in misnamed:
        place, role = misnamed[call_id]
        yield Report(
            title=f"The result of the tool call `{call_id}` has the role `{role}` instead of `tool`.",
            detail=f"messages[{place}] has its `tool_call_id`, which servers read of tool messages alone: for them the "
            f"call has no result.{more}",
            evidence=(in_request(f"messages[{place}].role", role), in_request(f"{field}.id", call_id)),
            fix=f"Give messages[{place}] the role `tool`.",
        )
        return
    yield Report(
        title=f"The tool call `{call_id}` has no result, but the conversation continues.",
        detail=f"{field} is followed by another turn before a tool message with `tool_call_id` `{call_id}`.{more}",
        evidence=tuple(in_request(f"{place}.id", one) for one, place in missing[:_MAX_SHOWN]),
        fix="Put a tool message with this id right after the call, with an error text if the tool did not run; or "
        "leave the call out.",
    )


RULE: Rule = TraceRule(
    code="PD129",
    name="unanswered-call",
    severity=Severity.WARNING,
    stage=Stage.REQUEST,
    find=find,
    asks_request_alone=True,
)
