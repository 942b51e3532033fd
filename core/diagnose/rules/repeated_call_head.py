r"""Later deltas of a streamed call say its id or its name again.

What it finds:
    Pieces of one call, by its index, of which a later one has the call's id (a
    note) or its name (a warning) again. Not the empty texts and nulls that many
    servers send there, and not a second call under the same index.

Why it matters:
    The protocol sends both with the first piece alone. Clients begin a new call
    wherever an id comes, and see one call as many without arguments; others put
    names together as they do with arguments, and look for `f_f`.

Bad:
    `{"index": 0, "id": "call_1", "function": {"arguments": "{\\"a"}}` as the second piece

Good:
    `{"index": 0, "function": {"arguments": "{\\"a"}}`

Source:
    tracker: BerriAI/litellm#20480.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import as_count, as_list, as_text
from prompt_debugger.core.diagnose.fixes import RequestFix, setting
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message


def find(trace: Trace) -> Iterator[Report]:
    """Walk the events once and report the first repetition of each kind."""
    if trace.chat_stream is None:
        return
    heads: dict[tuple[int, str], str] = {}
    reported: set[str] = set()
    for event, delta in enumerate(trace.chat_stream.deltas):
        for call in as_list(delta.delta.get("tool_calls")):
            entry = as_object(call)
            index, function = as_count(entry.get("index")), as_object(entry.get("function"))
            if index is None:
                continue
            for what, text in (("name", as_text(function.get("name"))), ("id", as_text(entry.get("id")))):
                if text and heads.get((index, what)) == text and what not in reported:
                    reported.add(what)
                    yield _report(heads.get((index, "name"), ""), what, event)
                if text:
                    heads[index, what] = text


def _report(name: str, what: str, event: int) -> Report:
    is_name = what == "name"
    breaks = (
        "puts names together as it does arguments gets it twice" if is_name else "begins a call at each id sees many"
    )
    return Report(
        title=f"Later pieces of the streamed call to `{name}` say its {what} again.",
        detail=f"First at event {event}. The protocol sends id and name with the first piece alone: a client that "
        f"{breaks}.",
        evidence=(in_message("tool_calls"),),
        fix="Put the pieces together by index and take id and name from the first one; or ask without streaming.",
        severity=Severity.WARNING if is_name else None,
    )


RULE: Rule = TraceRule(
    code="PD464",
    name="repeated-call-head",
    severity=Severity.NOTE,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.STREAM,
    threads=("BerriAI/litellm#20480",),
    fixes=(RequestFix("asked without streaming", setting(stream=False)),),
)
