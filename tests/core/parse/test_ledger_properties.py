"""What holds of every ledger: it tiles, it claims nothing that is not there, and its counts are those of its calls."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from prompt_debugger.core.base.account import count_calls, count_characters
from prompt_debugger.core.base.json_values import same_json_text
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.text import remove_whitespace
from prompt_debugger.core.base.types import (
    JSON,
    CallOutcome,
    CallStatus,
    Fate,
    JSONObject,
    Ledger,
    ParsedMessage,
    Place,
)
from prompt_debugger.core.formats import FORMATS
from prompt_debugger.core.parse import build_ledger
from tests.examples import examples

OPEN, CLOSE = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
BEGIN, ARGUMENTS, END = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"

words = st.sampled_from(
    ["Paris", "tea", "a", "ab", "abc", "abcd", "  ", "\n", "é", "Let me look.", "Done.", '"', "{", "x"]
)
proses = st.lists(words, max_size=5).map("".join)
values = st.one_of(st.integers(-2, 2), st.booleans(), st.none(), words, st.just(1.0))
arguments = st.dictionaries(st.sampled_from(["a", "b", "city"]), values, max_size=2)
names = st.sampled_from(["f", "g", "search"])


@st.composite
def kimi_calls(draw: st.DrawFn) -> str:
    header = draw(st.sampled_from(["functions.{}:0", "functions.{}:1", "{}"])).format(draw(names))
    return f"{BEGIN}{header}{ARGUMENTS}{json.dumps(draw(arguments))}{END}"


@st.composite
def hermes_calls(draw: st.DrawFn) -> str:
    body = json.dumps({"name": draw(names), "arguments": draw(arguments)})
    return f"<tool_call>\n{body}\n</tool_call>"


@st.composite
def outputs(draw: st.DrawFn) -> tuple[str, str]:
    """A raw output and the format that reads it; it may be cut anywhere."""
    name = draw(st.sampled_from(["kimi_k2", "hermes"]))
    calls = draw(st.lists(kimi_calls() if name == "kimi_k2" else hermes_calls(), max_size=3))
    section = OPEN + "".join(calls) + CLOSE if name == "kimi_k2" and calls else "".join(calls)
    thoughts = f"<think>{draw(proses)}{draw(st.sampled_from(['', section]))}</think>" if draw(st.booleans()) else ""
    raw = thoughts + draw(proses) + section + draw(proses)
    return name, raw[: draw(st.integers(0, len(raw)))] if draw(st.booleans()) else raw


@st.composite
def answers(draw: st.DrawFn, raw: str, parsed: ParsedMessage) -> JSONObject:
    """A message that a server may have made of an output: faithful, or with parts gone, changed, moved or made up."""

    def text(faithful: str | None) -> str:
        start = draw(st.integers(0, len(raw)))
        cut = raw[start : start + draw(st.integers(0, 30))]
        return draw(st.sampled_from([faithful or "", faithful or "", (faithful or "") + cut, cut, draw(proses), ""]))

    entries: list[JSON] = []
    for call in parsed.calls:
        changed = draw(st.sampled_from([None, "gone", "name", "arguments", "id", "spelling"]))
        if changed == "gone":
            continue
        written = call.arguments if call.arguments_json is None else json.dumps(call.arguments_json)
        spelled = remove_whitespace(written) if changed == "spelling" else written
        shown = json.dumps(draw(arguments)) if changed == "arguments" else spelled
        name = draw(names) if changed == "name" else call.name
        entries.append({"id": "own" if changed == "id" else call.id, "function": {"name": name, "arguments": shown}})
    if draw(st.booleans()):
        entries.append({"id": "new", "function": {"name": draw(names), "arguments": json.dumps(draw(arguments))}})
    return {"content": text(parsed.content), "reasoning": text(parsed.reasoning), "tool_calls": entries}


@st.composite
def accounts(draw: st.DrawFn) -> tuple[str, ParsedMessage, JSONObject, Ledger]:
    name, raw = draw(outputs())
    parsed = FORMATS[name].read(raw, ReadContext())
    message = draw(answers(raw, parsed))
    return raw, parsed, message, build_ledger(raw, parsed, message)


many = settings(max_examples=examples(150), deadline=None)


@many
@given(accounts())
def test_no_character_is_claimed_for_kept_that_is_not_in_the_message(
    account: tuple[str, ParsedMessage, JSONObject, Ledger],
) -> None:
    raw, _, message, ledger = account
    assert all((one.fate, one.target) != (other.fate, other.target) for one, other in pairwise(ledger.entries))
    claimed: dict[str, str] = {}
    for entry in ledger.entries:
        if entry.target is not None and entry.fate is not Fate.ALTERED:
            claimed[entry.target] = claimed.get(entry.target, "") + raw[slice(*entry.char_span)]

    for target, text in claimed.items():
        if target in ("content", "reasoning"):
            assert Counter(text) <= Counter(str(message[target])), target
        elif target.endswith(".function.name"):
            assert text == _call(message, target)["function"]["name"]
        elif target.endswith(".id"):
            assert Counter(text) <= Counter(_call(message, target)["id"])
        else:
            _assert_arguments(text, _call(message, target)["function"]["arguments"])


@many
@given(accounts())
def test_a_kept_call_is_in_the_message_whole(account: tuple[str, ParsedMessage, JSONObject, Ledger]) -> None:
    _, parsed, message, ledger = account
    for match in ledger.matches:
        if match.outcome is CallOutcome.KEPT:
            written = parsed.calls[match.raw_index or 0]
            returned = message["tool_calls"][match.message_index or 0]["function"]  # type: ignore[index,call-overload]
            assert returned["name"] == written.name  # type: ignore[index,call-overload]
            if written.arguments_json is not None:
                assert json.loads(str(returned["arguments"])) == written.arguments_json  # type: ignore[index,call-overload]


@many
@given(accounts())
def test_every_call_of_either_side_has_one_outcome_and_the_counts_are_theirs(
    account: tuple[str, ParsedMessage, JSONObject, Ledger],
) -> None:
    raw, parsed, message, ledger = account
    calls, characters = count_calls(ledger), count_characters(raw, ledger)

    assert [m.raw_index for m in ledger.matches if m.raw_index is not None] == [*range(len(parsed.calls))]
    returned = [m.message_index for m in ledger.matches if m.message_index is not None]
    assert sorted(returned) == [*range(len(message["tool_calls"]))]  # type: ignore[arg-type]
    assert calls.kept + calls.altered + calls.dropped + calls.draft + calls.cut == calls.written == len(parsed.calls)
    assert calls.unknown == 0
    assert characters is not None
    assert characters.accounted + characters.missing + characters.blank == characters.total == len(raw)
    for match in ledger.matches:
        call = None if match.raw_index is None else parsed.calls[match.raw_index]
        assert (match.outcome is CallOutcome.INVENTED) is (call is None)
        if call is not None:
            is_back = match.message_index is not None
            assert (match.outcome is CallOutcome.CUT) is (call.status is CallStatus.TRUNCATED)
            if match.outcome in (CallOutcome.KEPT, CallOutcome.ALTERED):
                assert is_back
            if match.outcome is CallOutcome.DROPPED:
                assert (call.place, is_back) == (Place.BODY, False)
            if match.outcome is CallOutcome.DRAFT:
                assert (call.place, is_back) == (Place.REASONING, False)


def _call(message: JSONObject, target: str) -> dict[str, dict[str, str]]:
    number = int(target.partition("[")[2].partition("]")[0])
    return message["tool_calls"][number]  # type: ignore[index,return-value]


def _assert_arguments(claimed: str, returned: str) -> None:
    """Claimed arguments are the returned ones, spelled otherwise perhaps, or stretches of them."""
    assert same_json_text(claimed, returned) or Counter(claimed) <= Counter(returned)
