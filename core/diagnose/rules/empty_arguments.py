"""A tool call came back without arguments.

What it finds:
    A returned call whose `arguments` is absent, null or an empty string. A call
    without parameters has the arguments `{}`. The last call of an answer that a
    limit ended is not meant: it was cut before its arguments.

Why it matters:
    Clients decode the field as JSON; an empty string fails there, on the very
    calls that need no arguments.

Bad:
    `{"name": "ping", "arguments": ""}`

Good:
    `{"name": "ping", "arguments": "{}"}`

Source:
    tracker: vllm-project/vllm#28806, sgl-project/sglang#34925.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_object, objects_in
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, ChatResult, Severity, Stage, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.endings import is_limit_word
from prompt_debugger.core.diagnose.fields import CallField, calls_of_message, request_tools
from prompt_debugger.core.diagnose.fixes import ClientFix
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message
from prompt_debugger.core.diagnose.words import listed

_ABSENT = "absent"
_FILL_IN = "Read an empty string as `{}`, once the raw output shows that the model wrote no arguments."


def find(trace: Trace) -> Iterator[Report]:
    """Report calls without arguments in the whole answer, or else in the stream."""
    for result in (trace.chat, trace.chat_stream):
        if result is None or result.error:
            continue
        if _has_gaps(trace):
            return
        calls = calls_of_message(result.message)
        if is_limit_word(result.finish_reason):
            calls = calls[:-1]  # the last one was cut before its arguments, which is another finding
        begun = _still_open(result)
        empty = [call for call in calls if call.has_function and call.arguments in (None, "") and call.id not in begun]
        for call in empty:
            state = "an empty string" if call.arguments == "" else _ABSENT
            field = f"{call.field}.function.arguments"
            yield Report(
                title=f"The call to `{call.name}` came back without arguments.",
                detail=f"{field} is {state}; the protocol requires the text of a JSON object, at least `{{}}`.",
                evidence=(in_message(field, ""),),
                fix=_fix(trace, call, state, result),
            )
        if empty:
            return


def _still_open(result: ChatResult) -> frozenset[str]:
    """Return the ids of the calls that begin in the last event of a stream without an end: more may have followed."""
    events = [calls for delta in result.deltas if (calls := objects_in(delta.delta.get("tool_calls")))]
    if not events or result.finish_reason is not None:
        return frozenset()
    return frozenset(call_id for call in events[-1] if isinstance(call_id := call.get("id"), str))


def _fix(trace: Trace, call: CallField, state: str, own: ChatResult) -> str:
    """Return what to do with the call: nothing is filled in where its arguments show elsewhere, or it has no name."""
    if (where := _shown_in(trace, call, own)) is not None:
        return f"Do not run the call without arguments: {where} has them. Take them from there."
    if not call.name:
        return "Do not run it: only the raw output shows what was called. Ask without streaming, and compare."
    takes = listed(_required(trace, call))
    if takes or _has_a_twin(call, own):
        reason = f"`{call.name}` requires {takes}" if takes else f"another call to `{call.name}` here has arguments"
        return (
            f"Do not fill it in: {reason}. Get the raw output (ask without streaming, "
            "and look at the server's log): either the model wrote them and they were lost, or it left them out."
        )
    return _FILL_IN if state != _ABSENT else _FILL_IN.replace("an empty string", "absent arguments")


def _has_a_twin(call: CallField, own: ChatResult) -> bool:
    """Return whether another call of the same tool in the answer has arguments: then the tool takes some."""
    return bool(call.name) and any(
        one.name == call.name and _has_values(one.arguments) for one in calls_of_message(own.message)
    )


def _required(trace: Trace, call: CallField) -> list[str]:
    """Return the parameters without which the tool of a call cannot run; none where the tool is not known."""
    tool = next((tool for tool in request_tools(trace.request) if tool.name == call.name), None)
    required = None if tool is None else as_object(tool.parameters).get("required")
    return [name for name in required if isinstance(name, str)][:4] if isinstance(required, list) else []


def _shown_in(trace: Trace, call: CallField, own: ChatResult) -> str | None:
    """Return where arguments show that belong to a call; `None` where none are seen.

    Another call of the same tool keeps its own: a place has this call's arguments only if more of its calls have some.
    """
    returned = calls_of_message(own.message)
    known = sum(one.name == call.name and _has_values(one.arguments) for one in returned)
    if sum(one.name == call.name and bool(one.arguments) for one in _written(trace)) > known:
        return "the raw output"
    for result, name in ((trace.chat, "the whole answer"), (trace.chat_stream, "the streamed answer")):
        others = calls_of_message(result.message) if result is not None else ()
        if call.name and sum(one.name == call.name and _has_values(one.arguments) for one in others) > known:
            return name
        if any(not one.name and one.field != call.field and _has_values(one.arguments) for one in others):
            return "the entry without a name beside it"
    return None


def _written(trace: Trace) -> tuple[ToolCallAttempt, ...]:
    return () if trace.parse is None else trace.parse.parsed.calls


def _has_values(arguments: JSON) -> bool:
    return bool(arguments) and arguments != "{}"


def _has_gaps(trace: Trace) -> bool:
    """Return whether the answer was assembled from a stream with events left out."""
    chat, stream = trace.chat, trace.chat_stream
    return chat is not None and stream is not None and not stream.deltas and chat.message == stream.message


_FILL = '''\
def fix(message):
    """Take an empty string for no arguments."""
    for call in message.get("tool_calls") or ():
        call["function"]["arguments"] = call["function"]["arguments"] or "{}"
    return message
'''


RULE: Rule = TraceRule(
    code="PD416",
    name="empty-arguments",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.RESULT,
    threads=("vllm-project/vllm#28806", "sgl-project/sglang#34925"),
    explains=("PD502",),
    fixes=(ClientFix("an empty string read as no arguments", _FILL, advice=_FILL_IN),),
)
