"""A tool result in the history matches no call, or a call has two results.

What it finds:
    A message of role `tool` whose `tool_call_id` is the id of no call made before it, also
    if the history contains no call at all; one without an id although calls have ids; two
    tool messages with one id; two calls of one assistant message with one id. Calls without
    a result have a separate rule. Silent where the server keeps the earlier turns
    (`previous_response_id`, `conversation`).

Why it matters:
    The template prints the result next to the wrong call or refuses the request; if it
    works by position, the model reads the answer to another question, and nothing fails.

Bad:
    Call id `functions.search:0`, result with `"tool_call_id": "call_1"`.

Good:
    Call and result share one id.

Source:
    tracker: JustVugg/colibri#118, openai/harmony#63.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import (
    calls_of_message,
    ids_of_other_calls,
    keeps_history_elsewhere,
    numbered_messages,
)
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request


def find(trace: Trace) -> Iterator[Report]:
    """Walk the messages once and report ids that do not pair up."""
    if keeps_history_elsewhere(trace.request):
        return
    open_ids: Counter[str] = Counter()
    known: list[str] = []
    called = {*ids_of_other_calls(trace.request)}
    for index, message in numbered_messages(trace.request):
        ids = [call.id for call in calls_of_message(message) if call.id]
        for call_id in (one for one, times in Counter(ids).items() if times > 1):
            yield _report(f"messages[{index}].tool_calls", call_id, "belongs to several calls of one message")
        open_ids.update(set(ids))
        known += ids
        called.update(ids)
        if message.get("role") != "tool":
            continue
        result_id = as_text(message.get("tool_call_id")) or ""
        field = f"messages[{index}].tool_call_id"
        if not result_id:
            if known:
                yield _report_missing_id(index, known)
            continue
        if result_id not in called:
            shown = f"known: {', '.join(known[-4:])}" if known else "the history has no call with an id"
            yield _report(field, result_id, f"matches no earlier call ({shown})")
        elif open_ids.get(result_id) == 0:
            yield _report(field, result_id, "was answered earlier")
        elif result_id in open_ids:
            open_ids[result_id] -= 1


def _report_missing_id(index: int, known: list[str]) -> Report:
    return Report(
        title=f"The tool result messages[{index}] does not say which call it answers.",
        detail=f"It has no `tool_call_id`; the calls before it have ids: {', '.join(known[-4:])}.",
        evidence=(in_request(f"messages[{index}]"),),
        fix="Give the tool message the id of its call as `tool_call_id`.",
    )


def _report(field: str, call_id: str, problem: str) -> Report:
    return Report(
        title=f"Tool call id `{call_id}` does not pair a call with its result.",
        detail=f"{field}: `{call_id}` {problem}.",
        evidence=(in_request(field, call_id),),
        fix="Give every call of the conversation a unique id, and its result the same id.",
    )


RULE: Rule = TraceRule(
    code="PD106",
    name="unpaired-tool-result",
    severity=Severity.WARNING,
    stage=Stage.REQUEST,
    find=find,
    threads=("JustVugg/colibri#118", "openai/harmony#63"),
    asks_request_alone=True,
)
