"Failing cells as cases: what the parser was given, and nothing of what was returned as it should."

from dataclasses import replace

from prompt_debugger.core.tools.check import failing_cases
from prompt_debugger.core.tools.check.judge import Cell
from tests.core.tools.check.checks import RIGHT, WRONG, check_of

SPLIT = Cell(True, False, "streamed otherwise", split=("a", "b"), streamed_usual=True)


def test_a_case_contains_what_the_parser_was_given():
    check = check_of(cells={"two-calls": SPLIT, "nested": WRONG})

    cases = {case["id"]: case for case in failing_cases(check)}

    assert set(cases) == {"hermes / two-calls", "hermes / nested"}
    case = cases["hermes / two-calls"]
    assert case["raw"].endswith("</tool_call>")  # the end of the turn is the server's to take off
    assert case["raw"].count("<tool_call>") == 2
    assert (case["problem"], case["split"]) == ("streamed otherwise", ["a", "b"])
    assert case["parsers"] == ["vllm:hermes"]
    assert case["prompt_tail"].endswith("<|im_start|>assistant\n")
    assert "tokenizer" not in case  # a template alone has none
    assert "split" not in cases["hermes / nested"]


def test_other_parsers_are_in_it_only_where_they_were_chosen_by_name():
    check = check_of(cells={"two-calls": SPLIT})
    both = {**check.cells, "vllm:kimi_k2": {"one-call": WRONG, "text": RIGHT}}

    alone = [case["id"] for case in failing_cases(replace(check, cells=both))]
    named = [case["id"] for case in failing_cases(replace(check, cells=both, is_narrowed=True))]

    assert alone == ["hermes / two-calls"]
    assert named == ["hermes / two-calls", "kimi_k2 / one-call"]
