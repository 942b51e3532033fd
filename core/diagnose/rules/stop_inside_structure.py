r"""A stop string of the request fired inside reasoning or inside a tool call.

What it finds:
    The raw output ends in an open reasoning block or in the middle of a tool call,
    and the server reports a string of `stop` as the reason for the end. Where it
    names no reason: the output ends with such a string, and no limit was reached.

Why it matters:
    Stop strings that suit an answer (two line breaks, a backtick fence) are ordinary text
    in reasoning and arguments. The answer never comes.

Bad:
    `"stop": ["\n\n"]` with a model that thinks in paragraphs.

Good:
    No stop string, or one that cannot occur before the answer.

Source:
    tracker: vllm-project/vllm#14170, vllm-project/vllm#52599.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_list
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import CallStatus, Certainty, Finding, JSONObject, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.endings import is_normal_end
from prompt_debugger.core.diagnose.fields import body_of
from prompt_debugger.core.diagnose.fixes import RequestFix, drop_fields
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import (
    TracePart,
    in_raw,
    in_request,
    open_think_tail,
    opens_with_thought,
    why_cut,
)


def find(trace: Trace) -> Iterator[Report]:
    """Report a stop string that ended the output inside a structure."""
    if trace.raw is None:
        return
    named = _named_reason(trace)
    fired = named if isinstance(named, str) else _stop_at_end(trace) if named is None else None
    if fired is None or fired not in _stops_of(trace):
        return
    text = trace.raw.text
    where = None
    if _is_reasoning_open(trace, text):
        where = "reasoning"
    elif _is_call_open(trace, is_named=named is not None):
        where = "a tool call"
    if where is None:
        return
    why = f"names {fired!r}" if named is not None else "names no reason, and no limit was reached"
    yield Report(
        title=f"The stop string {fired!r} fired inside {where}.",
        detail=f"The output ends at character {len(text)} with {text[-60:]!r}; the server {why}.",
        evidence=(in_raw(trace, Span(max(0, len(text) - 60), len(text))), in_request("stop", fired)),
        fix=f"Remove {fired!r} from `stop`, or cut the answer on the client's side.",
        certainty=Certainty.OBSERVED if named is not None else Certainty.INFERRED,
    )


def _stops_of(trace: Trace) -> list[object]:
    stop = body_of(trace).get("stop")
    return [stop] if isinstance(stop, str) else [*as_list(stop)]


def _named_reason(trace: Trace) -> str | int | None:
    """Return what the server calls the reason for the end: a string of the request, or the id of a token."""
    named = None if trace.chat is None else trace.chat.stop_reason
    return trace.raw.stop_reason if named is None and trace.raw is not None else named


def _stop_at_end(trace: Trace) -> str | None:
    """Return the stop string with which the output ends, where the server calls that a normal end."""
    chat, raw = trace.chat, trace.raw
    if chat is None or raw is None or why_cut(trace) is not None:
        return None
    if not (is_normal_end(chat.finish_reason) or chat.finish_reason in ("tool_calls", "tool_use", "function_call")):
        return None
    hits = [stop for stop in _stops_of(trace) if isinstance(stop, str) and stop and raw.text.endswith(stop)]
    return max(hits, key=len, default=None)


def _is_call_open(trace: Trace, *, is_named: bool) -> bool:
    """Return whether a call is cut, or, where no reason is given, lacks its closing marker at the very end."""
    if trace.parse is None or trace.raw is None:
        return False
    calls = trace.parse.parsed.calls
    if any(call.status is CallStatus.TRUNCATED for call in calls):
        return True
    last = calls[-1] if calls and not is_named else None
    is_last = last is not None and last.char_span.stop >= len(trace.raw.text)
    return last is not None and is_last and "is missing" in (last.problem or "").rpartition("; ")[2]


def _is_reasoning_open(trace: Trace, text: str) -> bool:
    opened = open_think_tail(trace) or opens_with_thought(text)
    return opened is not None and opened.closer not in text


def _drop_stop(trace: Trace, _: Finding) -> JSONObject:
    """Leave out the stop string at which the output ended."""
    body = trace.request.body
    named = [one.stop_reason for one in (trace.chat, trace.raw) if one is not None]
    hit = [one for one in (*named, None if any(named) else _stop_at_end(trace)) if isinstance(one, str)]
    stops = body.get("stop")
    kept = [one for one in (stops if isinstance(stops, list) else [stops]) if one not in hit]
    rest = drop_fields(body, ("stop",))
    return {**rest, "stop": kept} if kept else rest


RULE: Rule = TraceRule(
    code="PD305",
    name="stop-inside-structure",
    severity=Severity.ERROR,
    stage=Stage.COMPLETE,
    find=find,
    needs=TracePart.RAW,
    threads=("vllm-project/vllm#14170", "vllm-project/vllm#52599"),
    explains=("PD301",),
    fixes=(RequestFix("the stop string left out", _drop_stop),),
)
