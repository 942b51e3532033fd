"""A prompt beside the program that rendered it, or the words of whoever did; and an error beside what it was about."""

from __future__ import annotations

import contextlib

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Certainty, Severity
from prompt_debugger.core.evidence import read_evidence
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import shown

PROMPT = "<bos><start_of_turn>user\nHow warm is it in Oslo?<end_of_turn>\n<start_of_turn>model\n"
RENDER = "text = tok.apply_chat_template(messages, tools=[warmth], add_generation_prompt=True, tokenize=False)\n"


def read(text: str) -> None:
    with contextlib.suppress(RequestError):
        read_evidence(text)


def told(text: str) -> list[str]:
    return [finding.title for finding in shown(text).findings if finding.code == "PD207"]


def test_what_follows_a_prompt_that_was_only_rendered_is_no_output():
    trace = shown(f"{RENDER}print(text)\n\n{PROMPT}\nNone of them is in there!\n")

    assert trace.raw is None
    assert trace.prompt.text == PROMPT
    assert "generates nothing: what follows the prompt is no output" in trace.verdict.sentence


def test_what_a_program_generated_below_its_prompt_is_an_output():
    code = f"{RENDER}out = model.generate(**tok(text, return_tensors='pt'))\nprint(tok.decode(out[0]))\n"

    assert shown(f"{code}\n{PROMPT}It is 7 degrees there.<end_of_turn>\n").raw.text.startswith("It is 7 degrees")


@pytest.mark.parametrize(
    "words",
    [f"{RENDER}print(text)\n", "I passed two tools with the request, and the log shows this.\n"],
    ids=["a program", "a sentence"],
)
def test_a_prompt_without_a_word_of_tools_that_were_passed_is_reported(words):
    trace = shown(f"{words}\n{PROMPT}")
    finding = next(one for one in trace.findings if one.code == "PD207")

    assert finding.severity is Severity.WARNING
    assert finding.certainty is Certainty.INFERRED
    assert finding.title == "The prompt contains no tools, although the surrounding text says that tools were passed."


@pytest.mark.parametrize(
    "text",
    [
        PROMPT,
        f"{RENDER.replace('[warmth]', 'None')}print(text)\n\n{PROMPT}",
        f"The prompt was sent without tools.\n\n{PROMPT}",
        f"If I passed tools here, would they be in the prompt?\n\n{PROMPT}",
        f"I passed a tool, and the log shows\n\n{PROMPT.replace('How warm', 'You have the tool warmth. How warm')}",
    ],
    ids=["no words", "no tools passed", "none were sent", "a question", "the prompt has them"],
)
def test_nothing_is_said_of_tools_where_none_are_missing(text):
    assert told(text) == []


def test_words_around_a_prompt_are_read_in_linear_time():
    assert grows_linearly(lambda n: read("I passed " + "a " * n + f"\n\n```\n{PROMPT}```\n"), first=4_000)
    assert grows_linearly(lambda n: read("The log shows\n" * n + f"\n{PROMPT}"), first=500)
    assert grows_linearly(lambda n: read("The log shows " * n + f"\n{PROMPT}"), first=500)


TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "/srv/agent.py", line 9, in call\n'
    "    values = json.loads(arguments)\n"
    "json.decoder.JSONDecodeError: Extra data: line 1 column 10 (char 9)\n"
)


def test_arguments_that_are_printed_below_the_decoders_error_explain_it():
    trace = shown(f'{TRACEBACK}\ncall.function.arguments = \'{{"id": 7}}{{"id": 7}}\'\n')
    error = next(one for one in trace.findings if one.code == "PD445")

    assert error.follows == "PD451"
    assert "2 JSON objects end to end, all identical" in trace.verdict.sentence


def test_whole_arguments_below_a_decoders_error_explain_nothing():
    trace = shown(f"{TRACEBACK}\ncall.function.arguments = '{{\"id\": 7}}'\n")

    assert {one.code for one in trace.findings} == {"PD445"}


def test_lines_below_a_decoders_error_are_read_in_linear_time():
    assert grows_linearly(lambda n: read(TRACEBACK + "\narguments: {" * n), first=500)


DIFF = (
    "--- a/chat_template.jinja\n+++ b/chat_template.jinja\n@@ -3,4 +3,4 @@\n {%- for message in messages %}\n"
    "-{{- '<|im_start|>' + message.role }}\n+{{- '<|im_start|>' + (message.role or 'user') }}\n {%- endfor %}\n"
)


def test_the_diff_of_a_template_is_a_template_of_which_a_part_is_shown():
    with pytest.raises(RequestError, match="is or contains a chat template") as caught:
        read_evidence(DIFF)

    assert "never reads `tools`" not in caught.value.message


def test_a_diff_of_recorded_outputs_is_no_template():
    diff = '--- a/out.txt\n+++ b/out.txt\n@@ -1 +1 @@\n-<tool_call>\n+<tool_call>{"name": "f", "arguments": {}}\n'
    try:
        words = read_evidence(diff).words
    except RequestError as error:
        words = error.message

    assert "template" not in words


def test_a_models_configuration_is_called_that():
    with pytest.raises(RequestError, match=r"is a model's `config\.json` or `generation_config\.json`"):
        read_evidence('{"eos_token_id": [1, 2], "temperature": 0.7, "transformers_version": "5.0.0"}')
