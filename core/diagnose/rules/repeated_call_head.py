r"""The id or the name of a streamed call is not where clients look for it: in its first piece, and nowhere else.

What it finds:
    Pieces of one call, by its index, of which a later one has the call's id (a
    note) or its name (a warning) again, the text `null` for its name, or the name as
    null or an empty string (a note, and only of what was pasted: many servers send it); and a call whose first piece
    has no name while a later one has. Not a second call under the same index.

Why it matters:
    The protocol sends both with the first piece alone. Clients begin a new call
    wherever an id comes, and see one call as many without arguments; others put
    names together as they do with arguments, and look for `f_f`.

Bad:
    `{"index": 0, "id": "call_1", "function": {"arguments": "{\\"a"}}` as the second piece

Good:
    `{"index": 0, "function": {"arguments": "{\\"a"}}`

Source:
    tracker: BerriAI/litellm#20480, BerriAI/litellm#12513, jjang-ai/vmlx#244, vercel/ai#14722.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prompt_debugger.core.base.json_values import NULL_TEXTS, as_count, as_list, as_object, as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, StreamDelta, Trace
from prompt_debugger.core.diagnose.fixes import RequestFix, setting
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, asked_server, in_message
from prompt_debugger.core.diagnose.wire_events import first_at

_FIX = "Put the pieces together by index and take id and name from the first one; or ask without streaming."


def find(trace: Trace) -> Iterator[Report]:
    """Walk the events once and report the first oddity of each kind."""
    if trace.chat_stream is None:
        return
    heads: dict[tuple[int, str], str] = {}
    begun: dict[int, int] = {}
    reported: set[str] = set()
    deltas = trace.chat_stream.deltas
    for event, index, call_id, name, empty in _heads(deltas):
        first = begun.setdefault(index, event)
        known, known_id = heads.get((index, "name"), ""), heads.get((index, "id"), "")
        found: dict[str, Report] = {}
        repeats_id = bool(call_id) and known_id == call_id
        if name in NULL_TEXTS and known:
            found["null"] = _report_null(known, name, first_at(event, deltas))
        elif name and not known and event > first:
            found["late"] = _read_late_name(name, first + 1, event + 1)
        elif name and known == name and not (call_id and known_id and call_id != known_id):
            beside = "id and " if repeats_id else ""
            found["name"] = _report_repeated(name, "name", first_at(event, deltas), beside=beside)
        elif empty and known and not asked_server(trace):
            found["empty"] = _read_empty(known, empty, first_at(event, deltas))
        if repeats_id and "name" not in found:  # a piece that repeats both is one oddity
            found["id"] = _report_repeated(name or known, "id", first_at(event, deltas))
        yield from (report for part, report in found.items() if part not in reported)
        reported |= found.keys() | ({"id"} if repeats_id else set())
        _note_head(heads, index, call_id, name)


def _note_head(heads: dict[tuple[int, str], str], index: int, call_id: str, name: str) -> None:
    if name and name not in NULL_TEXTS:
        heads[index, "name"] = name
    if call_id:
        heads[index, "id"] = call_id


def _heads(deltas: Sequence[StreamDelta]) -> Iterator[tuple[int, int, str, str, str]]:
    """Yield event, index, id and name of each piece of a call that names its index; "" for what it does not say.

    The last one is the name as written where it is given but is not a name: `null`, or an empty string.
    """
    for event, delta in enumerate(deltas):
        for call in as_list(delta.delta.get("tool_calls")):
            entry = as_object(call)
            index = as_count(entry.get("index"))
            if index is not None:
                function = as_object(entry.get("function"))
                name = as_text(function.get("name"))
                empty = "" if name or "name" not in function else "null" if name is None else '""'
                yield event, index, as_text(entry.get("id")) or "", name or "", empty


def _report_repeated(name: str, part: str, first: str, *, beside: str = "") -> Report:
    is_name = part == "name"
    breaks = (
        "joins names as it joins arguments gets it twice" if is_name else "begins a call at each id sees many calls"
    )
    return Report(
        title=f"Later pieces of the streamed call to `{name}` repeat its {beside}{part}.",
        detail=f"{first}The protocol sends id and name only with the first piece: a client that {breaks}.",
        evidence=(in_message("tool_calls"),),
        fix=_FIX,
        severity=Severity.WARNING if is_name else None,
    )


def _report_null(name: str, null: str, first: str) -> Report:
    return Report(
        title=f"Later pieces of the streamed call to `{name}` give its name as the text `{null}`.",
        detail=f"{first}A name that is absent was turned into text: clients take it for another call, "
        "or look for a tool of that name.",
        evidence=(in_message("tool_calls"),),
        fix=_FIX,
        severity=Severity.WARNING,
    )


def _read_empty(name: str, written: str, first: str) -> Report:
    return Report(
        title=f"Later pieces of the streamed call to `{name}` have `name: {written}`.",
        detail=f"{first}The protocol leaves the field out after the first piece. Clients that take "
        "each piece's name lose the one that came first, and clients that check types refuse `null`.",
        evidence=(in_message("tool_calls"),),
        fix="Take the name only from the first piece, and ignore empty ones; or ask without streaming.",
    )


def _read_late_name(name: str, first: int, event: int) -> Report:
    return Report(
        title=f"The first piece of the streamed call to `{name}` has no name.",
        detail=f"The call begins at event {first}, and its name comes with event {event}. Clients that read the name "
        "from the first piece refuse the stream, or drop the call.",
        evidence=(in_message("tool_calls"),),
        fix="Collect the pieces by index until a name has come; or ask without streaming. Report it to the authors of "
        "the server: the name belongs to the first piece.",
        severity=Severity.WARNING,
    )


RULE: Rule = TraceRule(
    code="PD464",
    name="repeated-call-head",
    severity=Severity.NOTE,
    stage=Stage.PARSE,
    find=find,
    stands_in_part=True,
    needs=TracePart.STREAM,
    threads=("BerriAI/litellm#20480", "BerriAI/litellm#12513", "jjang-ai/vmlx#244", "vercel/ai#14722"),
    fixes=(RequestFix("asked without streaming", setting(stream=False)),),
)
