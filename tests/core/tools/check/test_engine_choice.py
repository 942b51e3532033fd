"""Several engines on one model: which is taken and why, whose commands are tried, and what the document holds."""

from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.parse.engines import WHEELS, WheelEngine, bring_wheel
from prompt_debugger.core.tools.check import Checker, Wanted, check_to_json, serve_commands
from prompt_debugger.core.tools.check.engine_choice import Asked, best_engine, choice_sentence
from prompt_debugger.core.tools.check.judge import Cell
from prompt_debugger.core.tools.check.markers import words_on_bare_tools
from prompt_debugger.core.tools.check.model import CheckedModel
from prompt_debugger.core.tools.check.recommend import Ranking, Recommendation, Verdict
from prompt_debugger.core.tools.check.run import write_answers
from prompt_debugger.ui.cli.check_text import check_to_terminal
from prompt_debugger.ui.cli.main import main
from scripts.json_schemas import json_schema_of
from tests.core.tools.check.checks import RIGHT, WRONG, check_of

LARGER_WRONG = Cell(True, False, "streamed differently: y", streamed_usual=True)
NOT_STREAMED = Cell(True, None, None)


def asked(*cells: Cell, name: str = "vllm:hermes", release: str = "1.0.0") -> Asked:
    row = {f"answer-{number}": cell for number, cell in enumerate(cells)}
    verdict: Verdict = "works" if all(cell.is_passed for cell in cells) else "works-with-limits"
    return Asked(release, Recommendation(name.partition(":")[2], None, name, verdict, ()), row)


def none_of(verdict: Verdict) -> Asked:
    return Asked("2.0.0", Recommendation(None, None, None, verdict, ()))


def test_the_engine_that_returns_most_is_taken_and_of_equals_the_first():
    most = {"vllm": asked(RIGHT, WRONG), "sglang": asked(RIGHT, RIGHT, name="sglang:qwen25")}
    equal = {"vllm": asked(RIGHT), "mlx-lm": asked(NOT_STREAMED, name="mlx-lm:json_tools")}

    assert best_engine(most) == "sglang"
    assert choice_sentence(most, "sglang") == (
        "Take SGLang for this model: SGLang 1.0.0 with `qwen25` returns 2 of 2 answers; "
        "vLLM 1.0.0 with `hermes` returns 1 of 2 answers (not `answer-1`: it loses \x00 it)."
    )
    assert best_engine(equal) == "vllm"
    assert "(another returns as many, and this one was tested first)" in choice_sentence(equal, "vllm")


def test_what_only_larger_deltas_break_counts_less_than_an_answer_that_is_lost():
    both = {"vllm": asked(RIGHT, WRONG), "sglang": asked(LARGER_WRONG, LARGER_WRONG, name="sglang:qwen25")}

    assert best_engine(both) == "sglang"
    assert "returns 2 of 2 answers (0 in every chunking)" in choice_sentence(both, "sglang")


def test_where_no_engine_reads_the_calls_none_is_recommended():
    both = {"vllm": none_of("nothing-works"), "sglang": none_of("unknown")}

    assert best_engine(both) == "sglang"  # it may read them
    assert choice_sentence(both, "sglang") == (
        "No tested engine can be recommended for this model: SGLang 2.0.0 cannot be judged, as its parsers had an "
        "approximate vocabulary and none returned the simplest call; "
        "vLLM 2.0.0 has no parser that reads the simplest call."
    )
    both["sglang"] = replace(both["sglang"], has_vocabulary=True)
    assert "SGLang 2.0.0 cannot be judged; " in choice_sentence(both, "sglang")
    assert choice_sentence({"vllm": none_of("nothing-works")}, "vllm") == ""


def test_no_engine_is_blamed_where_the_template_prints_no_call_for_it_to_read():
    none = {kind: replace(none_of("nothing-works"), was_given_calls=False) for kind in ("vllm", "sglang")}

    assert choice_sentence(none, "vllm") == ""


def test_an_engine_without_a_parser_for_the_family_is_said_to_have_none():
    lacking = replace(none_of("unknown"), lacks_parser_for="deepseek_v3")

    assert choice_sentence({"vllm": asked(RIGHT), "mlx-lm": lacking}, "vllm").endswith(
        "mlx-lm 2.0.0 has no parser known for the notation `deepseek_v3`, and none returned the simplest call."
    )


def test_an_output_of_no_known_family_is_not_called_by_our_own_word_for_it():
    lacking = replace(none_of("unknown"), lacks_parser_for="generic")
    said = choice_sentence({"vllm": lacking, "mlx-lm": lacking}, "vllm")

    assert "has no parser known for this notation, which belongs to no known family" in said
    assert "generic" not in said


def test_an_engine_that_returns_no_answer_as_it_should_is_not_advised():
    both = {"vllm": asked(WRONG), "sglang": none_of("unknown")}

    assert choice_sentence(both, "vllm").startswith(
        "No tested engine returns an answer of this model as it should: vLLM 1.0.0 with `hermes` returns 0 of 1 answers"
    )


@pytest.mark.parametrize(("name", "is_said"), [("tool.name", True), ("tool.function.name", False), ("x.y.z", False)])
def test_a_template_that_wants_tools_without_their_wrapper_is_told_from_one_that_fails(name, is_said):
    template = "{% for tool in tools %}{{ '# ' + " + name + " }}{% endfor %}{{ messages | tojson }}"
    model = CheckedModel("", template)

    said = words_on_bare_tools(model, write_answers(model, is_thorough=False)[1])

    assert ("without the wrapper" in said) is is_said


def add_other_engines():
    check = check_of()
    row = dict.fromkeys(check.cells["vllm:hermes"], RIGHT)
    sglang = Asked("0.5.23", Recommendation("qwen25", "qwen3", "sglang:qwen25+qwen3", "works", ("It reads.",)), row)
    mlx = Asked("0.32.2", Recommendation("json_tools", None, "mlx-lm:json_tools", "works", ()), row)
    return replace(check, others={"sglang": sglang, "mlx-lm": mlx})


def test_the_commands_of_the_engines_that_were_asked_are_tried_with_their_own_names():
    commands = serve_commands(add_other_engines())

    assert [(kind, one.is_tried) for kind, one in commands.items()] == [
        ("vllm", True), ("sglang", True), ("mlx-lm", True), ("llama.cpp", False),
    ]  # fmt: skip
    assert "--tool-call-parser qwen25 --reasoning-parser qwen3" in commands["sglang"].command
    assert "one-call" in commands["sglang"].flags[0].passed
    assert "The parsers of SGLang 0.5.23 were run, without its server around them." in commands["sglang"].note
    assert commands["mlx-lm"].command == "mlx_lm.server --model MODEL"
    assert '"tool_parser_type": "json_tools"' in commands["mlx-lm"].note


def test_an_engine_whose_parsers_read_nothing_gets_no_command():
    commands = serve_commands(replace(check_of(), others={"sglang": none_of("nothing-works")}))

    assert [*commands] == ["vllm", "llama.cpp"]


def test_the_document_says_whose_recommendation_each_is_and_keeps_the_comparison_of_renderers():
    document = check_to_json(add_other_engines())

    assert list(Draft202012Validator(json_schema_of("check")).iter_errors(document)) == []
    assert document["recommended"]["engine"] == "vllm"
    assert document["engines"]["sglang"]["tool_parser"] == "qwen25"
    assert document["engines"]["sglang"]["command"] == document["recommended"]["commands"][1]["command"]
    assert {"conversations", "skipped", "vllm", "mlx-lm"} <= document["engines"].keys()
    assert "vllm" not in check_to_json(check_of())["engines"]


def test_the_terminal_names_the_engine_and_what_was_not_run_of_it():
    text = check_to_terminal(add_other_engines())

    assert "ours: WORKS with vLLM 0.32.0 (an approximate vocabulary)" in text
    assert "The parsers of SGLang 0.5.23 were run, without its server around them." in text


def test_of_equals_the_engine_s_own_name_for_the_family_wins():
    cells = {f"sglang:{name}": {"one-call": RIGHT} for name in ("abc", "hermes", "zzz")}

    assert Ranking("hermes", "m", "sglang").best(cells, 1) == ["sglang:hermes"]
    larger = {"sglang:glm47": {"one-call": LARGER_WRONG}, "sglang:spark25": {"one-call": RIGHT}}
    assert Ranking("glm45", "m", "sglang").best(larger, 1) == ["sglang:glm47"]  # the deltas of its server are not known
    assert Ranking("kimi_k2", "m", "mlx-lm").made_for() == ("kimi_k2",)


@pytest.mark.parametrize(
    "options",
    [["--engine", "all", "--tool-parser", "hermes"], ["--engine", "sglang", "--parser-file", "mine.py"]],
)
def test_what_belongs_to_one_engine_is_refused_with_the_others(options, capsys):
    assert main(["check", "template.jinja", *options]) == 2
    assert "cannot be used with" in capsys.readouterr().err


@pytest.mark.vllm
async def test_mlx_lm_s_own_parser_reads_what_the_template_teaches():
    try:
        engine = WheelEngine("mlx-lm", bring_wheel("mlx-lm", WHEELS["mlx-lm"].example))
    except EngineError as error:
        pytest.skip(error.message)
    async with engine:
        check = await Checker([engine]).check(check_of().model, Wanted(("json_tools",)))

    assert (check.engine, check.release, check.recommendation.verdict) == ("mlx-lm", "0.32.2", "works")
    assert check.recommendation.reasons[0].endswith("whole and in every chunking.")
    assert serve_command_of(check) == "mlx_lm.server --model MODEL"


def serve_command_of(check):
    return check_to_json(check)["recommended"]["command"]
