"""Other parsers on the same raw output: the matrix, the split fuzz, and vLLM's releases side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from core.errors import DebuggerError
from core.parse import build_ledger
from core.parse.engines import ReleaseRow, ReleaseTable, VllmOutcome
from core.pipeline import is_server_parser, message_from_outcome, parser_of_server
from core.types import JSON, Fate, JSONObject, Ledger, Parse, ParserOutcome, Place, Span, Trace
from ui.present.json_text import json_segments, segments_to_json
from ui.present.payload import pack_payload
from ui.present.words import as_sentence, count_of, joined, shortened

_MAX_DELTAS = 400
_NAMED_PARSERS = 6
_LOST = (Fate.LOST, Fate.ALTERED)


class Account(NamedTuple):
    """What a parser made of the calls of an output, and how many characters that are no blanks it lost.

    Attributes:
        dropped: Calls of the output that it does not give.
        altered: Calls that it gives with another name or other arguments.
        invented: Calls that the output does not hold.
        lost: Characters that are lost or altered, blanks left out.
    """

    dropped: int
    altered: int
    invented: int
    lost: int

    @property
    def is_right(self) -> bool:
        """Whether it reads every call as it was written, and no other."""
        return self.dropped + self.altered + self.invented == 0


def matrix_payload(
    trace: Trace,
    outcomes: Mapping[str, ParserOutcome] | None = None,
    *,
    total: int | None = None,
    version: str = "",
    is_running: bool = False,
) -> str | None:
    """Return the payload of the matrix: which parser would have parsed this?

    Args:
        trace: A run.
        outcomes: Those that have come; by default those of the trace.
        total: How many there will be.
        version: Version of the vLLM they come from.
        is_running: Whether more are to come.

    Returns:
        The payload; `None` if nobody was asked yet.
    """
    parse = trace.parse
    outcomes = (parse.parsers if parse is not None else {}) if outcomes is None else outcomes
    if parse is None or (not outcomes and not is_running):
        return None
    own = parser_of_server(trace)
    accounts = {name: account_of(parse, outcome) for name, outcome in outcomes.items() if outcome.error is None}
    rows = [
        _matrix_row(name, outcome, accounts.get(name), parse, is_own=_is_own(name, own))
        for name, outcome in outcomes.items()
    ]
    rows.sort(key=_rank)
    written = len(parse.parsed.calls)
    return pack_payload(
        {
            "state": "running" if is_running else "done",
            "sentence": _matrix_sentence(accounts, written, own, is_running=is_running),
            "source": _matrix_source(outcomes, version),
            "progress": _progress(len(outcomes), total if total is not None else len(outcomes), "parsers"),
            "rows": [*rows],
        }
    )


def account_of(parse: Parse, outcome: ParserOutcome) -> Account:
    """Return what became of an output's calls and characters in a parser's result."""
    ledger = build_ledger(parse.raw, parse.parsed, message_from_outcome(outcome))
    return _account(parse, ledger)


def splits_payload(trace: Trace, parser: str, outcome: VllmOutcome) -> str:
    """Return the payload of the split fuzz of one parser."""
    whole = message_from_outcome(outcome)
    header: JSONObject = {
        "state": "done" if outcome.error is None else "error",
        "sentence": _splits_sentence(parser, outcome),
        "hint": "",
        "source": joined(f"vLLM {outcome.vllm_version}", _vocabulary_note(outcome)),
        "equal": outcome.stream_equal,
        "trials": [[trial.name, trial.deltas, trial.difference] for trial in outcome.trials],
        "whole": _json(whole),
        "log": [*outcome.log],
    }
    if outcome.smallest_split and outcome.parts_at is not None:
        header["split"] = _split(trace, outcome, outcome.parts_at)
    return pack_payload(header)


def releases_payload(trace: Trace, table: ReleaseTable, *, total: int, step: str = "", is_running: bool = False) -> str:
    """Return the payload of the releases.

    Args:
        trace: A run.
        table: What is known so far.
        total: How many releases are asked.
        step: What is happening now.
        is_running: Whether more are to come.
    """
    calls: list[JSON] = [
        {
            "name": call.name,
            "arguments": shortened(call.arguments, 160),
            "taken": [None if row.outcome is None else row.version in call.taken_by for row in table.rows],
        }
        for call in table.calls
    ]
    return pack_payload(
        {
            "state": "running" if is_running else "done",
            "sentence": _releases_sentence(trace, table, is_running=is_running),
            "source": f"Parser {table.parser}, one helper per release, today's tokenizer",
            "progress": _progress(len(table.rows), total, step or "releases"),
            "versions": [row.version for row in table.rows],
            "calls": calls,
            "rows": [_release_row(row, trace) for row in table.rows],
        }
    )


def tool_error_payload(error: DebuggerError) -> str:
    """Return the payload of a question that could not be asked."""
    return pack_payload({"state": "error", "sentence": as_sentence(error.message), "hint": error.hint})


def waiting_payload(sentence: str, text: str) -> str:
    """Return the payload of a question whose answer takes a while."""
    return pack_payload(
        {"state": "running", "sentence": sentence, "waiting": True, "progress": {"text": text, "fraction": None}}
    )


def jump_of(trace: Trace, char_span: Span) -> JSONObject:
    """Return where to go for some characters of the raw output: to their tokens, where ids are known."""
    tokens = None if trace.raw is None else trace.raw.tokens
    if tokens:
        hit = [
            index
            for index, token in enumerate(tokens)
            if token.char_span.start < max(char_span.stop, char_span.start + 1)
            and token.char_span.stop > char_span.start
        ]
        if hit:
            return {"in": "raw", "token_span": [hit[0], hit[-1] + 1]}
    return {"in": "raw", "char_span": [*char_span]}


def _account(parse: Parse, ledger: Ledger) -> Account:
    hidden = {
        index for index, call in enumerate(parse.parsed.calls) if call.place is Place.REASONING
    }  # a parser that leaves those alone is right
    dropped = sum(match.message_index is None and match.raw_index not in hidden for match in ledger.matches)
    altered = sum(bool({"name", "arguments"} & set(match.altered)) for match in ledger.matches)
    invented = sum(match.raw_index is None for match in ledger.matches)
    lost = sum(
        len("".join(parse.raw[slice(*entry.char_span)].split())) for entry in ledger.entries if entry.fate in _LOST
    )
    return Account(dropped, altered, invented, lost)


def _matrix_row(
    name: str, outcome: ParserOutcome, account: Account | None, parse: Parse, *, is_own: bool
) -> JSONObject:
    state, word = _row_verdict(outcome, account, len(parse.parsed.calls))
    return {
        "name": name,
        "own": is_own,
        "state": state,
        "word": word,
        "order": list(account or (99, 0, 0, 0)),
        "calls": [shortened(_signature(call), 200) for call in outcome.tool_calls],
        "content": None if outcome.content is None else shortened(outcome.content, 200),
        "reasoning": None if outcome.reasoning is None else shortened(outcome.reasoning, 200),
        "stream": _stream_word(outcome),
        "stream_state": {True: "same", False: "differs", None: "untried"}[outcome.stream_equal],
        "unequal": outcome.first_unequal or "",
        "note": _row_note(outcome),
    }


def _row_verdict(outcome: ParserOutcome, account: Account | None, written: int) -> tuple[str, str]:
    if account is None:
        return "error", f"failed: {shortened(outcome.error or '', 200)}"
    lost = f"{count_of(account.lost, 'character')} lost" if account.lost else None
    if account.is_right:
        reads = (
            "reads the call" if written == 1 else f"reads all {written} calls" if written else "no call, none written"
        )
        return ("right", reads) if not account.lost else ("lossy", joined(reads, lost))
    parts = [
        f"{account.dropped} of {count_of(written, 'call')} dropped" if account.dropped else None,
        f"{account.altered} altered" if account.altered else None,
        f"{account.invented} invented" if account.invented else None,
        lost,
    ]
    return "wrong", joined(*parts)


def _rank(row: JSONObject) -> tuple[bool, bool, int, int, str]:
    order = row["order"]
    assert isinstance(order, list)
    dropped, altered, invented, lost = (int(str(figure)) for figure in order)
    return row["own"] is not True, row["state"] == "error", dropped + altered + invented, lost, str(row["name"])


def _is_own(name: str, own: str | None) -> bool:
    """Say whether a name means the parser of the server under test, asked there or offline."""
    return is_server_parser(name) or (own is not None and name.partition("+")[0] == own.partition("+")[0])


def _matrix_sentence(accounts: Mapping[str, Account], written: int, own: str | None, *, is_running: bool) -> str:
    if is_running and not accounts:
        return "Asking every tool parser of vLLM."
    right = sorted((account.lost, name) for name, account in accounts.items() if account.is_right)
    what = "reads the call" if written == 1 else f"reads all {written} calls" if written else "finds no call"
    if not right:
        return f"None of {count_of(len(accounts), 'parser')} {what}."
    named = [f"`{_short(name)}`" for _, name in right[:_NAMED_PARSERS]]
    more = f" and {len(right) - len(named)} more" if len(right) > len(named) else ""
    them = f"1 of {count_of(len(accounts), 'parser')} {what}"
    if len(right) > 1:
        them = f"{len(right)} of {len(accounts)} parsers {what.replace('s ', ' ', 1)}"
    mine = next((account for name, account in accounts.items() if _is_own(name, own)), None)
    told = "" if mine is None or own is None else f" This server's own, `{_short(own)}`, is {_among(mine)}."
    return f"{them}: {', '.join(named)}{more}.{told}"


def _among(account: Account) -> str:
    if account.is_right:
        return "among them"
    return "not among them"


def _matrix_source(outcomes: Mapping[str, ParserOutcome], version: str) -> str:
    seen = [outcome for outcome in outcomes.values() if isinstance(outcome, VllmOutcome)]
    version = version or next((outcome.vllm_version for outcome in seen), "")
    stand_ins = sum(outcome.stand_in is not None for outcome in seen)
    note = f"{stand_ins} of them with a stand-in vocabulary" if stand_ins else None
    return joined(f"vLLM {version}" if version else None, "held against the census of the raw output", note)


def _stream_word(outcome: ParserOutcome) -> str:
    if outcome.stream_equal is None:
        return "not tried"
    tried = count_of(outcome.splits_tried, "split")
    return f"same in {tried}" if outcome.stream_equal else f"differs in some of {tried}"


def _row_note(outcome: ParserOutcome) -> str:
    if not isinstance(outcome, VllmOutcome):
        return ""
    called = "says that it found calls, and gives none" if outcome.tools_called and not outcome.tool_calls else None
    return joined(called, _vocabulary_note(outcome), *outcome.log[:2])


def _vocabulary_note(outcome: VllmOutcome) -> str | None:
    return None if outcome.stand_in is None else f"stand-in vocabulary: {outcome.stand_in}"


def _splits_sentence(parser: str, outcome: VllmOutcome) -> str:
    if outcome.error is not None:
        return f"`{parser}` cannot be tried: {as_sentence(outcome.error)}"
    tried = count_of(outcome.splits_tried, "chunking")
    if outcome.stream_equal:
        return f"`{parser}` streams to the same message in every one of {tried}."
    failing = sum(trial.difference is not None for trial in outcome.trials)
    usual = (
        "token by token, the usual way, is among them"
        if outcome.usual_stream_equal is False
        else ("token by token, the usual way, is not among them")
    )
    return f"`{parser}` streams to another message in {failing} of {tried}; {usual}."


def _split(trace: Trace, outcome: VllmOutcome, parts_at: int) -> JSONObject:
    """Return the smallest failing split: its deltas around the parting one, and the messages before and after it."""
    deltas = outcome.smallest_split
    first = max(0, min(parts_at - _MAX_DELTAS // 2, len(deltas) - _MAX_DELTAS))
    start = len("".join(deltas[:parts_at]))
    before, after, streamed = outcome.parting or (None, None, None)
    return {
        "told": outcome.first_unequal or "",
        "usual": outcome.usual_unequal or "",
        "first": first,
        "count": len(deltas),
        "deltas": [*deltas[first : first + _MAX_DELTAS]],
        "parts_at": parts_at,
        "jump": _delta_jump(trace, outcome, start, deltas[parts_at]) if deltas else None,
        "before": None if before is None else _json(before),
        "after": None if after is None else _json(after),
        "streamed": None if streamed is None else _json(streamed),
        "has_messages": outcome.parting is not None,
    }


def _delta_jump(trace: Trace, outcome: VllmOutcome, start: int, delta: str) -> JSON:
    """Return where the parting delta stands in the raw output, if the deltas spell its beginning."""
    parse = trace.parse
    if parse is None or not parse.raw.startswith("".join(outcome.smallest_split)):
        return None
    return jump_of(trace, Span(start, start + len(delta)))


def _releases_sentence(trace: Trace, table: ReleaseTable, *, is_running: bool) -> str:
    changes = [
        f"`{call.name}` {verb} in {after} ({before} {'still took' if verb == 'vanishes' else 'did not take'} it)"
        for call in table.calls
        for verb, pairs in (("vanishes", call.vanishes_in), ("appears", call.appears_in))
        for before, after in pairs
    ]
    if changes:
        return as_sentence("; ".join(changes))
    asked = [row for row in table.rows if row.outcome is not None]
    if is_running or not asked:
        return "Asking one release after the other." if is_running else "None of these releases could be asked."
    names = f"{asked[0].version} to {asked[-1].version}" if len(asked) > 1 else asked[0].version
    written = 0 if trace.parse is None else len(trace.parse.parsed.calls)
    if not table.calls:
        return f"No release takes a call here ({names}); the output holds {count_of(written, 'call')}."
    return f"All releases asked take the same {count_of(len(table.calls), 'call')} ({names})."


def _release_row(row: ReleaseRow, trace: Trace) -> JSONObject:
    outcome = row.outcome
    if outcome is None:
        return {"version": row.version, "error": row.error or "", "calls": [], "content": None, "word": "not asked"}
    account = None if trace.parse is None or outcome.error else account_of(trace.parse, outcome)
    written = 0 if trace.parse is None else len(trace.parse.parsed.calls)
    state, word = _row_verdict(outcome, account, written)
    return {
        "version": row.version,
        "error": row.error or "",
        "state": state,
        "word": word,
        "calls": [shortened(_signature(call), 160) for call in outcome.tool_calls],
        "content": None if outcome.content is None else shortened(outcome.content, 160),
        "finish_reason": outcome.finish_reason,
        "note": joined(f"layer {outcome.layer}", _row_note(outcome)),
    }


def _progress(done: int, total: int, what: str) -> JSONObject:
    return {"text": f"{done} of {total} {what}", "fraction": done / total if total else None}


def _json(message: JSONObject) -> list[JSON]:
    return segments_to_json(json_segments({key: value for key, value in message.items() if key != "role"}))


def _short(name: str) -> str:
    return name.removeprefix("vllm:")


def _signature(call: JSONObject) -> str:
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    return f"{function.get('name')}({function.get('arguments')})"
