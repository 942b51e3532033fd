"""The experiments as JSON."""

from __future__ import annotations

import json
from dataclasses import replace

from jsonschema import Draft202012Validator

from prompt_debugger.core.base.types import Divergence, JSONObject, SplitTrial, VllmOutcome
from prompt_debugger.core.render.probes import probe_template
from prompt_debugger.core.report.wire.form import dump_document
from prompt_debugger.core.tools.experiments import (
    CallHistory,
    ReleaseRow,
    ReleaseTable,
    RenderSetup,
    compare_runs,
    compare_setups,
    explain_count,
    follow_turns,
    probes_to_json,
    releases_to_json,
    runs_to_json,
    splits_to_json,
    try_switches,
)
from prompt_debugger.core.tools.experiments.difference import diff_renders
from prompt_debugger.core.tools.experiments.documents import ANSWERS
from prompt_debugger.core.tools.experiments.variant import units_of
from scripts.json_schemas import schema_of_class
from tests.core.tools.experiments.setups import calling, chat
from tests.ui.present.traces import dropped_call_trace

BODY: JSONObject = {"messages": calling()}


def plain(value: JSONObject) -> JSONObject:
    """Through JSON text and back: nothing in it but JSON."""
    back = json.loads(json.dumps(value))
    assert back == value
    assert isinstance(back, dict)
    return back


def test_what_if(lab: RenderSetup) -> None:
    report = try_switches(BODY, lab)

    made = plain(dump_document(report))

    assert (made["unit"], made["unit_count"], made["failure"]) == ("token", report.unit_count, None)
    effects = made["effects"]
    assert isinstance(effects, list)
    assert [one["switch"]["name"] for one in effects if isinstance(one, dict)] == [  # type: ignore[index,call-overload]  # JSON
        effect.switch.name for effect in report.effects
    ]


def test_a_failure_keeps_its_place() -> None:
    made = plain(dump_document(try_switches(BODY, RenderSetup("x\n{{ raise_exception('no') }}"))))

    assert made["failure"] == {
        "message": "The template refuses this request: no",
        "hint": "It calls `raise_exception` itself at this place.",
        "template_line": 2,
        "template_column": 4,
    }


def test_comparison(lab: RenderSetup, mended: RenderSetup) -> None:
    made = plain(dump_document(compare_setups(BODY, lab, mended)))

    assert (made["is_same_text"], made["difference"]) == (True, None)


def test_answer(lab: RenderSetup) -> None:
    answer = explain_count(BODY, lab, 50)

    made = plain(dump_document(answer))

    assert made["sentence"] == answer.sentence
    assert (made["counted"], made["as_pasted"]) == (50, answer.as_pasted)


def test_turns(lab: RenderSetup) -> None:
    body: JSONObject = {
        "messages": [*chat("a"), {"role": "assistant", "content": "b", "reasoning": "r"}, *chat("c", "d", "e")]
    }
    report = follow_turns(body, lab)

    made = plain(dump_document(report))

    assert made["lost"] == report.lost > 0
    turns = made["turns"]
    assert isinstance(turns, list)
    first, second = turns
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert isinstance(first["break"], dict)
    assert first["break"]["cause"] == "reasoning-stripped"
    assert second["break"] is None


def test_long_differences_are_cut_and_counted() -> None:
    left, right = units_of("a " * 100, None), units_of("b " * 99 + "b" * 3_000, None)

    difference = diff_renders(left, right)
    assert difference is not None

    made = dump_document(difference)

    hunks = made["hunks"]
    assert isinstance(hunks, list)
    assert len(hunks) == 50
    assert made["hunk_count"] == 100
    one = diff_renders(units_of("", None), right)
    assert one is not None
    whole = dump_document(one)
    assert str(whole["hunks"]).count("…") == 1


def test_halves_of_surrogate_pairs_are_written_as_they_are() -> None:
    difference = diff_renders(units_of("a", None), units_of("\ud800", None))
    assert difference is not None

    made = plain(dump_document(difference))

    assert made["hunks"] == [{"before_span": [0, 1], "after_span": [0, 1], "before": "a", "after": "\ud800"}]


# --- outputs -----------------------------------------------------------------------


def call(name: str) -> JSONObject:
    return {"id": "0", "type": "function", "function": {"name": name, "arguments": "{}"}}


TABLE = ReleaseTable(
    "vllm:kimi_k2",
    (
        ReleaseRow(
            "0.11.0", VllmOutcome(None, "x", (call("a"),), finish_reason="tool_calls", tools_called=True), control=True
        ),
        ReleaseRow("0.12.0", None, "not there"),
    ),
    (CallHistory("a", "{}", ("0.11.0",), (), (("0.11.0", "0.17.0"),)),),
)


def test_a_table_of_releases() -> None:
    assert plain(releases_to_json(TABLE)) == {
        "parser": "vllm:kimi_k2",
        "rows": [
            {
                "version": "0.11.0",
                "error": None,
                "control": True,
                "content": "x",
                "tool_calls": [call("a")],
                "finish_reason": "tool_calls",
                "tools_called": True,
            },
            {
                "version": "0.12.0",
                "error": "not there",
                "control": None,
                "content": None,
                "tool_calls": [],
                "finish_reason": None,
                "tools_called": None,
            },
        ],
        "calls": [
            {
                "name": "a",
                "arguments": "{}",
                "taken_by": ["0.11.0"],
                "appears_in": [],
                "vanishes_in": [["0.11.0", "0.17.0"]],
                "since": None,
            }
        ],
    }


SPLIT = VllmOutcome(
    None,
    "ab",
    (),
    stream_equal=False,
    first_unequal="content is 'a'",
    smallest_split=("a", "b"),
    parts_at=1,
    trials=(SplitTrial("token by token", 2, "content is 'a'"), SplitTrial("as one delta", 1, None)),
    parting=Divergence({"content": "a"}, None, {"content": "a"}),
)


def test_what_streaming_showed() -> None:
    assert plain(splits_to_json(SPLIT)) == {
        "equal": False,
        "trials": [
            {"name": "token by token", "deltas": 2, "difference": "content is 'a'"},
            {"name": "as one delta", "deltas": 1, "difference": None},
        ],
        "smallest_split": ["a", "b"],
        "parts_at": 1,
        "difference": "content is 'a'",
        "before": {"content": "a"},
        "after": None,
        "streamed": {"content": "a"},
    }
    without = splits_to_json(VllmOutcome(None, "ab", ()))
    assert (without["equal"], without["before"], without["streamed"]) == (None, None, None)


def test_answers_keep_to_their_schemas(lab: RenderSetup, mended: RenderSetup) -> None:
    answers = {
        "what-if": dump_document(try_switches(BODY, lab)),
        "prompt-tokens": dump_document(explain_count(BODY, lab, 50)),
        "turns": dump_document(follow_turns(BODY, lab)),
        "releases": releases_to_json(TABLE),
        "splits": splits_to_json(SPLIT),
        "comparison": runs_to_json(compare_runs(dropped_call_trace(), replace(dropped_call_trace(), raw=None))),
        "probe": next(iter(probes_to_json(probe_template(lab.template)).values())),
    }

    assert set(answers) == set(ANSWERS) - {"apis", "constrained", "grammar"}
    for name, answer in answers.items():
        validator = Draft202012Validator(schema_of_class(ANSWERS[name]))
        assert [error.message for error in validator.iter_errors(json.loads(json.dumps(answer)))] == [], name
        assert not validator.is_valid({}), name
