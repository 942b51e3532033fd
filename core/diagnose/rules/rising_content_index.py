"""Every delta of a Responses stream counts as a separate content part.

What it finds:
    In a stream of OpenAI's Responses API three or more deltas of one item, one
    after another, each with a `content_index` that is one higher.

Why it matters:
    `content_index` numbers the parts of an item, and all deltas of one part have the same.
    A client that relies on it makes a part of every few letters, or waits for parts that
    were never added.

Bad:
    `"content_index": 92, "delta": " is"`, then `"content_index": 93, "delta": " a"`

Good:
    `"content_index": 0` in both

Source:
    tracker: vllm-project/vllm#35184.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_count, as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import FindingEvidence, JSONObject, Severity, Stage, Trace
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart
from prompt_debugger.core.diagnose.wire_events import wire_events

_MIN_DELTAS = 3  # an item may well have two parts


def find(trace: Trace) -> Iterator[Report]:
    """Report the first item whose deltas are numbered one by one."""
    place, run, first = ("", ""), 0, 0
    for number, event in wire_events(trace, "response."):
        index = as_count(event.get("content_index"))
        if index is None or not (as_text(event.get("type")) or "").endswith(".delta"):
            continue
        here = _place(event)
        run = run + 1 if here == place and index == first + run else 1
        first = first if run > 1 else index
        place = here
        if run >= _MIN_DELTAS:
            yield _report(number, first, index)
            return


def _place(event: JSONObject) -> tuple[str, str]:
    item = as_text(event.get("item_id")) or str(event.get("output_index"))
    return str(event.get("type")), item


def _report(number: int, first: int, last: int) -> Report:
    return Report(
        title="`content_index` increases with every delta of the stream.",
        detail=(
            f"Up to event {number} the deltas of one part have the `content_index` {first} to {last}; it "
            "numbers the parts of an item, so it should be the same for all of them."
        ),
        evidence=(FindingEvidence("server", quote=f'"content_index": {last}'),),
        fix=(
            "Put the deltas together by `output_index` and `item_id`, and ignore `content_index`; or use a "
            "release of the server that numbers parts, not deltas."
        ),
    )


RULE: Rule = TraceRule(
    code="PD481",
    name="rising-content-index",
    severity=Severity.WARNING,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.STREAM,
    threads=("vllm-project/vllm#35184",),
)
