"""The releases of engines side by side: which takes which call, and where one began to vanish."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from prompt_debugger.core.base.types import JSON, JSONObject, Trace
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.parse.engines import engine_of_parser
from prompt_debugger.core.pipeline import account_of
from prompt_debugger.core.tools.experiments import ReleaseRow, ReleaseTable
from prompt_debugger.core.tools.experiments.release_sentence import releases_sentence
from prompt_debugger.ui.present.parsers import row_note, row_verdict, signature
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.tool_state import progress_of
from prompt_debugger.ui.present.words import as_sentence, count_of, joined, shortened

_CONTROL = {True: "reads a healthy call", False: "does not read a healthy call either", None: ""}


def releases_payload(
    trace: Trace,
    tables: Sequence[ReleaseTable],
    *,
    total: int,
    step: str = "",
    is_running: bool = False,
    engines: Collection[str] = (),
) -> str:
    """Return the payload of the releases, with a table for each parser; `total` is how many releases there will be."""
    done = sum(len(table.rows) for table in tables)
    several = len(tables) > 1
    return pack_payload(
        {
            "state": "running" if is_running else "done",
            "sentence": _sentence(trace, tables, engines, is_running=is_running),
            "source": ("Each with" if several else f"Parser {tables[0].parser}, with")
            + " one helper per release, today's tokenizer",
            "progress": progress_of(done, total, step or "releases"),
            "tables": [_table(table, trace, several=several) for table in tables],
        }
    )


def _table(table: ReleaseTable, trace: Trace, *, several: bool) -> JSONObject:
    kind = engine_of_parser(table.parser)
    calls: list[JSON] = [
        {
            "name": call.name,
            "arguments": shortened(call.arguments, 160),
            "taken": [row.version in call.taken_by if row.tells else None for row in table.rows],
        }
        for call in table.calls
    ]
    return {
        "engine": title_of(kind),
        "title": f"{title_of(kind)}, parser {table.parser}" if several else "",
        "versions": [row.version for row in table.rows],
        "calls": calls,
        "rows": [_release_row(row, trace) for row in table.rows],
    }


def _sentence(trace: Trace, tables: Sequence[ReleaseTable], engines: Collection[str], *, is_running: bool) -> str:
    """Return since when each engine reads the output, or of one engine where its calls appear and vanish."""
    if len(tables) == 1 and len(engines) < 2:
        return _releases_sentence(trace, tables[0], is_running=is_running)
    if is_running or trace.parse is None:
        return "Testing one release after the other, engine by engine."
    return (
        releases_sentence(trace.parse, tables, account_of, engines)
        or "The output contains no whole call, so no release has one to read."
    )


def _releases_sentence(trace: Trace, table: ReleaseTable, *, is_running: bool) -> str:
    changes = [
        f"`{call.name}` {verb} in {after} ({before} {'still took' if verb == 'vanishes' else 'did not take'} it)"
        for call in table.calls
        for verb, pairs in (("vanishes", call.vanishes_in), ("appears", call.appears_in))
        for before, after in pairs
    ]
    if changes:
        return as_sentence("; ".join(changes))
    asked = [row for row in table.rows if row.tells]
    if is_running or not asked:
        return "Testing one release after the other." if is_running else "None of these releases could be tested."
    names = f"{asked[0].version} to {asked[-1].version}" if len(asked) > 1 else asked[0].version
    written = 0 if trace.parse is None else len(trace.parse.parsed.calls)
    if not table.calls:
        reads = " Each of them reads a healthy call." if all(row.control for row in asked) else ""
        return f"No release reads a call here ({names}); the output contains {count_of(written, 'call')}.{reads}"
    return f"All tested releases read the same {count_of(len(table.calls), 'call')} ({names})."


def _release_row(row: ReleaseRow, trace: Trace) -> JSONObject:
    outcome = row.outcome
    if outcome is None:
        return {"version": row.version, "error": row.error or "", "calls": [], "content": None, "word": "not asked"}
    if trace.parse is not None and not outcome.error:
        outcome = replace(outcome, account=account_of(trace.parse, outcome))
    state, word = row_verdict(outcome, trace.parse)
    return {
        "version": row.version,
        "error": row.error or "",
        "state": state,
        "word": word,
        "calls": [shortened(signature(call), 160) for call in outcome.tool_calls],
        "content": None if outcome.content is None else shortened(outcome.content, 160),
        "finish_reason": outcome.finish_reason,
        "note": joined(f"layer {outcome.layer}", row_note(outcome), _CONTROL[row.control]),
    }
