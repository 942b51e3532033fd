"""Advice that knows which parser runs, which family the text is of, and that arguments show elsewhere."""

import json

import pytest

from prompt_debugger.core.evidence import read_evidence, show_evidence

LOG = (
    "ERROR 11-02 08:15:41 [mistral_tool_parser.py:190] Error in extracting tool call from response.\n"
    "ERROR 11-02 08:15:41 [mistral_tool_parser.py:190] Traceback (most recent call last):\n"
    "ERROR 11-02 08:15:41 [mistral_tool_parser.py:190] json.decoder.JSONDecodeError: Expecting value: line 1 column 1 "
    "(char 0)\n"
)
COMMAND = "vllm serve mistralai/Magistral-Small-2509 --enable-auto-tool-choice --tool-call-parser {}\n\n"


async def fix_of(text, code):
    trace = await show_evidence(read_evidence(text))
    return next(str(finding.fix) for finding in trace.findings if finding.code == code)


async def test_a_parser_that_runs_is_not_advised_again():
    fix = await fix_of(COMMAND.format("mistral") + LOG, "PD445")

    assert "--tokenizer-mode mistral" in fix
    assert "--tool-call-parser" not in fix


async def test_a_tokenizer_that_is_set_is_not_advised_again():
    fix = await fix_of(COMMAND.format("mistral --tokenizer-mode mistral") + LOG, "PD445")

    assert "runs already (`mistral`)" in fix
    assert "--tokenizer-mode" not in fix


async def test_where_no_parser_shows_the_models_own_is_advised():
    assert "--tool-call-parser" in await fix_of(LOG, "PD445")


def stripped(content, command=""):
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    return f"{command}\n```json\n{json.dumps({'choices': [choice]})}\n```"


@pytest.mark.parametrize(
    ("content", "parser", "other"),
    [
        ("thought\nI have to look.\nTwo.", "--tool-call-parser gemma4", "openai_gptoss"),
        ("analysisTwo and two.assistantfinalfour", "--tool-call-parser openai", "gemma4"),
        ("thinking\nI have to look.\nTwo.", "of this model's family", "--tool-call-parser"),
    ],
)
async def test_a_text_without_its_tokens_gets_the_parsers_of_its_family(content, parser, other):
    fix = await fix_of(stripped(content), "PD457")

    assert parser in fix
    assert other not in fix


async def test_the_parser_of_another_family_is_named():
    command = "vLLM with `--tool-call-parser pythonic` serves google/gemma-4-31b-it:"

    assert "in place of `pythonic`" in await fix_of(stripped("thought\nI look.\nTwo.", command), "PD457")


def answer(*calls):
    message = {"role": "assistant", "content": None, "tool_calls": list(calls)}
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})


def call(name, arguments):
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}


async def test_arguments_that_show_elsewhere_are_not_replaced_by_none():
    torn = answer(call("look", ""), call(None, '{"at": "sky"}'))
    written = 'raw: [{"name": "look", "arguments": {"at": "sky"}}]\n\n' + answer(call("look", ""))

    assert "without a name beside it has them" in await fix_of(torn, "PD416")
    assert "the raw output has them" in await fix_of(written, "PD416")


async def test_a_call_of_which_nothing_shows_is_not_run():
    assert (await fix_of(answer(call("", "")), "PD416")).startswith("Do not run it")


async def test_no_arguments_anywhere_may_be_none():
    assert "as `{}`" in await fix_of(answer(call("look", "")), "PD416")
