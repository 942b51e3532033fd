"""The ledger to the character: what exactly is altered, lost, moved or invented, and what is an accident."""

from __future__ import annotations

from itertools import pairwise

import pytest

from prompt_debugger.core.base.account import outcomes_of_calls
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import (
    JSON,
    CallOutcome,
    Comparability,
    Fate,
    JSONObject,
    Ledger,
    LedgerEntry,
    Parse,
    Span,
)
from prompt_debugger.core.formats import FORMATS
from prompt_debugger.core.parse import build_ledger
from prompt_debugger.core.parse.align import Match
from prompt_debugger.core.parse.ledger import Claims, _distinctive_matches, _merge
from prompt_debugger.core.parse.matching import MessageCall, message_calls
from tests.core.diagnose.cases import build_trace

OPEN, CLOSE = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
BEGIN, ARGUMENTS, END = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
TARGET = "tool_calls[0].function.arguments"


def kimi(header: str, arguments: str) -> str:
    return f"{OPEN}{BEGIN}{header}{ARGUMENTS}{arguments}{END}{CLOSE}"


def entry(name: str, arguments: str, call_id: str | None = "x") -> JSONObject:
    return {"id": call_id, "function": {"name": name, "arguments": arguments}}


def keep(raw: str, message: JSONObject | None, name: str = "kimi_k2") -> Ledger:
    return build_ledger(raw, FORMATS[name].read(raw, ReadContext()), message)


def shown(raw: str, ledger: Ledger, *fates: Fate) -> list[tuple[str, Fate, str | None]]:
    return [
        (raw[slice(*one.char_span)], one.fate, one.target)
        for one in ledger.entries
        if one.fate in (fates or (Fate.LOST, Fate.ALTERED, Fate.CONTENT, Fate.REASONING))
    ]


def test_without_a_message_too_neighbours_of_one_fate_are_one_entry() -> None:
    entries = keep("Now." + kimi("functions.f:0", "{}"), None).entries

    assert all((one.fate, one.target) != (other.fate, other.target) for one, other in pairwise(entries))


def test_with_a_message_too_neighbours_of_one_fate_are_one_entry() -> None:
    raw = "Now." + kimi("functions.f:0", "{}")
    entries = keep(raw, {"content": "Now.", "tool_calls": [entry("f", "{}", "functions.f:0")]}).entries

    assert [(raw[slice(*one.char_span)], one.fate) for one in entries] == [
        ("Now.", Fate.CONTENT),
        (OPEN + BEGIN, Fate.MARKUP),
        ("functions.", Fate.CALL_ID),
        ("f", Fate.CALL_NAME),
        (":0", Fate.CALL_ID),
        (ARGUMENTS, Fate.MARKUP),
        ("{}", Fate.CALL_ARGUMENTS),
        (END + CLOSE, Fate.MARKUP),
    ]


def test_text_that_was_found_lost_and_text_that_nothing_claimed_are_one_entry() -> None:
    claims = Claims(4)
    claims.claim(Span(0, 2), Fate.LOST)

    assert _merge(claims.entries()) == (LedgerEntry(Span(0, 4), Fate.LOST, None),)


def test_neighbours_with_different_targets_stay_two_entries() -> None:
    claims = Claims(2)
    claims.claim(Span(0, 1), Fate.ALTERED, "content")
    claims.claim(Span(1, 2), Fate.ALTERED, "reasoning")

    assert [one.target for one in _merge(claims.entries())] == ["content", "reasoning"]


def test_a_message_that_may_not_be_compared_says_why() -> None:
    raw = kimi("functions.f:0", "{}")
    other_run = Comparability(None, "both are of different runs")
    ledger = build_ledger(raw, FORMATS["kimi_k2"].read(raw, ReadContext()), {"content": "Hi"}, other_run)

    assert ledger.comparability == other_run


def test_without_a_message_reasoning_should_go_where_reasoning_goes() -> None:
    raw = f"<think>Hm. {kimi('functions.f:0', '{}')}</think>Yes."

    assert shown(raw, keep(raw, None)) == [
        (raw[7 : raw.index("</think>")], Fate.REASONING, "reasoning"),
        ("Yes.", Fate.CONTENT, "content"),
    ]


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (
            '{"city": "QQQQ", "n": 1}',
            [
                ('{"city": "', Fate.CALL_ARGUMENTS, TARGET),
                ("Beijing", Fate.ALTERED, TARGET),
                ('", "n": 1}', Fate.CALL_ARGUMENTS, TARGET),
            ],
        ),
        (
            '{"city": "", "n": 1}',
            [
                ('{"city": "', Fate.CALL_ARGUMENTS, TARGET),
                ("Beijing", Fate.LOST, None),
                ('", "n": 1}', Fate.CALL_ARGUMENTS, TARGET),
            ],
        ),
        ('{"n":1,"city":"Beijing"}', [('{"city": "Beijing", "n": 1}', Fate.CALL_ARGUMENTS, TARGET)]),
        ('{"city": "Beijing", "n": 1, "more": 2}', [('{"city": "Beijing", "n": 1}', Fate.CALL_ARGUMENTS, TARGET)]),
        ("{}", [('{"city": "Beijing", "n": 1}', Fate.LOST, None)]),
        ("null", [('{"city": "Beijing", "n": 1}', Fate.LOST, None)]),
        ("", [('{"city": "Beijing", "n": 1}', Fate.LOST, None)]),
    ],
)
def test_of_changed_arguments_only_what_changed_is_altered_or_lost(
    returned: str, expected: list[tuple[str, Fate, str | None]]
) -> None:
    raw = "One moment." + kimi("functions.f:0", '{"city": "Beijing", "n": 1}')

    ledger = keep(raw, {"content": "One moment.", "tool_calls": [entry("f", returned, "functions.f:0")]})

    assert shown(raw, ledger, Fate.CALL_ARGUMENTS, Fate.ALTERED, Fate.LOST) == expected


def test_a_draft_that_reasoning_shows_stays_reasoning_even_if_it_was_returned() -> None:
    thought = f"Maybe {kimi('functions.f:0', '{}')}."
    raw = f"<think>{thought}</think>No."

    ledger = keep(raw, {"content": "No.", "reasoning": thought, "tool_calls": [entry("f", "{}", "functions.f:0")]})

    assert shown(raw, ledger) == [(thought, Fate.REASONING, "reasoning"), ("No.", Fate.CONTENT, "content")]
    assert [match.outcome for match in ledger.matches] == [CallOutcome.KEPT]


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ({"function": {"name": "f"}}, MessageCall("f", "", None, None)),
        ({"function": {"name": "f", "arguments": None}}, MessageCall("f", "", None, None)),
        ({"function": {"name": 1, "arguments": {"a": 1}}, "id": 2}, MessageCall("", '{"a": 1}', {"a": 1}, None)),
        ({"function": {"arguments": "{"}, "id": "x"}, MessageCall("", "{", None, "x")),
        ({"function": "f"}, MessageCall("", "", None, None)),
        ("f", MessageCall("", "", None, None)),
    ],
)
def test_a_returned_call_is_read_as_far_as_it_has_the_usual_shape(returned: JSON, expected: MessageCall) -> None:
    assert message_calls({"tool_calls": [returned]}) == (expected,)


def test_every_piece_that_nothing_explains_is_invented() -> None:
    raw = "Hello there. Bye now."

    ledger = keep(raw, {"content": "QQQQ Hello there. ZZZZ Bye now. WWWW"})

    assert ledger.invented == ("content[0:5]", "content[18:23]", "content[31:36]")
    assert shown(raw, ledger) == [(raw, Fate.CONTENT, "content")]


def test_white_space_around_text_that_moved_is_not_invented() -> None:
    raw = "<think>The thought.</think>Answer."

    ledger = keep(raw, {"content": "Answer.\n\n The thought."})

    assert ledger.invented == ()
    assert shown(raw, ledger) == [("The thought.", Fate.CONTENT, "content"), ("Answer.", Fate.CONTENT, "content")]


def test_what_moved_does_not_excuse_what_was_made_up_before_it() -> None:
    raw = "<think>The thought.</think>Answer."

    ledger = keep(raw, {"content": "QQQQ ZZZZ Answer.\n\n The thought."})

    assert ledger.invented == ("content[0:10]",)


def test_what_of_a_call_is_between_made_up_words_is_found_piece_by_piece() -> None:
    raw = "Fine. " + kimi("functions.search:0", '{"query": "green tea"}')
    content = 'XX functions.search:0 YY Fine. ZZ {"query": "green tea"} WW'

    ledger = keep(raw, {"content": content})

    found = "".join(text for text, _, _ in shown(raw, ledger, Fate.CONTENT))
    assert found == 'Fine. functions.search:0{"query": "green tea"}'
    assert shown(raw, ledger, Fate.LOST, Fate.ALTERED) == []
    spans = [tuple(map(int, name[8:-1].split(":"))) for name in ledger.invented]
    assert ["".join(content[a:b].split()) for a, b in spans] == ["XX", "YY", "ZZ", "WW"]


@pytest.mark.parametrize(
    ("matches", "text", "kept"),
    [
        ([Match(0, 0, 4)], "abcd efghij", [0]),
        ([Match(0, 0, 3)], "abcd efghij", []),
        ([Match(0, 0, 4), Match(9, 4, 2)], "abcd efghij", [0, 1]),
        ([Match(0, 0, 4), Match(9, 5, 2)], "abcd efghij", [0]),
        ([Match(0, 0, 2), Match(9, 2, 4)], "abcd efghij", [0, 1]),
        ([Match(0, 0, 2), Match(9, 3, 4)], "abcd efghij", [1]),
        ([Match(0, 0, 2), Match(9, 2, 3)], "abcd efghij", []),
        ([Match(0, 0, 2), Match(5, 2, 4), Match(20, 6, 3)], "abcd efghij", [0, 1, 2]),
        ([Match(0, 0, 4), Match(5, 5, 3), Match(20, 8, 3)], "abcd efghij", [0]),
        ([Match(0, 2, 2)], "  ab ", [0]),
        ([Match(0, 0, 2)], "ab c", []),
    ],
)
def test_short_agreements_count_where_they_join_a_long_one_or_are_all_there_is(
    matches: list[Match], text: str, kept: list[int]
) -> None:
    assert _distinctive_matches(matches, text, 0, len(text)) == [matches[index] for index in kept]


def test_what_is_all_there_is_is_measured_within_its_own_gap() -> None:
    match = Match(0, 5, 2)

    assert _distinctive_matches([match], "abcd\x00ef\x00ghij", 5, 7) == [match]
    assert _distinctive_matches([match], "abcd\x00ef\x00ghij", 4, 9) == []


@pytest.mark.parametrize(
    ("written", "returned", "is_paired"),
    [
        (("f", '{"query": green'), ("other", '{"query": "green"}'), True),
        (("f", '{"query"'), ("other", '{"query": 1}'), True),
        (("f", '{"quer"'), ("other", '{"quer": 1}'), False),
        (("f", ' {"query": green'), ("other", '  {"query": "green"}'), True),
        (("f", '{"query": green'), ("other", ' "{"query": "green"}'), False),
        (("search", "{}"), ("web_search_tool", '{"q": 1}'), True),
        (("web_search_tool", "{}"), ("search", '{"q": 1}'), True),
        (("search", "{}"), ("find", '{"q": 1}'), False),
        (("search", "{}"), ("", '{"q": 1}'), False),
    ],
)
def test_calls_that_are_alike_are_paired_last(
    written: tuple[str, str], returned: tuple[str, str], is_paired: bool
) -> None:
    raw = kimi(f"functions.{written[0]}:0", written[1])

    ledger = keep(raw, {"content": None, "tool_calls": [entry(*returned, call_id=None)]})

    assert [match.outcome for match in ledger.matches] == (
        [CallOutcome.ALTERED] if is_paired else [CallOutcome.DROPPED, CallOutcome.INVENTED]
    )


def test_marks_around_citations_may_be_taken_out() -> None:
    raw = "<|START_RESPONSE|>Tea is <co>green</co: 0:[1]>, mostly.<|END_RESPONSE|>"

    ledger = keep(raw, {"content": "Tea is green, mostly."}, "cohere_command")

    assert shown(raw, ledger, Fate.LOST, Fate.ALTERED) == []
    assert [text for text, _, _ in shown(raw, ledger, Fate.MARKUP) if not text.startswith("<|")] == [
        "<co>",
        "</co: 0:[1]>",
    ]
    assert "".join(text for text, _, _ in shown(raw, ledger, Fate.CONTENT)) == "Tea is green, mostly."


def test_outcomes_are_reported_by_call() -> None:
    call = kimi("functions.f:0", "{}") + kimi("functions.g:1", "{}")
    message = {"content": None, "calls": [["g", "{}", "functions.g:1"]]}
    parse = build_trace({"raw": call, "message": message}).parse
    alone = build_trace({"raw": call}).parse

    assert isinstance(parse, Parse)
    assert isinstance(alone, Parse)
    assert outcomes_of_calls(parse) == {0: CallOutcome.DROPPED, 1: CallOutcome.KEPT}
    assert outcomes_of_calls(alone) == {0: CallOutcome.UNKNOWN, 1: CallOutcome.UNKNOWN}


@pytest.mark.parametrize("between", ["\x00", "\x00\x00", "x\x00"])
def test_what_is_between_two_moved_texts_is_not_kept_with_them(between: str) -> None:
    """Texts that are looked for together have a null character between them, and so may the output."""
    raw = f"<think>one two three{between}four five six</think>Hello"

    ledger = keep(raw, {"content": "ZZZ one two threeHellofour five six ZZZ"})

    assert shown(raw, ledger) == [
        ("one two three", Fate.CONTENT, "content"),
        (between, Fate.LOST, None),
        ("four five six", Fate.CONTENT, "content"),
        ("Hello", Fate.CONTENT, "content"),
    ]
    assert ledger.invented == ("content[0:4]", "content[35:39]")
