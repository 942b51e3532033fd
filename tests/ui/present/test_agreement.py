"""Whatever a run holds, every face tells the same counts: verdict, page, terminal, Markdown and JSON."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from prompt_debugger.core.base.account import count_characters
from prompt_debugger.core.base.types import CallOutcome, Conclusion, Trace
from prompt_debugger.core.diagnose import diagnose_trace, reach_verdict
from prompt_debugger.core.report import trace_to_json, trace_to_markdown, trace_to_terminal
from prompt_debugger.ui.present import ledger_payload, stages_payload, unpack_payload, verdict_payload
from tests.core.diagnose.cases import build_trace
from tests.examples import examples

CALLS = ('functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}', "search<|tool_call_argument_begin|>{}")
BLOCKS = [f"<|tool_call_begin|>{call}<|tool_call_end|>" for call in CALLS]
SECTIONS = [
    f"<|tool_calls_section_begin|>{''.join(blocks)}<|tool_calls_section_end|>" for blocks in (BLOCKS, BLOCKS[:1])
]
RAWS = [
    "Hello there.<|im_end|>",
    *(f"{section}<|im_end|>" for section in SECTIONS),
    f"<think>Perhaps {SECTIONS[1]}.</think>No.<|im_end|>",
    f"<think>Hm.</think>{SECTIONS[1]}<|im_end|>",
    SECTIONS[1][:110],
]
RETURNED = [
    ["get_weather", '{"city": "Paris"}', "functions.get_weather:0"],
    ["get_weather", '{"city": "Rome"}', "own"],
    ["search", "{}", "search"],
    ["made_up", "{}", "x"],
]


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    raw = draw(st.sampled_from(RAWS))
    case: dict[str, Any] = {
        "tools": ["get_weather", "search"],
        "raw": raw,
        "evidence": draw(st.sampled_from(["same-run", "own-render", "text-only"])),
        "completeness": draw(st.sampled_from(["whole", "whole", "stripped", "unknown"])),
        "request": {"temperature": draw(st.sampled_from([0, 1]))},
        "raw_finish_reason": draw(st.sampled_from(["stop", "length"])),
    }
    if draw(st.integers(0, 5)):
        calls = draw(st.lists(st.sampled_from(RETURNED), max_size=3))
        content = draw(st.sampled_from([None, "", "Hello there.", "No.", raw, "Something else."]))
        case["message"] = {"content": content, "calls": calls}
        case["finish_reason"] = draw(st.sampled_from(["stop", "tool_calls", "length"]))
    return case


def judged(case: dict[str, Any]) -> Trace:
    trace = build_trace(case)
    trace = replace(trace, findings=diagnose_trace(trace))
    return replace(trace, verdict=reach_verdict(trace))


def header(payload: str | None) -> dict[str, Any]:
    assert payload is not None
    found: dict[str, Any] = unpack_payload(payload)[0]
    return found


@settings(max_examples=examples(150), deadline=None)
@given(cases())
def test_every_face_reports_the_same_counts(case: dict[str, Any]) -> None:
    trace = judged(case)
    assert trace.parse is not None
    assert trace.verdict is not None
    outcomes = Counter(match.outcome.value for match in trace.parse.ledger.matches)
    view, strip, document = header(ledger_payload(trace)), header(verdict_payload(trace)), trace_to_json(trace)
    card = next(one for one in header(stages_payload(trace))["cards"] if one["opens"] == "parse")
    terminal, markdown = trace_to_terminal(trace), trace_to_markdown(trace)
    verdict: Any = document["verdict"]
    parse: Any = document["parse"]

    assert Counter(row["state"] for row in view["calls"]["rows"]) == outcomes
    assert Counter(match["outcome"] for match in parse["matches"]) == outcomes
    in_census = [match.outcome.value for match in trace.parse.ledger.matches if match.raw_index is not None]
    assert [call["outcome"] for call in parse["calls"]] == in_census
    for field, outcome in (("dropped_calls", "dropped"), ("altered_calls", "altered"), ("invented_calls", "invented")):
        assert verdict[field] == outcomes[outcome]
        for text in (card["figures"][0], view["calls"]["caption"], terminal, markdown):
            line = next(line for line in text.split("\n") if re.search(r"\d+ calls? (written|in the raw text)\b", line))
            words = {"invented": "returned but not written as (?:a call|calls)"}.get(outcome, outcome)
            shown = re.search(rf"(\d+) {words}\b", line)
            assert (int(shown[1]) if shown else 0) == outcomes[outcome]
    _assert_same_characters(trace, [card["figures"][1], view["accounts"][0]["figures"], terminal, markdown])
    _assert_badge_says_no_more(trace, strip, view)


def _assert_same_characters(trace: Trace, texts: list[str]) -> None:
    assert trace.parse is not None
    assert trace.verdict is not None
    counts = count_characters(trace.parse.raw, trace.parse.ledger)
    for text in [*texts, trace.verdict.sentence]:
        for accounted, total in re.findall(r"(\d+) of (\d+) characters accounted for", text):
            assert counts is not None
            assert (int(accounted), int(total)) == (counts.accounted, counts.total)
    for text in texts:
        assert ("accounted for" in text) is (counts is not None)


def _assert_badge_says_no_more(trace: Trace, strip: dict[str, Any], view: dict[str, Any]) -> None:
    assert trace.parse is not None
    assert trace.verdict is not None
    sentence, outcomes = trace.verdict.sentence, {match.outcome for match in trace.parse.ledger.matches}
    if "is unknown" in sentence and trace.verdict.stage is None:
        assert strip["badge"] == "? UNKNOWN"
    if trace.parse.ledger.comparability is None or trace.parse.ledger.comparability.certainty is None:
        assert outcomes <= {CallOutcome.UNKNOWN}
        assert "LOST" not in strip["badge"]
        assert "Nothing lost" not in sentence
        assert not view["accounts"][0]["differences"]
        assert not view["accounts"][0]["missing"]
        assert " written" not in view["calls"]["caption"]
    if strip["badge"] == "NOTHING LOST":
        assert sentence.startswith("Nothing lost:")
        assert trace.verdict.conclusion is Conclusion.NOTHING_LOST
        assert outcomes <= {CallOutcome.KEPT, CallOutcome.DRAFT, CallOutcome.CUT}
