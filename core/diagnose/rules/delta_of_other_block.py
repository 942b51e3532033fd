"""A Messages stream sends deltas of one kind in a block of another.

What it finds:
    In a stream of Anthropic's Messages API an `input_json_delta` in a block of type `text`
    or `thinking`, or a `text_delta` in a block of type `tool_use`. Gateways that translate
    chat completions send them where every delta has an empty list of calls.

Why it matters:
    Clients take from a block only what belongs to its type: the text, or the arguments,
    never arrive.

Bad:
    `content_block_start` of type `text`, then deltas of type `input_json_delta`

Good:
    `content_block_start` of type `text`, then deltas of type `text_delta`

Source:
    tracker: BerriAI/litellm#29286.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_count, as_object, as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart
from prompt_debugger.core.diagnose.wire_events import wire_events

_FOREIGN = {
    ("text", "input_json_delta"),
    ("thinking", "input_json_delta"),
    ("tool_use", "text_delta"),
    ("tool_use", "thinking_delta"),
}


def find(trace: Trace) -> Iterator[Report]:
    """Report the first delta that does not belong to its block, and how many there are."""
    kinds: dict[int, str] = {}
    found: list[tuple[int, str, str]] = []
    for number, event in wire_events(trace, "content_block"):
        index = as_count(event.get("index"))
        if index is None:
            continue
        if event.get("type") == "content_block_start":
            kinds[index] = as_text(as_object(event.get("content_block")).get("type")) or ""
        elif event.get("type") == "content_block_delta":
            pair = (kinds.get(index, ""), as_text(as_object(event.get("delta")).get("type")) or "")
            if pair in _FOREIGN:
                found.append((number, *pair))
    if not found:
        return
    number, block, delta = found[0]
    more = f" ({len(found)} such events)" if len(found) > 1 else ""
    lost = "the text of this one does" if block != "tool_use" else "the arguments of this one do"
    yield Report(
        title=f"Event {number} of the stream contains `{delta}` in a block of type `{block}`{more}.",
        detail=f"Clients accept only deltas that match the type of their block, so {lost} not arrive. "
        "Upstream the model may have answered as it should.",
        evidence=(FindingEvidence("server", quote=delta),),
        fix="Ask without streaming, or through the gateway's chat completions. Update the gateway that "
        "translates the stream, and report it there, with the stream of its upstream server.",
    )


RULE: Rule = TraceRule(
    code="PD483",
    name="delta-of-other-block",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.STREAM,
    threads=("BerriAI/litellm#29286",),
    explains=("PD312", "PD436"),
)
