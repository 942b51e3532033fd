"""Every switch on a request of one's own."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.render.local import Renderer
from prompt_debugger.core.render.traced_render import run_job
from prompt_debugger.core.tools.experiments import Effect, EffectKind, RenderSetup, Topic, Variant, WhatIf, try_switches
from prompt_debugger.core.tools.experiments.switches import find_switches
from prompt_debugger.core.tools.experiments.variant import Rendered, render_variant
from tests.core.tools.experiments.setups import CHATML, call, calling, chat, tool

BODY: JSONObject = {"messages": calling(), "tools": [tool("get_weather", parameters={"type": "object"}), tool("b")]}


def by_name(report: WhatIf) -> dict[str, Effect]:
    return {effect.switch.name: effect for effect in report.effects}


def test_the_lab_template_under_every_switch(lab: RenderSetup) -> None:
    found = by_name(try_switches(BODY, lab))

    assert {name: str(effect.kind) for name, effect in found.items()} == {
        "no-generation-prompt": "changes",
        "thinking=true": "changes",
        "thinking=false": "nothing",
        "empty-system": "changes",
        "without-tools": "changes",
        "tools-as-vllm": "changes",
        "tools-sorted": "changes",
        "tools-sorted-keys": "changes",
        "tools-unwrapped": "changes",
        "content-null": "nothing",
        "content-as-parts": "changes",
        "arguments-as-object": "nothing",
        "ids-normalised": "changes",
        "as-vllm": "changes",
    }


def test_a_switch_that_changes_nothing_gives_equal_ids_and_only_such_a_one(lab: RenderSetup) -> None:
    base = Variant(BODY, lab)
    plain = render_variant(base)
    assert isinstance(plain, Rendered)

    for effect in try_switches(BODY, lab).effects:
        again = render_variant(effect.switch.apply(base))
        assert isinstance(again, Rendered)
        assert (effect.kind is EffectKind.NOTHING) == (again.keys == plain.keys)
        assert len(again.keys) == effect.unit_count


def test_every_difference_can_be_had_again(lab: RenderSetup) -> None:
    first, second = try_switches(BODY, lab), try_switches(BODY, lab)

    assert [effect.difference for effect in first.effects] == [effect.difference for effect in second.effects]


def test_thinking_adds_one_token_by_a_line_of_the_template(lab: RenderSetup) -> None:
    difference = by_name(try_switches(BODY, lab))["thinking=true"].difference

    assert difference is not None
    assert [(hunk.before, hunk.after) for hunk in difference.hunks] == [("", "<think>")]
    assert difference.after.template_line is not None
    assert "'<think>'" in lab.template.splitlines()[difference.after.template_line - 1]


def test_a_difference_names_the_request_field_that_it_shows(lab: RenderSetup) -> None:
    effect = by_name(try_switches(BODY, lab))["ids-normalised"]

    assert effect.difference is not None
    assert effect.difference.after.field == "messages[1].tool_calls[0].id"
    assert effect.fields == ("messages[1].tool_calls[0].id", "messages[2].tool_call_id")
    assert effect.sentence.startswith("−")


def test_the_fault_of_the_lab_template_shows_with_content_as_parts(lab: RenderSetup, mended: RenderSetup) -> None:
    body: JSONObject = {"messages": calling(content="One moment.")}

    faulty, sound = (by_name(try_switches(body, setup))["content-as-parts"] for setup in (lab, mended))

    assert faulty.difference is not None
    assert "[{'type': 'text', 'text': '" in faulty.difference.hunks[0].after + faulty.difference.hunks[-1].after
    assert sound.kind is EffectKind.NOTHING
    assert sound.sentence == "This switch has no effect."


def test_another_version_of_the_template_is_a_switch(lab: RenderSetup, mended: RenderSetup) -> None:
    body: JSONObject = {"messages": calling(content=[{"type": "text", "text": "One moment."}])}

    found = by_name(try_switches(body, lab, other_template=mended.template))

    assert found["other-template"].kind is EffectKind.CHANGES
    assert found["other-template"].fields == ()


def test_a_failing_template_is_a_result_with_its_line() -> None:
    setup = RenderSetup("{% if thinking %}\n{{ raise_exception('no thinking here') }}{% endif %}x")

    effect = by_name(try_switches({"messages": chat("Hi")}, setup))["thinking=true"]

    assert effect.kind is EffectKind.FAILS
    assert effect.failure is not None
    assert (effect.failure.template_line, effect.failure.is_costly) == (2, False)
    assert "no thinking here" in effect.sentence


def test_a_switch_may_fix_a_request_that_does_not_render() -> None:
    setup = RenderSetup(
        "{% for m in messages %}{% for c in m.tool_calls or [] %}"
        "{% for k, v in c.function.arguments | items %}{{ k }}={{ v }}{% endfor %}{% endfor %}{% endfor %}"
    )

    report = try_switches({"messages": calling()}, setup)

    assert report.failure is not None
    assert report.unit_count is None
    mending = [effect for effect in report.effects if effect.kind is EffectKind.MENDS]
    assert {effect.switch.name: effect.text for effect in mending} == {
        "arguments-as-object": "city=Rome",
        "as-vllm": "city=Rome",
    }
    assert "renders" in mending[0].sentence


def test_a_bomb_is_given_up_after_the_first_render(hasty: Renderer) -> None:
    bomb = "{% for a in range(99999) %}" * 3 + "{% endfor %}" * 3

    report = try_switches({"messages": chat("Hi")}, RenderSetup(bomb, renderer=hasty))

    assert report.failure is not None
    assert report.failure.is_costly
    assert report.effects == ()


def test_bombs_after_switches_stop_the_trying(hasty: Renderer) -> None:
    bomb = "{% for a in range(99999) %}" * 3 + "{% endfor %}" * 3
    source = "{% if mode == 'a' %}" + bomb + "{% elif mode == 'b' %}" + bomb + "{% endif %}x"

    report = try_switches({"messages": chat("Hi")}, RenderSetup(source, renderer=hasty))

    names = [effect.switch.name for effect in report.effects]
    assert names[-2:] == ["mode=a", "mode=b"]
    assert [switch.name for switch in report.untried] == ["empty-system", "content-as-parts", "as-vllm"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"chat_template_kwargs": {"thinking": True}}, {"thinking=false", "without-thinking"}),
        ({"chat_template_kwargs": {"other": 1}}, {"thinking=true", "thinking=false", "without-other"}),
        ({"reasoning_effort": "high"}, {"thinking=true", "thinking=false", "without-reasoning_effort"}),
    ],
)
def test_kwargs_are_set_and_left_out(lab: RenderSetup, body: JSONObject, expected: set[str]) -> None:
    found = by_name(try_switches({"messages": chat("Hi"), **body}, lab))

    assert {name for name, effect in found.items() if effect.switch.topic == "kwargs"} == expected


def test_an_ignored_kwarg_changes_nothing(lab: RenderSetup) -> None:
    body: JSONObject = {"messages": chat("Hi"), "chat_template_kwargs": {"enable_thinking": True}}

    effect = by_name(try_switches(body, lab))["without-enable_thinking"]

    assert effect.kind is EffectKind.NOTHING
    assert effect.fields == ("chat_template_kwargs.enable_thinking",)


def test_switches_that_do_not_apply_are_left_out() -> None:
    names = set(by_name(try_switches({"messages": chat("Hi")}, RenderSetup(CHATML))))

    assert names == {"no-generation-prompt", "empty-system", "content-as-parts", "as-vllm"}


@pytest.mark.parametrize(
    ("body", "name", "path", "expected"),
    [
        ({"messages": chat("a", "b")}, "continue-final-message", "add_generation_prompt", False),
        ({"messages": chat("a"), "add_generation_prompt": False}, "generation-prompt", "add_generation_prompt", True),
        (
            {"messages": chat("a", "b"), "continue_final_message": True},
            "generation-prompt",
            "add_generation_prompt",
            True,
        ),
    ],
)
def test_endings(body: JSONObject, name: str, path: str, expected: bool) -> None:
    effect = by_name(try_switches(body, RenderSetup(CHATML)))[name]

    made = effect.switch.apply(Variant(body, RenderSetup(CHATML))).body
    assert made[path] is expected
    assert effect.kind is EffectKind.CHANGES


def edited(name: str, body: JSONObject) -> str:
    base = Variant(body, RenderSetup(CHATML))
    effect = by_name(try_switches(body, base.setup))[name]
    return json.dumps(effect.switch.apply(base).body)


@pytest.mark.parametrize(
    ("name", "message", "expected"),
    [
        ("content-null", {"content": ""}, {"content": None}),
        ("content-empty", {"content": None}, {"content": ""}),
        ("content-as-parts", {"content": "a"}, {"content": [{"type": "text", "text": "a"}]}),
        ("content-as-text", {"content": [{"type": "text", "text": "a"}, "b"]}, {"content": "a\nb"}),
        ("content-trimmed", {"content": " a\n"}, {"content": "a"}),
        ("without-reasoning", {"content": "", "reasoning": "r"}, {"content": ""}),
        ("reasoning-as-reasoning", {"reasoning_content": "r"}, {"reasoning": "r"}),
        ("reasoning-as-reasoning_content", {"reasoning": "r"}, {"reasoning_content": "r"}),
        (
            "arguments-as-text",
            {"tool_calls": [call("f", {"a": "é"}, "1")]},
            {"tool_calls": [call("f", '{"a": "é"}', "1")]},
        ),
        (
            "arguments-as-object",
            {"tool_calls": [call("f", '{"a": 1}', "1"), call("g", "[1", "2"), "odd", call("h", "[1]", "3")]},
            {"tool_calls": [call("f", {"a": 1}, "1"), call("g", "[1", "2"), "odd", call("h", "[1]", "3")]},
        ),
        (
            "ids-normalised",
            {"tool_calls": [call("f", "{}", "x"), "odd", {"function": {"name": "g"}}]},
            {
                "tool_calls": [
                    call("f", "{}", "functions.f:0"),
                    "odd",
                    {"function": {"name": "g"}, "id": "functions.g:2"},
                ]
            },
        ),
    ],
)
def test_edits_of_messages(name: str, message: JSONObject, expected: JSONObject) -> None:
    role: JSONObject = {"role": "assistant"}

    assert edited(name, {"messages": [{**role, **message}, "odd"]}) == json.dumps(
        {"messages": [{**role, **expected}, "odd"]}
    )


@pytest.mark.parametrize(
    ("name", "tools", "expected"),
    [
        ("tools-sorted", [tool("b"), "odd", tool("a")], ["odd", tool("a"), tool("b")]),
        ("tools-sorted-keys", [tool("a", b={})], [{"function": {"b": {}, "name": "a"}, "type": "function"}]),
        ("tools-unwrapped", [tool("a")], [{"name": "a"}]),
        ("tools-wrapped", [{"name": "a"}], [tool("a")]),
    ],
)  # fmt: skip
def test_edits_of_tools(name: str, tools: list[object], expected: list[object]) -> None:
    body = {"messages": chat("a"), "tools": tools}

    assert edited(name, body) == json.dumps({"messages": chat("a"), "tools": expected})  # type: ignore[arg-type]  # JSON


def test_system_messages_are_left_out() -> None:
    body: JSONObject = {"messages": [{"role": "system", "content": "s"}, *chat("a")]}

    assert edited("without-system", body) == json.dumps({"messages": chat("a")})


def test_bos_in_front_is_a_switch_for_a_tokenizer_that_adds_it(lab: RenderSetup) -> None:
    class AddsBos:
        def __getattr__(self, name: str) -> object:
            return getattr(lab.tokenizer, name)

        @property
        def vocabulary(self) -> object:
            assert lab.tokenizer is not None
            return replace(lab.tokenizer.vocabulary, adds_bos=True)

    setup = replace(lab, tokenizer=AddsBos(), special_tokens={"bos_token": "[BOS]"})  # type: ignore[arg-type]

    effect = by_name(try_switches({"messages": chat("a")}, setup))["bos-in-front"]

    assert effect.difference is not None
    assert [(hunk.before, hunk.after) for hunk in effect.difference.hunks] == [("", "[BOS]")]


@pytest.mark.parametrize("body", [{}, {"messages": []}, {"messages": "hi"}, {"messages": [1, None]}])
def test_a_request_without_messages_fails_everywhere_and_raises_nowhere(body: JSONObject, lab: RenderSetup) -> None:
    report = try_switches(body, lab)

    assert report.failure is not None or body.get("messages") == [1, None]
    assert all(isinstance(effect, Effect) for effect in report.effects)


def test_a_switch_does_nothing_where_its_field_is_gone(lab: RenderSetup) -> None:
    base = Variant(BODY, lab)
    bare = replace(base, body={"messages": chat("a")})

    for switch in find_switches(base):
        if switch.topic is Topic.TOOLS and switch.name != "tools-as-vllm":
            assert not switch.applies_to(bare), switch.name


def test_the_render_may_be_someone_elses(lab: RenderSetup) -> None:
    """With a renderer of its own nothing goes to the shared worker."""
    report = try_switches(BODY, replace(lab, renderer=run_job))

    shared = try_switches(BODY, lab)
    assert [one.difference for one in report.effects] == [one.difference for one in shared.effects]
