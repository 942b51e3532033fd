"""Our own reader is offered, with complete commands, where it reads more and only there; else that is said."""

import shlex
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from prompt_debugger.core.tools.check import Checker, check_to_json, plugin_commands
from prompt_debugger.core.tools.check.plugin_fallback import plugin_fallback
from prompt_debugger.core.tools.plugin.write import PARSER_NAME, write_plugin
from prompt_debugger.ui.cli import main
from prompt_debugger.ui.cli.check_text import check_to_terminal
from scripts.json_schemas import json_schema_of
from tests.core.tools.check.checks import RIGHT, WRONG, check_of
from tests.core.tools.check.templates import HERMES, changed

REASONING = "{%- if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>{{ '\n\n' }}{% endif %}"
STRANGE = changed(HERMES, "<tool_call>\n", "<!-- call ").replace("\n</tool_call>", " -->")


def looked(check, row, family="hermes"):
    return plugin_fallback(check.ideals, check.tools, family, row)


def add_plugin_fallback(check):
    return replace(check, recommendation=replace(check.recommendation, plugin_fallback=looked(check, {}, check.family)))


def test_it_is_offered_where_nothing_works_or_less_does():
    check = check_of()
    calls = sum(bool(ideal.answer.calls) for ideal in check.ideals)
    all_but_one = {ideal.answer.name: RIGHT for ideal in check.ideals} | {"two-calls": WRONG}

    assert f"reads {calls} of {calls} answers with calls correctly" in looked(check, {}).sentence
    assert "prompt-debugger plugin --family hermes" in looked(check, all_but_one).sentence


def test_it_is_not_offered_where_parsers_read_as_much():
    check = check_of()
    same = looked(check, {ideal.answer.name: RIGHT for ideal in check.ideals})

    assert (same.is_more, same.sentence, same.write_command) == (False, "", ())
    assert check_to_json(check)["recommended"]["plugin"] is None
    assert "way out" not in check_to_terminal(check)


@pytest.mark.parametrize(
    ("family", "shown"),
    [
        ("hermes", "cannot read it either, as `hermes`"),
        (None, "does not support this format"),
        ("generic", "does not support this format"),
    ],
)
def test_that_it_does_not_read_a_format_is_reported(family, shown):
    way = looked(check_of(STRANGE), {}, family)

    assert (way.read, way.is_more, way.write_command) == (0, False, ())
    assert way.sentence == f"Prompt Debugger's own reader {shown}, so there is no plugin to offer."


def test_of_a_template_without_calls_nothing_is_reported_of_it():
    check = check_of(HERMES.partition("{%- for call in")[0] + "<|im_end|>\n{% endfor %}")

    assert looked(check, {}).sentence == ""


def test_the_commands_write_the_plugin_check_it_and_serve_it():
    check = check_of()
    check = add_plugin_fallback(replace(check, model=replace(check.model, template_file="my template.jinja")))

    commands = plugin_commands(check)

    assert commands.write == "prompt-debugger plugin --family hermes --output parser.py"
    assert commands.check == "prompt-debugger check --chat-template 'my template.jinja' --parser-file parser.py"
    assert commands.serve == (
        f"vllm serve MODEL --enable-auto-tool-choice --tool-parser-plugin parser.py --tool-call-parser {PARSER_NAME} "
        f"--reasoning-parser-plugin parser.py --reasoning-parser {PARSER_NAME} --chat-template 'my template.jinja'"
    )
    assert commands.serve in check_to_terminal(check)
    document = check_to_json(check)
    assert list(Draft202012Validator(json_schema_of("check")).iter_errors(document)) == []
    assert document["recommended"]["plugin"]["serve"] == commands.serve
    assert document["recommended"]["plugin"]["read"] == document["recommended"]["plugin"]["asked"]


def test_a_model_that_does_not_reason_is_served_without_a_reasoning_parser():
    silent = changed(HERMES, REASONING, "")

    assert "reasoning" not in plugin_commands(add_plugin_fallback(check_of(silent))).serve


def test_the_first_command_writes_the_file_as_it_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program, *arguments = shlex.split(plugin_commands(add_plugin_fallback(check_of())).write)

    assert (program, main(arguments)) == ("prompt-debugger", 0)
    assert (tmp_path / "parser.py").read_text() == write_plugin("hermes")


@pytest.mark.vllm
async def test_a_format_that_no_parser_of_vllm_reads_leads_to_the_plugin(engine):
    template = changed(HERMES, "<tool_call>\n", "<TOOLCALL>[").replace("\n</tool_call>", "]</TOOLCALL>")

    check = await Checker([engine]).check(replace(check_of().model, template=changed(template, REASONING, "")))

    recommended = check_to_json(check)["recommended"]
    assert (recommended["verdict"], recommended["tool_parser"]) == ("unknown", None)
    assert recommended["plugin"]["write"] == "prompt-debugger plugin --family nemotron --output parser.py"
    assert "--tool-parser-plugin parser.py" in recommended["plugin"]["serve"]
    assert "plugin --family nemotron" in recommended["reasons"][-2]  # behind it stands that there was no vocabulary
