"""The blocks or the calls of a stream are not numbered 0, 1, 2 and so on.

What it finds:
    In a stream of Anthropic's Messages API a block that starts with another `index` than
    the number of blocks before it, or a delta for a block that never started. In a stream of
    chat completions, whole from its first chunk, tool calls whose `index` does not begin
    at 0 or leaves numbers out; of any such stream an `index` below 0, or one that no
    answer reaches. Each says what number it should have had.

Why it matters:
    Clients put blocks and calls into a list at that place: Anthropic's Python SDK fails with an
    `IndexError`, others say that a block was not found or have an empty call in the list.
    A gateway that converts one API into another often counts the blocks that it left out.

Bad:
    `content_block_start` with `index` 0, then with `index` 2; `tool_calls[0].index` 1 in the first call

Good:
    `index` 0, then `index` 1

Source:
    tracker: jundot/omlx#1353, QuantumNous/new-api#5483, router-for-me/CLIProxyAPI#5229, Wei-Shaw/sub2api#4294.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from prompt_debugger.core.base.json_values import as_count, as_list, as_object, as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import FindingEvidence, JSONObject, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fixes import RequestFix, setting
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart
from prompt_debugger.core.diagnose.wire_events import wire_events

_MOST_CALLS = 9_999  # of one answer, and far above what any has


def find(trace: Trace) -> Iterator[Report]:
    """Report the first number of a stream that is not the next one."""
    yield from _blocks(trace)
    yield from _calls(trace)


def _blocks(trace: Trace) -> Iterator[Report]:
    """Look at the blocks of a Messages stream that is there from its beginning."""
    started, is_whole = 0, False
    for number, event in wire_events(trace, "content_block_"):
        kind, index = as_text(event.get("type")), as_count(event.get("index"))
        if kind == "message_start":
            started, is_whole = 0, True
        if not is_whole or index is None:
            continue
        if kind == "content_block_start":
            if index != started:
                what = as_text(as_object(event.get("content_block")).get("type")) or "block"
                yield _report(f"the `{what}` block of event {number} has index {index}, and {started} is next", index)
                return
            started += 1
        elif kind == "content_block_delta" and index >= started:
            yield _report(f"the delta of event {number} is for block {index}, which never started", index)
            return


def _calls(trace: Trace) -> Iterator[Report]:
    """Look at the calls of a chat stream: of one that is there from its beginning at all of their numbers."""
    seen: set[int] = set()
    is_whole = False
    for number, event in wire_events(trace, "chat.completion.chunk"):
        for delta in _deltas(event):
            is_whole = is_whole or (number == 1 and "role" in delta and not delta.get("tool_calls"))
            for call in as_list(delta.get("tool_calls")):
                index = as_count(as_object(call).get("index"))
                if index is None:
                    return  # another rule speaks of that
                wrong = _fault_of(index, seen, is_whole=is_whole)
                if wrong:
                    yield _report(f"the tool call of event {number} has index {index}, and {wrong}", index)
                    return
                seen.add(index)


def _fault_of(index: int, seen: Set[int], *, is_whole: bool) -> str:
    """Return why a number cannot be right, as a clause; "" where it may be that of a call whose beginning is there."""
    if index < 0:
        return "numbers begin at 0"
    if index > _MOST_CALLS and index not in seen:
        return "no answer has so many calls"
    return f"{len(seen)} is next" if is_whole and index > len(seen) and index not in seen else ""


def _deltas(event: JSONObject) -> Iterator[JSONObject]:
    """Yield the deltas of an event's first choice."""
    for choice in map(as_object, as_list(event.get("choices"))):
        if not as_count(choice.get("index")):
            yield as_object(choice.get("delta"))


def _report(what: str, index: int) -> Report:
    return Report(
        title=f"The stream counts wrongly: {what}.",
        detail=(
            "Numbers begin at 0 and leave none out. A client that puts each piece into a list at its number fails "
            "here, or keeps an empty entry; this reading puts the pieces together all the same."
        ),
        evidence=(FindingEvidence("server", quote=f'"index": {index}'),),
        fix=(
            "Ask without `stream`, or put the pieces together by the numbers as they come and not by place. Report it "
            "to the authors of the server or gateway: it counts parts that it does not send."
        ),
    )


RULE: Rule = TraceRule(
    code="PD485",
    name="gap-in-numbers",
    severity=Severity.WARNING,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.STREAM,
    threads=(
        "jundot/omlx#1353",
        "QuantumNous/new-api#5483",
        "router-for-me/CLIProxyAPI#5229",
        "Wei-Shaw/sub2api#4294",
    ),
    fixes=(RequestFix("asked without streaming", setting(stream=False)),),
)
