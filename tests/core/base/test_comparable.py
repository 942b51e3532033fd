"""Whether a raw output and a message may be compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.comparable import (
    MAY_BE_CONTENT,
    NO_BEGINNING,
    NO_END,
    OF_GAP,
    OF_PIECES,
    compare_outputs,
    draws_at_random,
    has_part_of_call,
    is_not_whole,
    is_partial,
    may_constrain,
    why_incomplete,
)
from prompt_debugger.core.base.types import (
    Api,
    Basis,
    Certainty,
    ChatResult,
    Comparability,
    Completeness,
    Completion,
    JSONObject,
    Request,
    Trace,
    Usage,
)

TOOL: JSONObject = {"type": "function", "function": {"name": "f"}}
STRICT: JSONObject = {"type": "function", "function": {"name": "f", "strict": True}}
PAIR = Trace(
    request=Request({"temperature": 0}, ""),
    evidence=Basis.OWN_RENDER,
    raw=Completion("Hello.", None, "stop", usage=Usage(5, 2)),
    chat=ChatResult({"content": "Hello."}, "stop", usage=Usage(5, 2)),
)


def certainty_of(trace: Trace) -> Certainty | None:
    found = compare_outputs(trace)
    assert found is not None
    assert bool(found.reason) is (found.certainty is None)
    return found.certainty


def test_one_run_is_seen_and_two_that_had_to_agree_are_concluded() -> None:
    assert certainty_of(replace(PAIR, evidence=Basis.SAME_RUN)) is Certainty.OBSERVED
    assert certainty_of(replace(PAIR, evidence=None)) is Certainty.OBSERVED
    assert certainty_of(PAIR) is Certainty.INFERRED
    assert certainty_of(replace(PAIR, evidence=Basis.TEXT_ONLY)) is Certainty.INFERRED


def test_without_one_of_the_two_there_is_nothing_to_compare() -> None:
    assert compare_outputs(replace(PAIR, chat=None)) is None
    assert compare_outputs(replace(PAIR, raw=None)) is None


@pytest.mark.parametrize("completeness", [Completeness.STRIPPED, Completeness.UNKNOWN])
@pytest.mark.parametrize("evidence", [None, *Basis])
def test_text_that_is_not_whole_is_never_compared(completeness: Completeness, evidence: Basis | None) -> None:
    assert PAIR.raw is not None
    trace = replace(PAIR, evidence=evidence, raw=replace(PAIR.raw, completeness=completeness))

    assert certainty_of(trace) is None


@pytest.mark.parametrize(
    ("completeness", "reason"),
    [
        (Completeness.STRIPPED, "The raw text lacks control tokens"),
        (Completeness.UNKNOWN, "The raw text may lack control tokens"),
    ],
)
def test_text_that_is_not_whole_is_said_to_lack_no_more_than_is_known(completeness: Completeness, reason: str) -> None:
    assert PAIR.raw is not None

    found = compare_outputs(replace(PAIR, raw=replace(PAIR.raw, completeness=completeness)))

    assert found is not None
    assert found.reason == reason


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"temperature": 1},
        {"temperature": False},
        {"temperature": 0, "tools": [TOOL], "tool_choice": "required"},
        {"temperature": 0, "tools": [STRICT]},
    ],
)
def test_two_runs_that_may_differ_are_not_compared(body: JSONObject) -> None:
    assert certainty_of(replace(PAIR, sent=body or {"messages": []})) is None


def test_a_grammar_on_both_is_none_on_one_alone() -> None:
    assert PAIR.raw is not None
    sent: JSONObject = {"temperature": 0, "tools": [STRICT]}

    assert certainty_of(replace(PAIR, sent=sent, raw=replace(PAIR.raw, constraint="{}"))) is Certainty.INFERRED


@pytest.mark.parametrize(("usage", "expected"), [(Usage(6, 2), None), (Usage(5, 3), None), (None, Certainty.INFERRED)])
def test_token_counts_show_two_prompts_or_two_outputs(usage: Usage | None, expected: Certainty | None) -> None:
    assert PAIR.chat is not None

    assert certainty_of(replace(PAIR, chat=replace(PAIR.chat, usage=usage))) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, False),
        ({"tools": [TOOL]}, False),
        ({"tools": [TOOL], "tool_choice": "required"}, True),
        ({"tools": [TOOL], "tool_choice": {"type": "function"}}, True),
        ({"tools": [TOOL], "parallel_tool_calls": False}, True),
        ({"parallel_tool_calls": False}, False),
        ({"tools": [], "tool_choice": "required"}, False),
        ({"tools": [TOOL], "parallel_tool_calls": None}, False),
        ({"tools": [STRICT]}, True),
        ({"tools": [STRICT], "tool_choice": "none"}, False),
    ],
)
def test_a_hidden_grammar_is_suspected_where_vllm_adds_one(body: JSONObject, expected: bool) -> None:
    assert may_constrain(body) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [({}, True), ({"temperature": 0}, False), ({"temperature": 0.0}, False), ({"temperature": 1, "seed": 0}, False)],
)
def test_chance_is_known(body: JSONObject, expected: bool) -> None:
    assert draws_at_random(body) is expected


def test_parts_of_one_text_are_compared_and_the_assumption_is_stated() -> None:
    found = compare_outputs(replace(PAIR, evidence=Basis.ASSUMED_RUN))

    assert found is not None
    assert found.certainty is Certainty.INFERRED
    assert "assumed" in found.reason


def test_what_stood_in_one_text_is_assumed_to_be_one_run() -> None:
    found = compare_outputs(replace(PAIR, evidence=Basis.ASSUMED_RUN))

    assert found == Comparability(Certainty.INFERRED, "assumed to be one run because they are in one text")


@pytest.mark.parametrize(
    ("api", "of_raw", "of_chat", "is_compared"),
    [
        (Api.CHAT, None, None, True),
        (Api.RESPONSES, 5, 5, True),
        (Api.RESPONSES, 5, 6, False),
        (Api.RESPONSES, None, 5, False),
        (Api.RESPONSES, 5, None, False),
        (Api.RESPONSES, 0, 0, False),
    ],
)
def test_another_api_is_compared_only_where_counts_show_one_prompt(
    api: Api, of_raw: int | None, of_chat: int | None, *, is_compared: bool
) -> None:
    assert PAIR.raw is not None
    assert PAIR.chat is not None
    raw = replace(PAIR.raw, usage=None if of_raw is None else Usage(of_raw))
    chat = replace(PAIR.chat, usage=None if of_chat is None else Usage(of_chat))

    found = compare_outputs(replace(PAIR, api=api, raw=raw, chat=chat))

    assert found is not None
    assert (found.certainty is Certainty.INFERRED) is is_compared
    assert is_compared or found.reason.startswith("Raw output and answer come from two runs that may differ: ")


def test_what_was_sent_counts_before_what_was_asked() -> None:
    assert certainty_of(replace(PAIR, sent={"temperature": 1})) is None
    assert certainty_of(replace(PAIR, request=Request({}, ""), sent={"temperature": 0})) is Certainty.INFERRED


@pytest.mark.parametrize(
    ("note", "is_so"),
    [
        ("Something was left out at `...`.", True),
        ("The pasted text ends inside a string.", True),
        ("3 calls were left out of the answer.", True),
        ("The server says that something was left out.", False),
        ("", False),
    ],
)
def test_a_text_is_partial_by_the_notes_on_it(note: str, *, is_so: bool) -> None:
    assert is_partial(replace(PAIR, notes=("Another note.", note))) is is_so
    assert not is_partial(PAIR)


@pytest.mark.parametrize("reason", [NO_BEGINNING, NO_END, OF_GAP, OF_PIECES])
def test_an_output_that_begins_or_ends_within_something_says_so(reason: str) -> None:
    raw = Completion("a", None, None, completeness=Completeness.UNKNOWN, completeness_reason=reason)

    assert is_not_whole(raw)
    assert why_incomplete(raw) == f"The raw output may be incomplete: {reason.partition(', so ')[0]}"
    assert not is_not_whole(replace(raw, completeness=Completeness.WHOLE))
    assert not is_not_whole(replace(raw, completeness_reason=MAY_BE_CONTENT))


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ('"Rome"}}</tool_call>', True),
        ("[TOOL_CALLS]", True),
        ("<function=f>", True),
        ('<parameter name="a">', True),
        ("It ends with `</tool_call>`.", False),
        ("A function <of x>", False),
        ("", False),
    ],
)
def test_what_is_written_of_calls_alone_is_part_of_one_outside_of_code(text: str, *, has: bool) -> None:
    assert has_part_of_call(text) is has
