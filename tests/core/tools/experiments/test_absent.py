"""Every named switch is either tried on a request or said not to apply, with a reason that is true of it."""

from __future__ import annotations

import re

import pytest

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.tools.experiments import RenderSetup, Topic, step_switches, try_switches
from tests.conftest import ROOT
from tests.core.render.shapes import SHAPES
from tests.core.tools.experiments.setups import CHATML, calling, chat, tool


def documented_switches() -> set[str]:
    """The names of the table in the guide, except those that come from a template's own variables."""
    guide = (ROOT / "docs" / "what-if.md").read_text(encoding="utf-8")
    table = guide[guide.index("| topic | switches |") : guide.index("Names and values of template kwargs")]
    return set(re.findall(r"`([\w-]+)`", table)) - {"without-NAME"}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_documented_switch_is_tried_or_explained(shape: str, lab: RenderSetup) -> None:
    report = try_switches(SHAPES[shape], lab)

    tried = {effect.switch.name for effect in report.effects}
    absent = {one.name for one in report.absent}
    assert documented_switches() <= tried | absent
    assert not tried & absent


def reason(body: JSONObject, name: str, setup: RenderSetup | None = None) -> str | None:
    found = {one.name: one.reason for one in try_switches(body, setup or RenderSetup(CHATML)).absent}
    return found.get(name)


def test_the_reason_names_what_the_request_lacks() -> None:
    body: JSONObject = {"messages": chat("hello")}

    assert reason(body, "without-tools") == "the request has no tools"
    assert reason(body, "arguments-as-object") == "the history has no tool calls"
    assert reason(body, "without-reasoning") == "the history carries no reasoning"
    assert reason(body, "bos-in-front") == "there is no tokenizer"
    assert reason(body, "continue-final-message") == "the last message has the role `user`, not `assistant`"
    assert reason(body, "NAME=VALUE") == "no variable of this template has an effect"


def test_what_the_request_has_is_not_called_lacking() -> None:
    body: JSONObject = {"messages": calling(), "tools": [tool("a"), tool("b")]}

    assert reason(body, "without-tools") is None
    assert reason(body, "tools-sorted") == "they are sorted by name"
    assert reason(body, "arguments-as-text") == "no arguments are given as an object"


def test_a_template_with_a_switch_of_its_own_is_not_called_without_any() -> None:
    setup = RenderSetup(CHATML + "{% if enable_thinking %}<think>{% endif %}")

    assert reason({"messages": chat("hello")}, "NAME=VALUE", setup) is None


def test_the_report_grows_by_one_switch_at_a_time(lab: RenderSetup) -> None:
    reports = list(step_switches({"messages": chat("hello")}, lab))

    assert [len(report.effects) for report in reports] == list(range(len(reports)))
    assert [len(report.untried) for report in reports] == list(reversed(range(len(reports))))
    assert {one.topic for one in reports[0].absent} >= {Topic.TOOLS, Topic.CALLS}


def test_a_difference_carries_its_tokens_and_their_neighbours(lab: RenderSetup) -> None:
    report = try_switches({"messages": chat("hello")}, lab)

    effect = next(one for one in report.effects if one.switch.name == "no-generation-prompt")
    assert effect.difference is not None
    [hunk] = effect.difference.hunks
    assert [token.text for token in hunk.before_tokens] == ["<|im_assistant|>", "assistant", "<|im_middle|>"]
    assert [token.text for token in hunk.lead][-1] == "<|im_end|>"
    assert (hunk.after_tokens, hunk.tail) == ((), ())
