"""Fixes as data, from recorded runs: the right change for each finding, and none where nothing is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import ChatResult, Finding, FindingEvidence, Request, Severity, Stage, Trace
from prompt_debugger.core.diagnose import RULES
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.pipeline.recordings import load_recording
from prompt_debugger.core.tools.fixes.offered import OfferedFix, fixes_of, plugin_command
from prompt_debugger.core.tools.fixes.patch import apply_patch, patch_between
from prompt_debugger.core.tools.fixes.plans import UNCHANGED, Plan, can_run, pick_plans, plan_experiments, target_of
from prompt_debugger.core.tools.fixes.try_fixes import (
    CallGain,
    Experiment,
    cost_of,
    fixed_message,
    reread,
    step_experiments,
    tried_fixes,
)
from prompt_debugger.core.tools.plugin.write import write_plugin

NAMES = st.text(alphabet="ab/~", max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(alphabet="ab/~", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet="ab/~", max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(NAMES, JSON, max_size=4)
DECLARED = {
    kind: {code: fix for code, rule in RULES.items() for fix in rule.fixes if fix.kind == kind}
    for kind in ("request", "template", "flags", "client", "plugin")
}


def recorded(name):
    recording = load_recording(name)
    assert recording is not None
    return recording.trace


def fixed_body(name, code):
    trace = recorded(name)
    return apply_patch(trace.request.body, fixes_of(trace)[code].patch)


@given(OBJECTS, OBJECTS)
def test_a_patch_makes_the_one_of_the_other(before, after):
    assert apply_patch(before, tuple(patch_between(before, after))) == after


@given(OBJECTS)
def test_the_same_needs_no_patch(value):
    assert list(patch_between(value, value)) == []


@pytest.mark.parametrize("name", ["healthy-call", "parallel-calls"])
def test_a_healthy_run_has_no_fix(name):
    assert fixes_of(recorded(name)) == {}


def test_a_dropped_call_is_fixed_at_its_cause_in_the_history():
    body = fixed_body("dropped-call", "PD401")

    assert body["messages"][2]["tool_calls"][0]["id"] == "functions.search:0"
    assert body["messages"][3]["tool_call_id"] == "functions.search:0"


def test_fields_are_left_out_raised_or_set():
    assert "add_generation_prompt" not in fixed_body("missing-generation-prompt", "PD203")
    assert fixed_body("truncated-call", "PD301")["max_tokens"] > 16
    assert fixed_body("polluted-content", "PD205")["messages"][2]["content"] is None
    assert fixed_body("answer-swallowed-as-reasoning", "PD408")["chat_template_kwargs"] == {"thinking": False}
    assert "stop_token_ids" not in fixed_body("tutorial-tool-types", "PD100")
    types = fixed_body("tutorial-tool-types", "PD101")["tools"][1]["function"]["parameters"]["properties"]
    assert (types["a"]["type"], types["b"]["type"]) == ("integer", "number")


def test_another_parser_is_a_matter_of_flags_and_runs_on_the_lab_alone():
    trace = recorded("wrong-parser")
    fix = fixes_of(trace)["PD405"]
    at_lab = plan_experiments(trace, Target())
    elsewhere = plan_experiments(trace, Target(base_url="http://localhost:1/v1"))

    assert (fix.kind, fix.patch, fix.tool_parser) == ("flags", (), "kimi_k2")
    assert [can_run(plan) for plan in at_lab] == [True, True]
    assert [can_run(plan) for plan in elsewhere] == [True, False]


def test_the_unchanged_request_comes_first_and_several_fixes_are_put_together():
    names = [plan.name for plan in plan_experiments(recorded("tutorial-tool-types"), Target())]

    assert names[0] == UNCHANGED
    assert names[-1] == "the first 2 changes together"


def test_a_fix_works_where_the_finding_is_gone_and_no_other_error_has_come():
    trace = recorded("dropped-call")
    plan = plan_experiments(trace, Target())[1]
    outcomes = {
        name: tried_fixes(trace, [Experiment(plan, [recorded(name)])])["PD401"].worked
        for name in ("healthy-call", "dropped-call", "truncated-call")
    }

    assert outcomes == {"healthy-call": True, "dropped-call": False, "truncated-call": False}
    assert tried_fixes(trace, [Experiment(plan)])["PD401"].tried is False


def test_a_row_counts_what_the_ledger_counts():
    trace = recorded("dropped-call")
    row = Experiment(plan_experiments(trace, Target())[0], [trace, recorded("healthy-call")], valid=1).to_json()

    assert (row["n"], row["written"], row["returned"], row["dropped"], row["valid"]) == (2, 2, 1, 1, 1)
    assert row["finish_reasons"] == {"stop": 1, "tool_calls": 1}
    low, high = row["interval"]
    assert 0 < low < 0.5 < high < 1


def test_a_variant_is_held_against_the_unchanged_request_sample_by_sample():
    dropped, healthy = recorded("dropped-call"), recorded("healthy-call")
    base = Experiment(Plan("unchanged"), [dropped, dropped, healthy], [0, 1, 2])
    variant = Experiment(Plan("a change"), [healthy, dropped, dropped], [0, 2, 3])

    assert base.change_from(base) == CallGain(0, 0, 0, 3)
    assert variant.change_from(base) == CallGain(0, 1, 1, 2)  # of sample 1 and of sample 3 there is no pair


async def test_steps_tell_what_goes_on_and_what_will_come():
    first = recorded("dropped-call")

    async def run(body, plan):
        return recorded("healthy-call")

    plans = [Plan("unchanged"), Plan("other flags", fix=OfferedFix("x", "flags", command="--x")), Plan("a change")]
    steps = [
        (len(step.experiments), step.ended, step.done, step.runs)
        async for step in step_experiments(first, plans, run, samples=2, budget=3)
    ]

    assert steps == [
        (0, 0, 0, 3), (1, 0, 0, 3), (1, 0, 1, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 2, 2, 3), (3, 3, 3, 3),
    ]  # fmt: skip


NO_CHANGE = "def fix(message):\n    return message\n"


def replace_message(trace, message):
    return replace(trace, chat=replace(trace.chat, message=message), chat_stream=None)


def replace_arguments(trace, arguments):
    call = trace.chat.message["tool_calls"][0]
    changed = {**call, "function": {**call["function"], "arguments": arguments}}
    return replace_message(trace, {**trace.chat.message, "tool_calls": [changed]})


@pytest.mark.parametrize(
    ("code", "arguments"), [("PD415", json.dumps('{"city": "Paris"}')), ("PD506", {"city": "Paris"})]
)
async def test_a_clients_change_is_tried_on_the_very_answer_and_asks_no_server(code, arguments):
    first = await reread(replace_arguments(recorded("healthy-call"), arguments), NO_CHANGE)

    async def run(body, plan):
        raise AssertionError("the server was asked")

    plans = [plan for plan in plan_experiments(first, Target(base_url="http://localhost:1/v1")) if plan.client]
    *_, last = [step async for step in step_experiments(first, plans, run)]

    fix = tried_fixes(first, list(last.experiments))[code]
    assert code in {finding.code for finding in first.findings}
    assert (fix.kind, fix.tried, fix.worked) == ("client", True, True)
    assert "def fix(message):" in fix.to_json()["client"]


@pytest.mark.parametrize("code", sorted(DECLARED["client"]))
@pytest.mark.parametrize("message", [{}, {"tool_calls": None}, {"tool_calls": [{"id": "a"}]}, {"tool_calls": "x"}])
def test_a_clients_change_leaves_what_is_not_a_call_alone(code, message):
    assert fixed_message(DECLARED["client"][code].source, message).keys() == message.keys()


def test_a_template_is_changed_at_the_one_expression_that_printed_the_list():
    fix = fixes_of(recorded("polluted-content"))["PD205"]
    (template,) = [one for one in fix.alternatives if one.kind == "template"]

    changed = [line for line in template.diff.splitlines()[2:] if line[0] in "+-"]
    assert [line.split()[0] for line in changed] == ["-", "+"]
    assert changed[0].split("{{-")[1] == " message['content'] -}}"
    assert "map(attribute='text') | join" in changed[1]
    assert template.template.count("map(attribute='text')") == 1


def test_a_template_fix_runs_on_the_lab_alone_and_is_given_as_a_command_elsewhere():
    trace = recorded("polluted-content")
    (here,) = [plan for plan in plan_experiments(trace, Target()) if plan.template]
    (there,) = [plan for plan in plan_experiments(trace, Target(base_url="http://localhost:1/v1")) if plan.template]

    target = target_of(here, Target())
    assert (can_run(here), can_run(there)) == (True, False)
    assert target.lab.chat_template.read_text("utf-8") == target.chat_template == here.template
    assert target == target_of(here, Target())
    assert there.command == "--chat-template fixed.jinja"


def test_a_template_is_named_to_a_server_by_its_own_flag():
    trace = recorded("polluted-content")
    elsewhere = replace(trace, server=replace(trace.server, kind="llama.cpp"))
    target = Target(base_url="http://localhost:1/v1")

    (fix,) = [plan for plan in plan_experiments(elsewhere, target) if plan.template]
    (picked,) = pick_plans(elsewhere, target, ["chat-template=my.jinja"], template="x")

    assert (fix.command, picked.command) == ("--chat-template-file fixed.jinja", "--chat-template-file my.jinja")


BODY_CASES = {
    "PD107": ({"stop": ["a", "a", ""]}, {"stop": ["a"]}),
    "PD201": ({"add_special_tokens": True}, {"add_special_tokens": False}),
    "PD202": ({}, {"add_special_tokens": True}),
    "PD208": (
        {"messages": [{"role": "user", "content": "Say <|x|>."}]},
        {"messages": [{"role": "user", "content": "Say <\u200b|x|>."}]},
    ),
    "PD209": ({"chat_template_kwargs": {"nobody": 1, "b": 2}}, {"chat_template_kwargs": {"b": 2}}),
    "PD211": (
        {"messages": [{"role": "assistant", "reasoning_content": "r"}]},
        {"messages": [{"role": "assistant", "reasoning_content": "r", "reasoning": "r"}]},
    ),
    "PD212": (
        {"messages": [{"tool_calls": [{"function": {"arguments": '"{}"'}}]}]},
        {"messages": [{"tool_calls": [{"function": {"arguments": "{}"}}]}]},
    ),
    "PD213": ({"messages": [{"content": None}, {}]}, {"messages": [{"content": ""}, {}]}),
    "PD220": (
        {"functions": [{"name": "f"}], "function_call": {"name": "f"}},
        {
            "tools": [{"type": "function", "function": {"name": "f"}}],
            "tool_choice": {"type": "function", "function": {"name": "f"}},
        },
    ),
    "PD305": ({"stop": ["x", "}"]}, {"stop": ["x"]}),
    "PD307": ({}, {"repetition_penalty": 1.1}),
    "PD407": ({}, {"skip_special_tokens": False}),
    "PD417": ({"stream": True}, {"stream": False}),
    "PD464": ({"stream": True}, {"stream": False}),
    "PD485": ({"stream": True}, {"stream": False}),
    "PD486": ({"stream": True}, {"stream": False}),
    "PD502": (
        {"tools": [{"function": {"name": "f"}}]}, {"tools": [{"function": {"name": "f", "strict": True}}]},
    ),
}  # fmt: skip
EVIDENCE = {
    "PD208": FindingEvidence("request", field="messages[0].content", quote="<|x|>"),
    "PD209": FindingEvidence("request", field="chat_template_kwargs.nobody"),
}


def test_every_change_of_a_request_has_a_case():
    of_recordings = {"PD100", "PD101", "PD103", "PD104", "PD203", "PD205", "PD301", "PD302", "PD408"}

    assert set(DECLARED["request"]) == of_recordings | set(BODY_CASES)


@pytest.mark.parametrize("code", BODY_CASES)
def test_a_field_is_set_left_out_or_written_as_it_was_meant(code):
    before, after = BODY_CASES[code]
    evidence = (EVIDENCE[code],) if code in EVIDENCE else ()
    finding = Finding(code, "", Severity.ERROR, Stage.REQUEST, "", "", evidence)
    trace = Trace(Request(before, ""), chat=ChatResult({}, "stop", stop_reason="}"))

    assert DECLARED["request"][code].change(trace, finding).body == after
    assert trace.request.body == BODY_CASES[code][0]


def test_what_a_person_picks_becomes_a_variant():
    trace, lab, elsewhere = recorded("healthy-call"), Target(), Target(base_url="http://localhost:1/v1")
    picks = ["thinking=true", "no-generation-prompt", "stop=END", "tool-parser=hermes", "chat-template=my.jinja"]
    plans = pick_plans(trace, lab, picks, template="x")
    there = pick_plans(trace, elsewhere, picks, template="x")

    assert [plan.name for plan in plans] == picks
    bodies = [apply_patch(trace.request.body, plan.patch) for plan in plans[:3]]
    assert bodies[0]["chat_template_kwargs"] == {"thinking": True}
    assert bodies[1]["add_generation_prompt"] is False
    assert bodies[2]["stop"] == ["END"]
    assert [can_run(plan) for plan in plans] == [True] * 5
    assert [can_run(plan) for plan in there] == [True] * 3 + [False] * 2
    assert there[3].command.endswith("--tool-call-parser hermes")
    assert target_of(plans[3], lab).lab.tool_parser == "hermes"


def test_other_stop_tokens_are_numbers_with_commas():
    trace = recorded("healthy-call")
    [plan] = pick_plans(trace, Target(), ["stop-token-ids=7, 163586"])

    assert apply_patch(trace.request.body, plan.patch)["stop_token_ids"] == [7, 163586]
    for text in ("END", "1,,2", "-1", "1.5", "²"):
        with pytest.raises(RequestError, match="is not a list of token ids"):
            pick_plans(trace, Target(), [f"stop-token-ids={text}"])


def test_the_plugin_is_put_into_a_lab_and_given_as_a_command_elsewhere():
    trace, lab = recorded("dropped-call"), Target()
    (plan,) = pick_plans(trace, lab, ["plugin"])
    (there,) = pick_plans(trace, Target(base_url="http://localhost:1/v1"), ["plugin"])
    spec = target_of(plan, lab).lab

    assert (can_run(plan), can_run(there)) == (True, False)
    assert there.command == plugin_command("kimi_k2")
    assert (spec.tool_parser, spec.extra_args[0]) == ("prompt_debugger", "--tool-parser-plugin")
    assert Path(spec.extra_args[1]).read_text("utf-8") == write_plugin("kimi_k2")
    assert target_of(plan, lab).lab == spec


def test_a_call_that_nothing_explains_is_fixed_by_the_plugin_which_the_lab_tries():
    trace = recorded("dropped-call")
    alone = replace(trace, findings=tuple(replace(one, follows=None) for one in trace.findings if one.code == "PD401"))

    fix = fixes_of(alone)["PD401"]

    assert (fix.kind, fix.plugin, fix.command) == ("flags", "kimi_k2", plugin_command("kimi_k2"))
    assert [can_run(plan) for plan in plan_experiments(alone, Target())] == [True, True]


@pytest.mark.parametrize("name", ["generic", "harmony"])
def test_no_plugin_is_offered_for_a_format_that_it_does_not_read(name):
    trace = recorded("dropped-call")
    parsed = replace(trace.parse.parsed, format=name)

    with pytest.raises(RequestError, match=name):
        pick_plans(replace(trace, parse=replace(trace.parse, parsed=parsed)), Target(), ["plugin"])


def test_a_name_that_no_variant_has_is_refused_with_those_that_there_are():
    with pytest.raises(RequestError, match="'nobody'") as refused:
        pick_plans(recorded("healthy-call"), Target(), ["nobody"])

    assert "thinking=true" in refused.value.hint


def test_what_the_runs_will_take_is_reported_by_the_first_one():
    trace = recorded("healthy-call")
    cost = cost_of(trace, 3)

    assert cost.requests % 3 == 0
    assert cost.prompt_tokens == cost.requests * len(trace.prompt.tokens)
    assert cost.completion_tokens == cost.requests * len(trace.raw.token_ids)
