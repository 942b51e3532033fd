"""Reports as people copy them from trackers: their parts are found, their prose is no evidence."""

import json
import re

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Form, read_evidence
from prompt_debugger.core.evidence.reports.report_text import not_recognised, shown_output
from tests.attacks.growth import grows_linearly

OUTPUT = '<tool_call>\n{"name": "book", "arguments": {"seat": "12A"}}\n</tool_call>'
TITLE = "[Bug]: Seats are not booked #4711\n\nsomeone opened on Mar 3, 2026\n\n"


def shown(text):
    return read_evidence(text)


def test_an_output_that_is_in_the_prose_of_a_report_is_that_line_alone():
    text = (
        "## Description\n\nThe model answers with a message like this:\n"
        '<|tool_call_start|>[book(seat="12A")]<|tool_call_end|>\n\nand no call.\n'
        "The template:\n```\n{%- for message in messages %}<|im_start|>{{ message.role }}{%- endfor %}\n```\n"
    )

    assert shown(text).raw == '<|tool_call_start|>[book(seat="12A")]<|tool_call_end|>'


SAID_BELOW = "## Which server?\n\nLM Studio 0.4\n\n## Description\n\nIt answers like this:\n"


def test_words_of_a_person_on_the_line_below_an_output_are_not_part_of_it():
    call = '<|tool_call_start|>[book(seat="12A")]<|tool_call_end|>'
    text = f"{SAID_BELOW}{call}\nand the server gives me the very same thing, in its content, with no tool_calls\n"

    assert shown_output(text) == call
    assert shown(text).words == f"a raw output of {len(call)} characters"


@pytest.mark.parametrize(
    "below", ["and no more", "and then it goes on with <|im_start|> and some words of another turn"]
)
def test_few_words_below_an_output_or_those_with_markup_are_not_cut_off(below):
    call = '<|tool_call_start|>[book(seat="12A")]<|tool_call_end|>'

    assert shown_output(f"{SAID_BELOW}{call}\n{below}\n") is None


def test_the_words_below_an_output_are_looked_for_in_linear_time():
    piece = "<tool_call> "

    assert grows_linearly(lambda count: shown_output("<tool_call>\n" + piece * count + "\nwords"), first=500)


def test_markup_that_a_report_only_mentions_is_not_an_output():
    text = (
        "# Parser reads the thinking\n\n## What is the bug?\n\nThe parser looks for `<tool_call>` inside of "
        "<think> blocks and finds calls there.\n\n## Steps to reproduce\n\n1. Load a model that thinks\n"
    )

    with pytest.raises(RequestError, match="report in words"):
        shown(text)


def test_a_piece_of_a_prompt_that_a_report_shows_is_not_an_output():
    text = f"{TITLE}The prompt that was sent to the model contains:\n\n```\n<|im_start|>tool\n{{}}<|im_end|>\n```\n"

    with pytest.raises(RequestError, match="report in words"):
        shown(text)


def test_a_title_is_not_the_words_of_an_error():
    text = (
        "# Parsing error for calls: error parsing tool call\n\n## Logs\n\n"
        "error parsing tool call: raw='{\"seat\": \"12A\"}]', err=invalid character ']' after top-level value\n"
    )

    error = shown(text).error

    assert error is not None
    assert error.message.startswith("error parsing tool call: raw=")


def test_an_error_in_a_fence_is_read_without_the_talk_around_it():
    text = (
        f"{TITLE}I see this:\n\n```\nERROR Error in applying chat template from request: Conversation roles "
        "must alternate user/assistant/user/assistant/...\n```\n\nIn case there is no system message, send nothing.\n"
    )

    error = shown(text).error

    assert error is not None
    assert "In case" not in error.message
    assert "```" not in error.message


def test_the_words_of_a_body_that_is_cut_are_read():
    body = json.dumps(
        {"error": {"code": 400, "message": "Conversation roles must alternate user/assistant/user/assis"}}
    )
    text = f"## What happened?\n\nPart of the answer: 400:Bad Request:{body[:-4]}\n\n=== end of the part"

    error = shown(text).error

    assert error is not None
    assert error.message.startswith("Conversation roles must alternate")


def test_an_error_that_is_cut_inside_what_it_quotes_quotes_no_output():
    message = 'error parsing tool call: raw=\'{"seat": "12A", "row"'
    evidence = shown(json.dumps({"error": message}))

    assert evidence.error is not None
    assert evidence.raw is None


def test_a_log_line_of_ollama_shows_the_output_that_it_quotes():
    line = (
        'level=WARN source=gemma4.go:306 msg="gemma4 tool call parsing failed" error="invalid character \'@\'" '
        'content="call:book{seat:<|\\"|>12A<|\\"|>@}"'
    )

    assert shown(line).raw == 'call:book{seat:<|"|>12A<|"|>@}'
    assert shown(line[:-8]).raw is None


def test_compose_with_a_command_of_several_lines_and_a_health_check_is_a_command():
    text = (
        "services:\n  a:\n    image: lmsysorg/sglang:latest\n    entrypoint: python3 -m sglang.launch_server\n"
        "    command:\n      --model-path /models/a\n      --tool-call-parser qwen25\n"
        '    healthcheck:\n      test: ["CMD-SHELL", "curl -f http://localhost:30000/health || exit 1"]\n'
    )

    evidence = shown(text)

    assert evidence.form is Form.COMMAND
    assert evidence.server is not None
    assert evidence.server.tool_parser == "qwen25"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{% for message in messages %}{{ message.content }}{% endfor %}", "chat template"),
        ("{%- macro f(x) %}{{ x }}{%- endmacro %}<|im_start|>", "chat template"),
        ("{{- range .Messages }}{{ .Content }}{{ end }}{{ .Tools }}", "a template of Ollama, but nothing"),
        ('FROM a:7b\nTEMPLATE """{{ .Prompt }}<tool>{}</tool>"""\n', "Modelfile of Ollama.*does not support tools"),
        ('# mine\n\nFROM a:7b\nTEMPLATE """{{ if .Tools }}<tool_call>{{ end }}{{ .Prompt }}"""\n', "a Modelfile of Ol"),
        ("%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>", "content of a PDF"),
        ("\x89PNG\r\n\x1a\n\x00\x00", "content of an image"),
        ("PK\x03\x04\x14\x00", "content of an archive"),
        ("\x00\x01\x02\x7fELF\x00\x00\x00", "a file that is not text"),
        ("<!DOCTYPE html>\n<html><head></head><body>x</body></html>", "source of an HTML page"),
        ("# Calls are lost\n\n## Environment\n\nPython 3.12\n", "report in words"),
        ("### Your current environment\n\n```\nPyTorch version: 2.8\nOS: Ubuntu\n```\n", "report in words"),
        ("Nothing works.", "begins with"),
        ("", "Nothing was pasted"),
    ],
)
def test_what_is_not_understood_is_called_what_it_is(text, said):
    with pytest.raises(RequestError, match=said):
        shown(text)

    error = not_recognised(text)
    assert re.search(said, error.message)
    assert error.hint


@pytest.mark.parametrize("text", ["FROM a:7b is where <tool_call> comes from", "{{ .Values.image }}<|im_end|>"])
def test_what_is_no_template_of_ollama_is_read_as_what_it_is(text):
    assert shown(text).form is Form.OUTPUT


def test_a_modelfile_with_tools_is_not_said_to_lack_them():
    with pytest.raises(RequestError) as caught:
        shown('FROM a:7b\nTEMPLATE """{{- if $.Tools }}<tool_call>{{ end }}{{ .Prompt }}"""\n')

    assert "support tools" not in caught.value.message


def test_a_broken_document_beside_a_request_is_not_the_arguments_of_a_call():
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}, indent=1)
    text = f'{TITLE}I send\n\n```json\n{body}\n```\n\nResults:\n\n```\n{{"a": "x{{"a": "x"}}\n```\n'

    evidence = shown(text)

    assert evidence.request is not None
    assert evidence.chat is None


@pytest.mark.parametrize("mark", ['"', "`", "\u201c"])
def test_an_error_that_a_sentence_quotes_is_read(mark):
    end = "\u201d" if mark == "\u201c" else mark
    said = (
        f"When I click, it always errors {mark}The app failed! 400, message='Bad Request', url='http://h/v1/chat'{end}."
    )

    found = shown(f"Hi, nothing works for me.\n\n{said}\n\nWhy?")

    assert found.error is not None
    assert found.error.message.startswith("The app failed! 400")


@pytest.mark.parametrize(
    "said", ['The page says "have a look at the manual first" and', 'a name like "model-not-found-by-me" is']
)
def test_other_quotations_are_no_errors(said):
    with pytest.raises(RequestError):
        shown(f"Hi, nothing works for me.\n\n{said} all.\n\nWhy?")


def test_an_answer_copied_without_its_last_brackets_is_read_between_prose():
    answer = {"choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}
    text = json.dumps(answer, indent=0).rstrip("]}\n")

    found = shown(f"It answers:\n{text}}}\n}}\n\nand that is wrong.")
    whole = shown(f"It answers:\n{json.dumps(answer, indent=0)}\n\nand that is right.")

    assert found.form is Form.FRAGMENT
    assert found.chat.message == whole.chat.message
    assert "Unclosed brackets in the pasted text were closed." in found.notes


def test_an_exception_alone_that_quotes_markup_is_not_an_output():
    with pytest.raises(RequestError):
        shown("ValueError: the tag '</think>' is odd")
    assert shown(f"ValueError: odd\n{OUTPUT}").raw is not None


LOOP = "{%% for m in messages %%}{{ '%s' + m.content }}{%% endfor %%}{%% if tools %%}{{ tools }}{%% endif %%}"
CONFIG = json.dumps({"chat_template": LOOP % "<|im_start|>user\\n", "eos_token": "<|im_end|>"})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (LOOP % "<|{role}|>", "prints `{role}` as it is"),
        (LOOP.split("{%% if")[0] % "<|user|>", "never reads `tools`"),
        (f"{LOOP % '<|turn>user'}{{{{ '<|turn>model' if add_generation_prompt }}}}", "never writes `<turn|>`"),
        (CONFIG, "a tokenizer's configuration with a chat template"),
        (
            'FROM m\nTEMPLATE """### User:\n{{ .Prompt }}\n"""\nPARAMETER stop "<|im_start|>"\n',
            "strings (`<|im_start|>`) are of another",
        ),
        ("[Document(page_content='Oslo', metadata={'page': 1})]", "a printed list of `Document` objects"),
    ],
)
def test_what_is_refused_is_named_with_what_it_shows(text, says):
    with pytest.raises(RequestError, match=re.escape(says)):
        shown(text)


@pytest.mark.parametrize(
    "text",
    [
        LOOP % "{{ role }}",
        f"{LOOP % '<|turn>user<turn|>'}{{{{ '<|turn>model' if add_generation_prompt }}}}",
        f"{LOOP % '<|turn>user'}",
        LOOP % "<|{role}|>'.format(role=m.role) + '",
        "{%- if tools %}{%- endif %}",
        'FROM m\nTEMPLATE """<|im_start|>user\n{{ .Prompt }}\n"""\nPARAMETER stop "<|im_start|>"\n',
        'FROM m\nTEMPLATE """[INST] {{ .Prompt }} [/INST]"""\nPARAMETER stop "</s>"\n',
    ],
)
def test_a_template_without_a_fault_is_refused_without_one(text):
    with pytest.raises(RequestError) as refused:
        shown(text)

    assert not any(
        word in refused.value.message for word in ("as it is", "never reads", "never writes", "another notation")
    )


def test_a_text_that_javascript_prints_in_parts_is_one_text():
    message = "{\n  role: 'assistant',\n  content: '[\\n' +\n    '{\"a\": 1}\\n' +\n    ']'\n}"
    choice = f"{{\n index: 0,\n message: {message},\n finish_reason: 'stop'\n}}"
    read = shown(f"Completion: {{\n  model: 'm',\n  choices: [\n{choice}\n  ]\n}}\n")

    assert read.chat is not None
    assert (read.chat.message["content"], read.finish_reason) == ('[\n{"a": 1}\n]', "stop")


def test_a_prompt_that_a_report_announces_is_one():
    read = shown(
        "The prompt is merged like this:\n\n```\n<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n```\n"
    )

    assert (read.raw, read.prompt) == (None, "<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model")


def test_a_clause_that_names_a_field_and_its_value_is_no_line_of_code():
    read = shown(f"tool_choice=none, and the response content is:\n\n{OUTPUT}\n")

    assert read.form is Form.OUTPUT
    assert OUTPUT in (read.raw or "")


def test_an_assignment_is_a_line_of_code():
    with pytest.raises(RequestError, match="snippet contains no request"):
        shown(f"output = {OUTPUT!r}\nfirst, second = parse(output), 2\n")
