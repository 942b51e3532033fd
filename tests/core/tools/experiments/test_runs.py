"""Two runs side by side: what differs is named, what is equal or missing is not."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.types import Notice, Refusal, Request, Trace
from prompt_debugger.core.tools.experiments import compare_runs, explanation_of, json_changes, runs_to_json, sentence_of
from tests.core.diagnose.strategies import jsons, traces
from tests.ui.present.traces import PROMPT_TEXT, RAW_TEXT, dropped_call_trace, prompt_of, tokens_of


def changed():
    """Return the run of `dropped_call_trace` after a fix: another id in the history, the call returned."""
    trace = dropped_call_trace()
    body = {**trace.request.body, "messages": [*trace.request.body["messages"], {"role": "user", "content": "Now."}]}
    raw = RAW_TEXT.replace("get_weather", "functions.get_weather:0")
    message = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "get_weather"}}]}
    return replace(
        trace,
        request=replace(trace.request, body=body),
        server=replace(trace.server, tool_parser="hermes", base_url="http://127.0.0.1:9/v1"),
        prompt=prompt_of(PROMPT_TEXT.replace("Paris", "Rome")),
        raw=replace(trace.raw, text=raw, tokens=tokens_of(raw)),
        chat=replace(trace.chat, message=message),
        findings=trace.findings[1:],
    )


def test_a_run_is_equal_to_itself():
    comparison = compare_runs(dropped_call_trace(), dropped_call_trace())

    assert sentence_of(comparison) == "A and B are identical in everything that both runs contain."
    assert comparison.prompt.is_same
    assert comparison.message == ()


def test_what_differs_is_named_stage_by_stage():
    comparison = compare_runs(dropped_call_trace(), changed())

    assert [(change.kind, change.path) for change in comparison.request] == [("added", "messages[2]")]
    assert [fact.label for fact in comparison.facts if fact.differs] == ["tool parser"]
    hunk = comparison.prompt.difference.hunks[0]
    assert (hunk.before.strip(), hunk.after.strip()) == ("Paris", "Rome")
    assert comparison.raw.difference.hunks[0].after.startswith("functions.")
    assert [change.path for change in comparison.message] == ["tool_calls[0]"]
    assert [finding.code for finding in comparison.only_left] == ["PD401"]
    assert (comparison.only_right, [finding.code for finding in comparison.in_both]) == ((), ["PD502"])


def test_the_sentence_can_be_quoted():
    sentence = sentence_of(compare_runs(dropped_call_trace(), changed()))

    assert sentence == (
        "The requests differ in 1 field; the prompts diverge at token 18; the raw outputs diverge at "
        "token 2; the messages differ in 1 field; only A has PD401; tool parser differs."
    )


def test_another_port_of_the_lab_is_not_a_difference():
    trace = dropped_call_trace()
    other = replace(trace, server=replace(trace.server, base_url="http://127.0.0.1:9/v1"))

    assert not any(fact.differs for fact in compare_runs(trace, other).facts)


def test_another_server_software_is_called_as_people_call_it():
    trace = dropped_call_trace()
    other = replace(trace, server=replace(trace.server, kind="sglang", version="0.5"))

    [fact] = [fact for fact in compare_runs(trace, other).facts if fact.differs]
    assert (fact.label, fact.left, fact.right) == ("server", "vLLM 0.32.0", "SGLang 0.5")


def test_with_two_vocabularies_tokens_are_compared_by_their_bytes():
    trace = dropped_call_trace()
    tokens = tuple(replace(token, id=token.id + 1) for token in trace.prompt.tokens)
    other = replace(trace, prompt=replace(trace.prompt, tokens=tokens))

    assert not compare_runs(trace, other).prompt.is_same
    assert compare_runs(trace, replace(other, vocabulary=replace(trace.vocabulary, size=9))).prompt.is_same


def test_without_tokens_texts_are_compared_by_words():
    trace = dropped_call_trace()
    other = replace(trace, prompt=replace(prompt_of(PROMPT_TEXT.replace("Paris", "Rome")), tokens=None))

    difference = compare_runs(trace, other).prompt.difference

    assert (difference.unit, difference.hunks[0].after) == ("word", "Rome")


def test_what_a_run_lacks_is_missing_and_not_equal():
    comparison = compare_runs(dropped_call_trace(), Trace(Request({"messages": []}, "{}")))

    assert comparison.prompt.is_same is None
    assert comparison.raw.right_count is None
    assert comparison.message is None
    assert {fact.right for fact in comparison.facts} == {None}


@pytest.mark.slow
@given(traces(), traces())
def test_any_two_runs_can_be_compared(left, right):
    comparison = compare_runs(left, right)

    json.dumps(runs_to_json(comparison))
    assert sentence_of(comparison).endswith(".")
    back = compare_runs(right, left)
    assert (back.only_left, back.only_right) == (comparison.only_right, comparison.only_left)
    assert back.prompt.is_same == comparison.prompt.is_same


# --- JSON --------------------------------------------------------------------------


@given(jsons)
def test_a_value_does_not_differ_from_itself(value):
    assert json_changes(value, json.loads(json.dumps(value))) == ()


@given(jsons, jsons)
def test_two_values_differ_somewhere_if_they_are_not_equal(left, right):
    assert (json_changes(left, right) == ()) == (json_changes(right, left) == ())
    if json.dumps(left) != json.dumps(right) and left != right:
        assert json_changes(left, right)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": 1}, {"a": True}, [("changed", "a")]),
        ({"a": None}, {}, [("removed", "a")]),
        ([1, 2, 3], [1, 9, 2, 3], [("added", "[1]")]),
        ({"m": [{"c": "x"}, {"c": "y"}]}, {"m": [{"c": "x"}, {"c": "z"}]}, [("changed", "m[1].c")]),
        ([[1]], [{}], [("changed", "[0]")]),
        ([1] * 3_000, [2] * 3_000, [("changed", f"[{i}]") for i in range(3_000)]),
    ],
)
def test_fields_are_reported_by_path(left, right, expected):
    assert [(change.kind, change.path) for change in json_changes(left, right)] == expected


@pytest.mark.parametrize(
    ("left", "right", "is_soft"), [("a b", "a\n b", True), ("a b", "ab ", True), ("a", "b", False)]
)
def test_white_space_alone_is_a_soft_difference(left, right, is_soft):
    assert json_changes(left, right)[0].is_soft == is_soft


@given(st.lists(st.integers(0, 3), max_size=8), st.lists(st.integers(0, 3), max_size=8))
def test_the_second_list_is_made_of_the_first_by_its_changes(left, right):
    changes = json_changes(left, right)

    gone = sum(change.kind == "removed" for change in changes)
    come = sum(change.kind == "added" for change in changes)
    assert len(left) - gone + come == len(right)


def test_a_field_that_one_server_leaves_null_and_another_leaves_out_is_not_a_difference():
    plain = dropped_call_trace()
    message = {"role": "assistant", "content": "I look."}
    left = replace(plain, chat=replace(plain.chat, message={**message, "refusal": None, "tool_calls": []}))
    right = replace(plain, chat=replace(plain.chat, message=message))

    assert [(one.path, one.kind) for one in compare_runs(left, right).message] == [("tool_calls", "removed")]
    spoken = replace(plain, chat=replace(plain.chat, message={**message, "refusal": "No."}))
    assert "refusal" in [one.path for one in compare_runs(left, spoken).message]


def test_what_one_run_does_not_say_is_not_a_difference():
    left = dropped_call_trace()
    right = replace(left, server=replace(left.server, model=None, tool_parser=None, is_lab=False), parse=None)
    comparison = compare_runs(replace(left, server=replace(left.server, is_lab=False)), right)

    assert [fact.label for fact in comparison.facts if fact.differs] == []
    assert ("model", "lab-model", None) in [(fact.label, fact.left, fact.right) for fact in comparison.facts]


def test_a_refused_and_an_answered_request_differ():
    left = dropped_call_trace()
    right = replace(left, chat=None, refusal=Refusal(400, "this field"))
    facts = {fact.label: fact for fact in compare_runs(left, right).facts}

    assert facts["refused"].differs
    assert facts["refused"].left == "no"


@pytest.mark.parametrize(
    ("text", "notices", "expected"),
    [
        ("the same", (), []),
        ("another", (Notice("model", "The server's own first model is asked."),), []),
        ("another", (Notice("top_k", "Ignored."),), ["model"]),
    ],
)
def test_a_model_that_no_one_changed_is_not_a_difference(text, notices, expected):
    left = dropped_call_trace()
    request = replace(left.request, text="the same", body={**left.request.body, "model": "lab-model"})
    body = {name: value for name, value in request.body.items() if name != "model"}
    right = replace(left, request=replace(request, text=text, body=body, notices=notices))

    comparison = compare_runs(replace(left, request=request), right)

    assert [change.path for change in comparison.request] == expected


def test_a_model_that_someone_changed_is_one():
    left = dropped_call_trace()
    first = replace(left.request, text="a", body={**left.request.body, "model": "a"})
    second = replace(left.request, text="b", body={**left.request.body, "model": "b"})

    comparison = compare_runs(replace(left, request=first), replace(left, request=second))

    assert [change.path for change in comparison.request] == ["model"]


def message(trace, content):
    return replace(trace, chat=replace(trace.chat, message={"role": "assistant", "content": content}))


def test_equal_runs_need_no_explanation():
    assert explanation_of(compare_runs(dropped_call_trace(), dropped_call_trace())) == ""


def test_different_prompts_come_before_what_may_follow_from_them():
    words = explanation_of(compare_runs(dropped_call_trace(), changed()))

    assert words.startswith("The prompts differ first, from token 18 on: the requests differ, and the different raw")


def test_the_same_prompt_and_another_text_is_the_models_doing():
    left = dropped_call_trace()
    right = replace(left, raw=replace(left.raw, text="Hi.", tokens=tokens_of("Hi.")))

    words = explanation_of(compare_runs(left, message(right, "Hi.")))

    assert "read the same prompt and wrote different text: the models, their weights or the sampling differ" in words


def test_the_same_text_and_another_message_is_the_parsers_doing():
    words = explanation_of(compare_runs(dropped_call_trace(), message(dropped_call_trace(), "another")))

    assert words == "A and B wrote the same text: the servers read it differently, which points to their parsers."


def test_an_id_that_a_server_draws_is_not_a_difference_to_explain():
    left = dropped_call_trace()
    called = {"role": "assistant", "tool_calls": [{"id": "chatcmpl-tool-1", "function": {"name": "f"}}]}
    again = {"role": "assistant", "tool_calls": [{"id": "chatcmpl-tool-2", "function": {"name": "f"}}]}
    one, other = (replace(left, chat=replace(left.chat, message=message)) for message in (called, again))

    assert explanation_of(compare_runs(one, other)) == ""


def test_what_is_not_known_explains_nothing():
    left = dropped_call_trace()
    right = message(replace(left, raw=None), "another")

    assert "model and parser cannot be distinguished" in explanation_of(compare_runs(left, right))
    blind = replace(left, prompt=None, local_prompt=None, raw=replace(left.raw, text="Hi.", tokens=tokens_of("Hi.")))
    assert "the cause is not known" in explanation_of(compare_runs(left, message(blind, "Hi.")))
