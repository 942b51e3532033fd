"""Other parsers on the same raw output: which of them would have read it?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from core.parse import build_ledger
from core.parse.engines import VllmOutcome
from core.pipeline import is_server_parser, message_from_outcome, parser_of_server
from core.types import Fate, JSONObject, Ledger, Parse, ParserOutcome, Place, Trace
from ui.present.payload import pack_payload
from ui.present.tool_state import progress_of
from ui.present.words import count_of, joined, shortened

_NAMED_PARSERS = 6
_LOST = (Fate.LOST, Fate.ALTERED)


class Account(NamedTuple):
    """What a parser made of the calls of an output, and how many characters it lost.

    Attributes:
        dropped: Calls of the output that it does not give.
        altered: Calls that it gives with another name or other arguments.
        invented: Calls that the output does not hold.
        lost: Characters that are lost or altered; a stretch of blanks alone does not count.
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
            "progress": progress_of(len(outcomes), total if total is not None else len(outcomes), "parsers"),
            "rows": [*rows],
        }
    )


def account_of(parse: Parse, outcome: ParserOutcome) -> Account:
    """Return what became of an output's calls and characters in a parser's result."""
    ledger = build_ledger(parse.raw, parse.parsed, message_from_outcome(outcome))
    return _account(parse, ledger)


def _account(parse: Parse, ledger: Ledger) -> Account:
    hidden = {
        index for index, call in enumerate(parse.parsed.calls) if call.place is Place.REASONING
    }  # a parser that leaves those alone is right
    dropped = sum(match.message_index is None and match.raw_index not in hidden for match in ledger.matches)
    altered = sum(bool({"name", "arguments"} & set(match.altered)) for match in ledger.matches)
    invented = sum(match.raw_index is None for match in ledger.matches)
    lost = sum(
        entry.char_span.stop - entry.char_span.start
        for entry in ledger.entries
        if entry.fate in _LOST and parse.raw[slice(*entry.char_span)].strip()
    )
    return Account(dropped, altered, invented, lost)


def _matrix_row(
    name: str, outcome: ParserOutcome, account: Account | None, parse: Parse, *, is_own: bool
) -> JSONObject:
    state, word = row_verdict(outcome, account, len(parse.parsed.calls))
    return {
        "name": name,
        "own": is_own,
        "state": state,
        "word": word,
        "order": list(account or (99, 0, 0, 0)),
        "calls": [shortened(signature(call), 200) for call in outcome.tool_calls],
        "content": None if outcome.content is None else shortened(outcome.content, 200),
        "reasoning": None if outcome.reasoning is None else shortened(outcome.reasoning, 200),
        "stream": _stream_word(outcome),
        "stream_state": {True: "same", False: "differs", None: "untried"}[outcome.stream_equal],
        "unequal": outcome.first_unequal or "",
        "note": row_note(outcome),
    }


def row_verdict(outcome: ParserOutcome, account: Account | None, written: int) -> tuple[str, str]:
    """Return the state of a result (`right`, `lossy`, `wrong`, `error`), and the same in words."""
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


def row_note(outcome: ParserOutcome) -> str:
    """Return what else there is to say of a result."""
    if not isinstance(outcome, VllmOutcome):
        return ""
    called = "says that it found calls, and gives none" if outcome.tools_called and not outcome.tool_calls else None
    return joined(called, vocabulary_note(outcome), *outcome.log[:2])


def vocabulary_note(outcome: VllmOutcome) -> str | None:
    """Return why the parser had a stand-in vocabulary, `None` if it had the model's own."""
    return None if outcome.stand_in is None else f"stand-in vocabulary: {outcome.stand_in}"


def _short(name: str) -> str:
    return name.removeprefix("vllm:")


def signature(call: JSONObject) -> str:
    """Return a call as people write it: `name(arguments)`."""
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    return f"{function.get('name')}({function.get('arguments')})"
