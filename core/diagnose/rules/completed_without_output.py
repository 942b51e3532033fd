"""A Responses stream ends with `response.completed`, whose `output` lacks what was streamed before.

What it finds:
    In a stream of OpenAI's Responses API, deltas of text or of a call's arguments, and at the
    end a `response.completed` (or `response.incomplete`) with an empty `output`, or a
    `response.completed` with fewer calls than were streamed.

Why it matters:
    Clients take the final response for the whole answer: the openai package returns it from
    `get_final_response()`, and agents keep it as history. The user sees a text that the program
    behind it never gets.

Bad:
    `response.output_text.delta` *Hello*, then `response.completed` with `"output": []`

Good:
    the same deltas, and an `output` with the message

Source:
    tracker: vllm-project/vllm#30223, Oaklight/llm-rosetta#56.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from prompt_debugger.core.base.json_values import as_object, as_text, objects_in
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, FindingEvidence, JSONObject, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart
from prompt_debugger.core.diagnose.wire_events import wire_events
from prompt_debugger.core.diagnose.words import counted, listed

_DELTAS = ("response.output_text.delta", "response.function_call_arguments.delta")
_FIX = (
    Step("Put the answer together from the deltas, or ask without `stream`."),
    Step("Run a current release of the server or gateway that writes the final event."),
)
_ENDS = ("response.completed", "response.incomplete")


def find(trace: Trace) -> Iterator[Report]:
    """Report a final response without the streamed parts."""
    deltas = others = 0
    calls: dict[str, str] = {}
    for number, event in wire_events(trace, "response."):
        kind = as_text(event.get("type")) or ""
        item = as_object(event.get("item"))
        if item.get("type") == "function_call" and (name := as_text(item.get("name"))):
            calls[str(event.get("output_index", item.get("id")))] = name
        others += kind not in _ENDS
        if kind in _DELTAS and event.get("delta"):
            deltas += 1
        response = as_object(event.get("response"))
        is_empty = kind in _ENDS and response.get("output") == []
        if is_empty and not others and response.get("status") == "completed":
            yield Report(
                title=f"`{kind}` has an empty `output`.",
                detail="Only this event was copied. If parts of an answer were streamed before it, the server left "
                "them out here; if none were, nothing was returned.",
                evidence=(FindingEvidence("server", quote=f'"type": "{kind}"'),),
                fix=_FIX,
                certainty=Certainty.INFERRED,
            )
            return
        if is_empty and deltas:
            yield Report(
                title=f"`{kind}` has an empty `output`, though parts of an answer were streamed.",
                detail=f"{counted(deltas, 'delta')} came before event {number}. A client that takes the final response "
                "for the answer gets nothing.",
                evidence=(FindingEvidence("server", quote=f'"type": "{kind}"'),),
                fix=_FIX,
            )
            return
        if kind == _ENDS[0] and (lost := _lost(calls.values(), objects_in(response.get("output")))):
            yield Report(
                title=f"The `output` of `{kind}` lacks {counted(len(lost), 'call')} that the stream contains: "
                f"{listed(lost)}.",
                detail=f"{counted(len(calls), 'call')} came before event {number}. A client that takes the final "
                "response for the answer does not run all of them.",
                evidence=(FindingEvidence("server", quote=f'"type": "{kind}"'),),
                fix=_FIX,
            )
            return


def _lost(streamed: Iterable[str], output: Sequence[JSONObject]) -> list[str]:
    """Return the names of streamed calls that a final output lacks; none of an empty one, or of one with as many."""
    kept = [as_text(item.get("name")) or "" for item in output if item.get("type") == "function_call"]
    names = [*streamed]
    if not output or len(kept) >= len(names):
        return []
    return sorted((Counter(names) - Counter(kept)).elements())


RULE: Rule = TraceRule(
    code="PD484",
    name="completed-without-output",
    severity=Severity.WARNING,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.STREAM,
    stands_in_part=True,
    threads=("vllm-project/vllm#30223", "Oaklight/llm-rosetta#56"),
)
