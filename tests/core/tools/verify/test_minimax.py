"""MiniMax's figures by their published definitions: each with what counts, what does not, and its denominator."""

import pytest

from prompt_debugger.core.tools.verify import Tally
from prompt_debugger.core.tools.verify.minimax import recalls_order
from prompt_debugger.ui.cli.verify_words import summary_to_terminal
from tests.core.tools.verify.counting_server import answer, body, counting_server
from tests.core.tools.verify.running import Verification

ORDERED = {
    "type": "function",
    "function": {
        "name": "book",
        "parameters": {"type": "object", "properties": {"width": {}, "id": {}, "city": {}, "age": {}}},
    },
}


def row(index, labels, *, finish="stop", status="success", tools=(ORDERED,), **message):
    return {
        "data_index": index,
        "status": status,
        "finish_reason": finish,
        "request": {"tools": list(tools)},
        "response": {"choices": [{"message": message}]} if status == "success" else {"error": "no"},
        "debugger": {"attempts": 1, "labels": labels},
    }


def figure(name, *rows):
    rate = Tally().add_all(rows).minimax()[name]
    return rate.value, rate.n


@pytest.mark.parametrize(
    ("content", "is_recalled"),
    [
        ("width, id, city, age", True),
        ("First `width`, then `id`.", True),
        ("参数width是宽度，参数id是编号", True),
        ("<think>age, city, id, width</think>width, id", True),
        ("age, city, id, width", False),
        ("id, city", False),  # not from the first on
        ("width, city", False),  # one is left out
        ("only width", False),
        ("there are four of them", False),
        ("width and identity", False),
    ],
)
def test_an_order_is_recalled_from_the_first_parameter_on(content, is_recalled):
    assert recalls_order({"tools": [ORDERED]}, content) is is_recalled


def test_parameters_next_to_the_schemas_own_words_have_an_order_too():
    tool = {"function": {"name": "f", "parameters": {"type": "object", "query": {}, "limit": {}}}}

    assert recalls_order({"tools": [tool]}, "query and limit") is True
    assert recalls_order({"tools": [tool]}, "limit and query") is False


@pytest.mark.parametrize("tools", [[], None, [{}], [{"function": {"name": "f"}}], ["f"]])
def test_without_parameters_there_is_no_order(tools):
    assert recalls_order({"tools": tools}, "width, id") is None


def test_only_rows_that_are_checked_and_say_something_count_for_the_order():
    check = {"check_type": ["scenario_check"]}

    assert figure(
        "scenario_check_pass_rate",
        row(1, check, content="width, id"),
        row(2, check, content="id, width"),
        row(3, check, content=""),
        row(4, check, content="width, id", tools=()),
        row(5, check, status="failed"),
        row(6, {"check_type": ["tool_calls"]}, content="id, width"),
    ) == (0.5, 2)


def test_reasoning_alone_is_looked_for_in_every_row():
    assert figure(
        "error_only_reasoning_rate",
        row(1, {"check_type": ["tool_calls"]}, content="", reasoning="Hm."),
        row(2, {}, content=None, reasoning_content="Hm."),
        row(3, {}, content="Yes.", reasoning="Hm."),
        row(4, {}, content="", reasoning="Hm.", tool_calls=[{}]),
        row(5, {}, content=""),
        row(6, {}, status="failed", finish=None),
    ) == (2 / 6, 6)


def test_an_answer_matches_that_finished_as_expected_and_no_other_way():
    wanted, unwanted = {"expected_tool_call": True}, {"expected_tool_call": False}

    assert figure(
        "tool_calls_match_rate",
        row(1, wanted, finish="tool_calls"),
        row(2, wanted),
        row(3, unwanted),
        row(4, unwanted, finish="tool_calls"),
        row(5, unwanted, finish="length"),
        row(6, wanted, status="failed", finish=None),
        row(7, {}, finish="tool_calls"),
    ) == (2 / 6, 6)


def test_rows_without_labels_have_none_of_these_figures():
    assert Tally().add_all([row(1, {}, content="", reasoning="Hm.")]).minimax() is None


def test_checks_that_are_not_judged_are_counted_by_name():
    tally = Tally().add_all(
        [
            row(1, {"check_type": ["repeat_n_gram", "tool_calls"]}),
            row(2, {"check_type": ["silence_output", "repeat_n_gram"]}),
            row(3, {"check_type": "of_next_year"}),
            row(4, {"check_type": [{}]}),
            row(5, {"check_type": ["scenario_check", "contains_russian_characters_unicode"]}),
            row(6, {"check_type": ["repeat_n_gram"]}, status="failed"),
        ]
    )

    assert tally.labels.not_judged() == {"of_next_year": 1, "other": 1, "repeat_n_gram": 3, "silence_output": 1}


def test_a_whole_verification_judges_what_it_can_and_names_what_it_does_not(tmp_path):
    rows = [
        {**body("recall"), "tools": [ORDERED], "check_type": ["scenario_check"], "scenario_check": True},
        {**body("sorted"), "tools": [ORDERED], "check_type": ["scenario_check"], "scenario_check": True},
        {**body("repeat"), "check_type": ["repeat_n_gram"]},
    ]
    words = {"recall": "width, id, city, age", "sorted": "age, city, id, width", "repeat": "so so so"}
    run = Verification(tmp_path / "run", rows)
    with counting_server(lambda text: answer({"role": "assistant", "content": words[text]}, "stop")) as server:
        run.run(server.base_url)

    own = run.summary["debugger"]
    assert (own["minimax"]["scenario_check_pass_rate"]["value"], own["minimax"]["scenario_check_pass_rate"]["n"]) == (
        0.5,
        2,
    )
    assert own["not_judged"] == {"repeat_n_gram": 1}
    shown = summary_to_terminal(run.summary)
    assert "scenario check pass rate" in shown
    assert "checks without a result, by rows: repeat_n_gram 1" in shown
    assert not any("check_type" in sent or "scenario_check" in sent for sent in server.bodies)
