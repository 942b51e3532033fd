"""Counts of calls, characters and parsers, and who reads what."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.account import (
    CharacterCounts,
    ParserTally,
    count_calls,
    count_characters,
    is_compared,
    outcomes_of_calls,
    readable_calls,
    tally_parsers,
)
from prompt_debugger.core.base.types import (
    CallMatch,
    CallOutcome,
    Certainty,
    Comparability,
    Fate,
    JSONObject,
    Ledger,
    LedgerEntry,
    Parse,
    ParserOutcome,
    Span,
)
from prompt_debugger.core.pipeline import add_accounts
from prompt_debugger.core.report import parsers_sentence
from tests.core.diagnose.cases import build_trace

CALL = '<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|>'
RAW = f"<|tool_calls_section_begin|>{CALL}<|tool_calls_section_end|>"
RETURNED: JSONObject = {"id": "x", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
TOGETHER = Comparability(Certainty.OBSERVED)


def parse_of(raw: str) -> Parse:
    parse = build_trace({"tools": ["get_weather"], "raw": raw}).parse
    assert parse is not None
    return parse


def test_white_space_alone_is_counted_apart() -> None:
    entries = (
        LedgerEntry(Span(0, 2), Fate.CONTENT, "content"),
        LedgerEntry(Span(2, 4), Fate.LOST),
        LedgerEntry(Span(4, 7), Fate.LOST),
        LedgerEntry(Span(7, 8), Fate.ALTERED, "content"),
    )
    counts = count_characters("ab  c dX", Ledger(entries, comparability=TOGETHER))

    assert counts == CharacterCounts(total=8, lost=3, altered=1, blank=2, accounted=2)
    assert counts.missing == 4


def test_characters_of_several_places_with_one_fate_are_added_up() -> None:
    spans = (Span(0, 2), Span(2, 5), Span(5, 6))
    fates = (Fate.LOST, Fate.LOST, Fate.ALTERED)
    entries = tuple(LedgerEntry(span, fate) for span, fate in zip(spans, fates, strict=True))

    counts = count_characters("abcdef", Ledger(entries, comparability=TOGETHER))

    assert counts == CharacterCounts(total=6, lost=5, altered=1, blank=0, accounted=0)


@pytest.mark.parametrize("comparability", [None, Comparability(None, "two runs")])
def test_nothing_is_counted_where_nothing_was_compared(comparability: Comparability | None) -> None:
    ledger = Ledger((LedgerEntry(Span(0, 1), Fate.LOST),), comparability=comparability)

    assert not is_compared(ledger)
    assert count_characters("a", ledger) is None


def test_a_count_of_calls_is_a_count_of_outcomes() -> None:
    outcomes = [CallOutcome.KEPT, CallOutcome.ALTERED, CallOutcome.DROPPED, CallOutcome.DRAFT, CallOutcome.CUT]
    matches = [CallMatch(i, i if i < 2 else None, (), outcome) for i, outcome in enumerate(outcomes)]
    calls = count_calls(Ledger((), (*matches, CallMatch(None, 2, (), CallOutcome.INVENTED))))

    assert (calls.written, calls.returned, calls.wrong, calls.unknown) == (5, 3, 3, 0)
    assert (calls.kept, calls.draft, calls.cut) == (1, 1, 1)


def test_a_call_that_no_match_names_is_unknown() -> None:
    assert outcomes_of_calls(parse_of(RAW)) == {0: CallOutcome.UNKNOWN}


def test_parsers_are_those_asked_those_that_ran_and_those_that_read_it() -> None:
    outcomes = {
        "vllm:kimi_k2": ParserOutcome(None, None, (RETURNED,)),
        "vllm:hermes": ParserOutcome(None, None, ()),
        "vllm:broken": ParserOutcome(None, None, (), error="it needs another tokenizer"),
    }
    parse = parse_of(RAW)
    accounted = add_accounts(parse, outcomes)

    assert tally_parsers(accounted) == ParserTally(asked=3, ran=2, reading=("vllm:kimi_k2",))
    assert parsers_sentence(parse, accounted) == "1 of 2 parsers reads the call: `kimi_k2`. 1 more could not be run."
    assert accounted["vllm:broken"].account is None


def test_a_cut_call_and_a_draft_are_none_that_a_parser_has_to_give() -> None:
    cut, draft = parse_of(RAW[:100]), parse_of(f"<think>{RAW}</think>No.")
    silent = {"vllm:hermes": ParserOutcome("", "No.", ())}

    assert (readable_calls(cut), readable_calls(draft), readable_calls(parse_of(RAW))) == (0, 0, 1)
    for parse in (cut, draft):
        assert "finds no complete call, as none was written" in parsers_sentence(parse, add_accounts(parse, silent))
