r"""A stop string of the request fired inside reasoning or inside a tool call.

What it finds:
    The server reports a string of `stop` as the reason for the end, and the raw
    output ends in an open reasoning block or in the middle of a tool call.

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

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import CallStatus, Finding, JSONObject, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.fields import as_list, body_of
from prompt_debugger.core.diagnose.fixes import RequestFix, without
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import (
    TracePart,
    in_raw,
    in_request,
    open_think_tail,
    opens_with_thought,
)


def find(trace: Trace) -> Iterator[Report]:
    """Report a stop string that ended the output inside a structure."""
    fired = None if trace.chat is None else trace.chat.stop_reason
    if fired is None and trace.raw is not None:
        fired = trace.raw.stop_reason
    if trace.raw is None or not isinstance(fired, str):
        return
    stop = body_of(trace).get("stop")
    if fired not in ([stop] if isinstance(stop, str) else as_list(stop)):
        return
    text = trace.raw.text
    where = None
    if _is_reasoning_open(trace, text):
        where = "reasoning"
    elif trace.parse is not None and any(c.status is CallStatus.TRUNCATED for c in trace.parse.parsed.calls):
        where = "a tool call"
    if where is None:
        return
    yield Report(
        title=f"The stop string {fired!r} fired inside {where}.",
        detail=f"The output ends at character {len(text)} with {text[-60:]!r}; the server names {fired!r}.",
        evidence=(in_raw(trace, Span(max(0, len(text) - 60), len(text))), in_request("stop", fired)),
        fix=f"Remove {fired!r} from `stop`, or cut the answer on the client's side.",
    )


def _is_reasoning_open(trace: Trace, text: str) -> bool:
    opened = open_think_tail(trace) or opens_with_thought(text)
    return opened is not None and opened.closer not in text


def _without_stop(trace: Trace, _: Finding) -> JSONObject:
    """Leave out the stop string at which the output ended."""
    body = trace.request.body
    hit = [one.stop_reason for one in (trace.chat, trace.raw) if one is not None and isinstance(one.stop_reason, str)]
    stops = body.get("stop")
    kept = [one for one in (stops if isinstance(stops, list) else [stops]) if one not in hit]
    rest = without(body, ("stop",))
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
    fixes=(RequestFix("the stop string left out", _without_stop),),
)
