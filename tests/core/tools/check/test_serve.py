"""The commands that a check gives: each flag with its reason and what proves it."""

from dataclasses import replace

import pytest

from prompt_debugger.core.complete import PARSER_NAMES
from prompt_debugger.core.formats import TABLES
from prompt_debugger.core.tools.check import check_to_json, serve_commands
from prompt_debugger.core.tools.check.model import CheckedModel
from prompt_debugger.core.tools.check.recommend import Recommendation
from tests.core.tools.check.checks import STREAMS_WRONG, check_of
from tests.core.tools.check.templates import HERMES


def test_a_flag_of_vllm_names_the_answers_that_prove_it_and_those_that_fail():
    command = serve_commands(check_of(cells={"two-calls": STREAMS_WRONG}))["vllm"]

    (flag,) = [one for one in command.flags if one.words[0] == "--tool-call-parser"]
    assert flag.words == ("--tool-call-parser", "hermes")
    assert "one-call" in flag.passed
    assert "text" not in flag.passed  # it has no call, and proves nothing of a parser of calls
    assert flag.failed == ("two-calls",)
    assert f"in every chunking: {len(flag.passed)} of {len(flag.passed) + 1}, " in flag.reason
    assert command.is_tried
    assert all(one.reason.endswith(".") for one in command.flags)


def test_the_command_of_the_contract_is_the_one_for_vllm():
    document = check_to_json(check_of())["recommended"]

    assert document["command"] == document["commands"][0]["command"] == serve_commands(check_of())["vllm"].command
    assert [one["engine"] for one in document["commands"]] == ["vllm", "sglang", "llama.cpp"]
    assert [one["tried"] for one in document["commands"]] == [True, False, False]


def test_sglang_and_llama_cpp_are_given_by_their_own_names_and_as_not_tried():
    check = replace(check_of(), model=CheckedModel("ours", HERMES, template_file="mine.jinja"))
    commands = serve_commands(check)

    assert commands["sglang"].command == (
        "python -m sglang.launch_server --model-path MODEL --tool-call-parser hermes --reasoning-parser qwen3 "
        "--chat-template mine.jinja"
    )
    assert commands["llama.cpp"].command == "llama-server -m MODEL.gguf --jinja --chat-template-file mine.jinja"
    assert all(
        "not tested here" in commands[name].note + commands[name].flags[0].reason for name in ("sglang", "llama.cpp")
    )


@pytest.mark.parametrize(
    ("family", "vllm", "sglang"),
    [("glm45", "glm47", "glm47"), ("deepseek_v32", "deepseek_v4", "deepseekv4"), ("hermes", "granite4", "hermes"),
     ("minimax_m2", "minimax_m2", "minimax-m2")],
)  # fmt: skip
def test_of_several_names_the_one_that_means_the_same_is_taken(family, vllm, sglang):
    chosen = Recommendation(vllm, None, f"vllm:{vllm}", "works", ())

    command = serve_commands(replace(check_of(), family=family, recommendation=chosen))["sglang"]

    assert command.flags[0].words == ("--tool-call-parser", sglang)


def test_where_no_name_is_known_no_command_is_made_up():
    nothing = Recommendation(None, None, None, "nothing-works", ())

    assert serve_commands(replace(check_of(), recommendation=nothing)) == {}
    assert "sglang" not in serve_commands(replace(check_of(), family="functionary"))


def test_a_family_whose_own_parsers_read_nothing_is_a_guess_and_gives_no_name():
    assert "sglang" not in serve_commands(replace(check_of(), family="glm45"))


def test_names_are_in_records_of_families_that_vllm_reads_too():
    named = {family for family, names in PARSER_NAMES["sglang"].items() if names.tools}

    assert len(named) > 20
    assert named <= TABLES.tool_parsers.keys()
