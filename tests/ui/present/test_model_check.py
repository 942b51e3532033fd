"""What the matrix shows: the recommended row first, each cell by whole and streamed, and no verdict without parsers."""

from dataclasses import replace

from prompt_debugger.core.base.types import ParserOutcome
from prompt_debugger.core.tools.check import ideal_of, plugin_commands
from prompt_debugger.core.tools.check.engine_choice import Asked
from prompt_debugger.core.tools.check.model import CheckedModel
from prompt_debugger.core.tools.check.plugin_fallback import plugin_fallback
from prompt_debugger.core.tools.check.recommend import Recommendation
from prompt_debugger.core.tools.check.run import check_without_parsers
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.present.model_check import cell_payload, check_payload
from prompt_debugger.ui.rule_pages import rules_html
from tests.core.tools.check.checks import RIGHT, STREAMS_WRONG, WRONG, check_of
from tests.core.tools.check.templates import HERMES, changed


def shown(check, missing=""):
    return unpack_payload(check_payload(check, missing))[0]


def test_whole_and_streamed_are_distinguished():
    larger = replace(STREAMS_WRONG, streamed_usual=True)
    cells = {"two-calls": WRONG, "types": STREAMS_WRONG, "null": larger}

    [row] = shown(check_of(cells=cells))["rows"]

    reported = {name: (row["cells"][name]["whole"], row["cells"][name]["streamed"]) for name in ("one-call", *cells)}
    assert reported == {
        "one-call": (True, "same"),
        "two-calls": (False, "untried"),
        "types": (True, "differs"),
        "null": (True, "larger"),
    }
    assert [row["cells"][name]["state"] for name in ("one-call", *cells)] == ["pass", "fail", "fail", "limit"]


def test_the_recommended_row_is_on_top_though_another_passes_more():
    check = check_of(cells={"two-calls": WRONG})
    all_right = dict.fromkeys(check.cells["vllm:hermes"], RIGHT)
    check = replace(check, cells={"vllm:better": all_right, **check.cells})

    rows = shown(check)["rows"]

    assert [(row["short"], row["chosen"]) for row in rows] == [("hermes", True), ("better", False)]


def test_every_flag_of_the_command_has_its_reason():
    reported = shown(check_of(cells={"two-calls": WRONG}))

    first, *others = reported["commands"]
    assert first["command"].startswith("vllm serve MODEL --enable-auto-tool-choice --tool-call-parser hermes")
    assert all(reason for one in reported["commands"] for _, reason in one["flags"])
    assert "14 of 15" in dict(map(tuple, first["flags"]))["--tool-call-parser hermes"]
    assert [one["is_tried"] for one in (first, *others)] == [True, *[False] * len(others)]
    assert reported["verdict"] == "works-with-limits"
    assert ["two-calls", "two calls of different tools", "fail", WRONG.problem] in reported["features"]


def test_where_parsers_fall_short_our_reader_is_the_way_out():
    check = check_of(cells={"one-call": WRONG})
    way = plugin_fallback(check.ideals, check.tools, check.family, {})
    short = replace(check, recommendation=replace(check.recommendation, plugin_fallback=way))

    assert shown(check)["plugin"] == []
    commands = plugin_commands(short)
    assert [command for _, command in shown(short)["plugin"]] == [commands.write, commands.check, commands.serve]


def test_the_condition_of_a_comparison_is_reported():
    check = check_of()
    held = replace(check, engines=replace(check.engines, note="It holds while vLLM takes the template."))

    assert shown(held)["engines"]["note"] == "It holds while vLLM takes the template."


def test_without_parsers_no_verdict_is_given():
    reported = shown(check_without_parsers(CheckedModel("ours", HERMES)), "vLLM is not installed.")

    assert reported["verdict"] == "unknown"
    assert [one["engine"] for one in reported["commands"] if one["is_tried"]] == []
    assert reported["rows"] == []
    assert reported["answers"]
    assert "nothing works" not in reported["sentence"].lower()


def test_a_parser_for_reasoning_alone_is_named_as_one():
    check = check_of(parser="vllm:-+qwen3")

    assert shown(check)["rows"][0]["short"] == "qwen3 (reasoning)"
    assert shown(check)["rows"][0]["kind"] == "reasoning"


def test_every_finding_leads_to_a_page():
    without_prompt = changed(HERMES, "{%- if add_generation_prompt %}", "{%- if false %}")
    without_second = changed(without_prompt, "{%- for call in m.tool_calls or [] %}", "{%- for call in [] %}")

    codes = {one["code"] for one in shown(check_of(without_second))["findings"]}

    assert {"PD203", "PD801"} <= codes  # a rule of a run, and one of check
    assert all(rules_html(code) for code in codes)


def test_a_cell_shows_what_went_in_and_the_smallest_chunking():
    outcome = ParserOutcome(None, None, ())
    check = check_of(cells={"one-call": replace(STREAMS_WRONG, outcome=outcome, split=("<tool", "_call>"))})
    from prompt_debugger.core.tools.check import cell_trace

    trace = cell_trace(check, "vllm:hermes", "one-call")
    reported = unpack_payload(cell_payload(check, "vllm:hermes", ideal_of(check, "one-call"), trace))[0]

    assert reported["deltas"] == ["<tool", "_call>"]
    assert reported["sent"]["calls"] == [{"name": "get_weather", "arguments": {"city": "zqParis"}}]
    assert reported["account"] is None  # no one has read it yet


def test_of_several_engines_each_has_a_line_and_the_sentence_says_which_to_take():
    one = check_of(cells={"two-calls": WRONG})
    row = dict.fromkeys(one.cells["vllm:hermes"], RIGHT)
    chosen = Recommendation("hermes", None, "sglang:hermes", "works", ())
    better = Asked("0.5.23", chosen, row)
    header = shown(replace(one, others={"sglang": better}))

    assert [(reported["engine"], reported["parser"]) for reported in header["asked"]] == [
        (f"vLLM {one.release}", "hermes"),
        ("SGLang 0.5.23", "hermes"),
    ]
    assert header["asked"][1]["returned"] == f"{len(row)} of {len(row)}"
    assert header["sentence"].startswith("Take vLLM for this model")
    assert shown(one)["asked"] == []
