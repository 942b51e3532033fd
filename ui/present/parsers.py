"""Other parsers on the same raw output: which of them would have read it?"""

from __future__ import annotations

from collections.abc import Mapping

from prompt_debugger.core.base.account import readable_calls, tally_parsers
from prompt_debugger.core.base.types import JSONObject, Parse, ParserAccount, ParserOutcome, Trace, VllmOutcome
from prompt_debugger.core.complete import parser_names_of, title_of
from prompt_debugger.core.formats import checkpoint_in
from prompt_debugger.core.pipeline import add_accounts, is_server_parser, parser_of_server
from prompt_debugger.core.report import by_engine, engines_sentence, reading_words
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.tool_state import progress_of
from prompt_debugger.ui.present.words import count_of, joined, shortened

_WORST = ParserAccount(0, 0, 0, 0, 0)


def matrix_payload(
    trace: Trace,
    outcomes: Mapping[str, ParserOutcome] | None = None,
    *,
    total: int | None = None,
    version: str = "",
    is_running: bool = False,
) -> str | None:
    """Return the payload of the matrix (which parser would have parsed this?), `None` if no one was asked yet."""
    parse = trace.parse
    outcomes = (parse.parsers if parse is not None else {}) if outcomes is None else outcomes
    if parse is None or (not outcomes and not is_running):
        return None
    own = parser_of_server(trace)
    outcomes = add_accounts(parse, outcomes)
    first = _first_of_engines(parse, outcomes)
    rows = [
        _matrix_row(name, outcome, parse, is_own=_is_own(name, outcome, own)) | {"first": name in first}
        for name, outcome in outcomes.items()
    ]
    rows.sort(key=_rank)
    if len(engines := list(by_engine(outcomes))) > 1:  # engine by engine, the server's own parser on top all the same
        order = {name: engines.index(kind) for kind, every in by_engine(outcomes).items() for name in every}
        rows.sort(key=lambda row: (row["own"] is not True, order.get(str(row["name"]), -1)))
    return pack_payload(
        {
            "state": "running" if is_running else "done",
            "sentence": _matrix_sentence(parse, outcomes, own, is_running=is_running),
            "source": _matrix_source(outcomes, version),
            "progress": progress_of(len(outcomes), total if total is not None else len(outcomes), "parsers"),
            "rows": [*rows],
        }
    )


def asking_payload() -> str:
    """Return the payload of the matrix of a run that just lost a call: its view asks all parsers at once."""
    return pack_payload(
        {
            "state": "running",
            "sentence": "A call was lost: testing which of vLLM's parsers reads this output.",
            "source": "",
            "progress": {"text": "vLLM is loaded for this the first time, which takes some seconds", "fraction": None},
            "rows": [],
            "asks": True,
        }
    )


def _first_of_engines(parse: Parse, outcomes: Mapping[str, ParserOutcome]) -> set[str]:
    """Return of each engine the parser that the output's family would use first, where it has one."""
    shown = checkpoint_in(parse.parsed.format, parse.raw)
    found: set[str] = set()
    for kind, every in by_engine(outcomes).items():
        own = parser_names_of(kind, parse.parsed.format, None if shown is None else shown[0]).tools
        by_tool = {name.partition(":")[2].partition("+")[0]: name for name in every}
        found |= {by_tool[tool] for tool in own if tool in by_tool and not found & {*every}}
    return found


def _matrix_row(name: str, outcome: ParserOutcome, parse: Parse, *, is_own: bool) -> JSONObject:
    state, word = row_verdict(outcome, parse)
    account = outcome.account
    return {
        "name": name,
        "engine": f"{title_of(outcome.engine)} {outcome.release}".strip() if isinstance(outcome, VllmOutcome) else "",
        "own": is_own,
        "state": state,
        "word": word,
        "order": [99, 0] if account is None else [_faults(account), account.missing],
        "calls": [shortened(signature(call), 200) for call in outcome.tool_calls],
        "content": None if outcome.content is None else shortened(outcome.content, 200),
        "reasoning": None if outcome.reasoning is None else shortened(outcome.reasoning, 200),
        "stream": _stream_word(outcome),
        "stream_state": {True: "same", False: "differs", None: "untried"}[outcome.stream_equal],
        "unequal": outcome.first_unequal or "",
        "finish": outcome.finish_reason or "",
        "note": row_note(outcome),
    }


def row_verdict(outcome: ParserOutcome, parse: Parse | None) -> tuple[str, str]:
    """Return the state of an accounted result (`right`, `lossy`, `wrong`, `error`), and the same in words."""
    account, written = outcome.account, 0 if parse is None else readable_calls(parse)
    if account is None:
        return "error", f"failed: {shortened(outcome.error or '', 200)}"
    cut = f"{count_of(account.cut, 'call')} cut" if account.cut else None
    lost = f"{count_of(account.missing, 'character')} lost" if account.missing else None
    if account.is_right:
        reads = joined(reading_words(written, is_several=False) if written or not cut else None, cut)
        return ("right", reads) if not account.missing else ("lossy", joined(reads, lost))
    parts = [
        f"{account.dropped} of {count_of(written, 'call')} dropped" if account.dropped else None,
        f"{account.altered} altered" if account.altered else None,
        f"{account.invented} invented" if account.invented else None,
        cut,
        lost,
    ]
    return "wrong", joined(*parts)


def _faults(account: ParserAccount) -> int:
    return account.dropped + account.altered + account.invented


def _rank(row: JSONObject) -> tuple[bool, bool, int, int, str]:
    order = row["order"]
    assert isinstance(order, list)
    faults, missing = (int(str(figure)) for figure in order)
    return row["own"] is not True, row["state"] == "error", faults, missing, str(row["name"])


def _is_own(name: str, outcome: ParserOutcome, own: str | None) -> bool:
    """Return whether a name means the parser of the server under test, asked there or offline."""
    asked_there = is_server_parser(name) and not isinstance(outcome, VllmOutcome)
    return asked_there or (own is not None and name.partition("+")[0] == own.partition("+")[0])


def _matrix_sentence(parse: Parse, outcomes: Mapping[str, ParserOutcome], own: str | None, *, is_running: bool) -> str:
    if is_running and not outcomes:
        return "Testing every tool parser of vLLM."
    best_first = dict(sorted(outcomes.items(), key=lambda item: (item[1].account or _WORST).missing))
    mine = next((outcome.account for name, outcome in outcomes.items() if _is_own(name, outcome, own)), None)
    reported = ""
    if mine is not None and own is not None and tally_parsers(outcomes).reading:
        reported = f" This server's own, `{_short(own)}`, is {'' if mine.is_right else 'not '}among them."
    return engines_sentence(parse, best_first, title_of) + reported


def _matrix_source(outcomes: Mapping[str, ParserOutcome], version: str) -> str:
    seen = [outcome for outcome in outcomes.values() if isinstance(outcome, VllmOutcome)]
    version = version or next((outcome.vllm_version for outcome in seen), "")
    approximate = sum(outcome.stand_in is not None for outcome in seen)
    note = (
        f"{approximate} of them with an approximate vocabulary (the model's own was not available)"
        if approximate
        else None
    )
    engines = [f"{title_of(kind)} {_release_of(every)}" for kind, every in by_engine(outcomes).items()]
    names = engines if len(engines) > 1 else [f"vLLM {version}"] if version else []
    return joined(*names, "compared with the calls found in the raw output", note)


def _release_of(outcomes: Mapping[str, ParserOutcome]) -> str:
    return next((one.release for one in outcomes.values() if isinstance(one, VllmOutcome)), "")


def _stream_word(outcome: ParserOutcome) -> str:
    if outcome.stream_equal is None:
        return "not tried"
    tried = count_of(outcome.splits_tried, "split")
    return f"same in {tried}" if outcome.stream_equal else f"differs in some of {tried}"


def row_note(outcome: ParserOutcome) -> str:
    """Return what else there is to say of a result."""
    if not isinstance(outcome, VllmOutcome):
        return ""
    called = "reports calls, but returns none" if outcome.tools_called and not outcome.tool_calls else None
    alone = "its server's own code was not run" if outcome.layer == "parser" else None
    warning = f"it says: {outcome.words}" if outcome.words and not outcome.log else None
    return joined(warning, called, alone, vocabulary_note(outcome), *outcome.log[:2])


def vocabulary_note(outcome: VllmOutcome) -> str | None:
    """Return why the parser had an approximate vocabulary, `None` if it had the model's own."""
    return None if outcome.stand_in is None else f"approximate vocabulary: {outcome.stand_in}"


def _short(name: str) -> str:
    return name.removeprefix("vllm:")


def signature(call: JSONObject) -> str:
    """Return a call as people write it: `name(arguments)`."""
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    return f"{function.get('name')}({function.get('arguments')})"
