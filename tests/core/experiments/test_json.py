"""The experiments as JSON."""

from __future__ import annotations

import json

from prompt_debugger.core.experiments import (
    RenderSetup,
    answer_to_json,
    compare_setups,
    comparison_to_json,
    explain_count,
    follow_turns,
    try_switches,
    turns_to_json,
    what_if_to_json,
)
from prompt_debugger.core.experiments.difference import diff_renders
from prompt_debugger.core.experiments.json import difference_to_json
from prompt_debugger.core.experiments.variant import units_of
from prompt_debugger.core.types import JSONObject
from tests.core.experiments.setups import calling, chat

BODY: JSONObject = {"messages": calling()}


def plain(value: JSONObject) -> JSONObject:
    """Through JSON text and back: nothing in it but JSON."""
    back = json.loads(json.dumps(value))
    assert back == value
    assert isinstance(back, dict)
    return back


def test_what_if(lab: RenderSetup) -> None:
    report = try_switches(BODY, lab)

    made = plain(what_if_to_json(report))

    assert (made["unit"], made["unit_count"], made["failure"]) == ("token", report.unit_count, None)
    effects = made["effects"]
    assert isinstance(effects, list)
    assert [one["switch"]["name"] for one in effects if isinstance(one, dict)] == [  # type: ignore[index,call-overload]  # JSON
        effect.switch.name for effect in report.effects
    ]


def test_a_failure_keeps_its_place() -> None:
    made = plain(what_if_to_json(try_switches(BODY, RenderSetup("x\n{{ raise_exception('no') }}"))))

    assert made["failure"] == {
        "message": "the template refuses this request: no",
        "hint": "It calls `raise_exception` itself at this place.",
        "template_line": 2,
        "template_column": 4,
    }


def test_comparison(lab: RenderSetup, mended: RenderSetup) -> None:
    made = plain(comparison_to_json(compare_setups(BODY, lab, mended)))

    assert (made["is_same_text"], made["difference"]) == (True, None)


def test_answer(lab: RenderSetup) -> None:
    answer = explain_count(BODY, lab, 50)

    made = plain(answer_to_json(answer))

    assert made["sentence"] == answer.sentence
    assert (made["counted"], made["as_pasted"]) == (50, answer.as_pasted)


def test_turns(lab: RenderSetup) -> None:
    body: JSONObject = {
        "messages": [*chat("a"), {"role": "assistant", "content": "b", "reasoning": "r"}, *chat("c", "d", "e")]
    }
    report = follow_turns(body, lab)

    made = plain(turns_to_json(report))

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

    made = difference_to_json(diff_renders(left, right))

    assert made is not None
    hunks = made["hunks"]
    assert isinstance(hunks, list)
    assert len(hunks) == 50
    assert made["hunk_count"] == 100
    whole = difference_to_json(diff_renders(units_of("", None), right))
    assert whole is not None
    assert str(whole["hunks"]).count("…") == 1
