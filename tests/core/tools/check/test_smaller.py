"""A drawn answer that fails is made small: the same parser, the same problem, the same result every time."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from prompt_debugger.core.parse.engines import EngineLimits, VllmEngine
from prompt_debugger.core.tools.check import CheckedModel, Checker, Wanted, check_to_json, failing_cases
from prompt_debugger.core.tools.check.judge import Cell
from prompt_debugger.core.tools.check.smaller import kind_of, reduce_arguments
from prompt_debugger.ui.cli.check_text import check_to_terminal
from scripts.json_schemas import json_schema_of
from tests.core.tools.check.templates import HERMES, changed

PLUGIN = Path(__file__).parent / "plugins" / "no_smile.py"
REASONING = "{%- if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>{{ '\n\n' }}{% endif %}"
FACE = "\N{SLIGHTLY SMILING FACE}"
LARGE = {
    "place": "zqdrawn1 abc <b>",
    "days": 41,
    "stops": ["a", f"b{FACE}c", "d"],
    "options": {"k0": [1, {"deep": "x]y"}], "k1": None},
}


@pytest.mark.parametrize(
    ("needs", "smallest"),
    [
        (FACE, {"stops": [FACE]}),
        ("]y", {"options": {"k0": [{"deep": "]y"}]}}),
        ("null", {"options": {"k1": None}}),
        ("41", {"days": 41}),
        ("place", {"place": ""}),
    ],
)
async def test_what_the_problem_needs_is_kept_and_nothing_else(needs, smallest):
    async def holds(arguments):
        return needs in json.dumps(arguments, ensure_ascii=False)

    assert await reduce_arguments(LARGE, holds, 1000) == smallest


async def test_it_asks_no_more_than_it_may_and_nothing_twice():
    asked = []

    async def holds(arguments):
        asked.append(json.dumps(arguments))
        return False

    assert await reduce_arguments(LARGE, holds, 7) == LARGE
    assert len(asked) == len(set(asked)) == 7


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("argument `stops[0]` changes: 'a' becomes 'b'", "call 2: argument `stops[1]` changes: 'c' becomes ''", True),
        ("argument `stops[0]` changes: 'a' becomes 'b'", "argument `place` changes: 'a' becomes 'b'", False),
        ("argument `note` is lost", "argument `note` changes: 'a' becomes 'b'", False),
        (
            "argument `a` changes its type: text '1' becomes number 1",
            "argument `a` changes its type: null None becomes text 'None'",
            False,
        ),
        ("its arguments are not JSON: '{'", "its arguments are not JSON: '}'", True),
    ],
)
def test_a_problem_is_the_same_whatever_the_values_in_it(one, other, is_same):
    left, right = (kind_of(Cell(False, None, problem)) for problem in (one, other))

    assert (left == right) is is_same


@pytest.fixture
def patient_engine():
    """A helper of its own: what a plug-in registers stays there."""
    one = VllmEngine(limits=EngineLimits(request_s=600.0, parser_s=30.0))
    yield one
    one.close()


@pytest.mark.vllm
@pytest.mark.slow
async def test_a_planted_loss_is_shown_with_the_smallest_call_that_has_it(patient_engine):
    names = await patient_engine.plugin_parsers([PLUGIN])
    model = CheckedModel("ours", changed(HERMES, REASONING, ""))

    check = await Checker([patient_engine]).check(model, Wanted(names, is_thorough=True, parser_file="no_smile.py"))

    document = check_to_json(check)
    assert list(Draft202012Validator(json_schema_of("check")).iter_errors(document)) == []
    cells = document["parsers"]["vllm:no_smile"]["cells"]
    failing = {name: cell for name, cell in cells.items() if name.startswith("drawn-") and cell["problem"]}
    assert failing
    for cell in failing.values():
        (call,) = cell["smallest"]["calls"]
        assert json.dumps(call["arguments"], ensure_ascii=False).count(FACE) == 1
        assert len(json.dumps(call["arguments"], ensure_ascii=False)) < 50, call
    assert not any("smallest" in cell for name, cell in cells.items() if name not in failing)
    cases = {case["id"].partition(" / ")[2]: case for case in failing_cases(check)}
    assert all(cases[name]["raw"] in cell["smallest"]["raw"] for name, cell in failing.items())
    assert "The smallest of `drawn-" in check_to_terminal(check)
