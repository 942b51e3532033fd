"""Reports on engines: servers of MLX by name, errors that quote a part of the output, what a stream loses, in words."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.diagnose.calls.broken_arguments import Break, break_of
from prompt_debugger.core.diagnose.reported_words import Reported
from prompt_debugger.core.evidence import Part, read_evidence
from prompt_debugger.core.evidence.commands.command_lines import find_commands
from prompt_debugger.core.evidence.reports.blocks import BlockKind
from prompt_debugger.core.evidence.reports.mentions import mentioned_server
from prompt_debugger.core.evidence.reports.report_text import shown_output
from prompt_debugger.core.evidence.reports.split import split
from prompt_debugger.core.known_errors import quoted_output
from tests.core.evidence.pasted import codes, said, shown

CALL = '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'
BODY = 'srv operator(): got exception: {"error":{"code":500,"message":"Failed to parse input at pos 9: '


@pytest.mark.parametrize("name", ["mlx-openai-server", "oMLX", "Rapid-MLX", "vllm-mlx"])
def test_a_server_of_mlx_has_its_own_advice(name):
    text = f"{name} runs it by mlx_lm and mlx_vlm, and returns it in content:\n\n```\n{CALL}\n```\n"

    assert mentioned_server(text).kind == name.lower()
    assert name in said(text)


@pytest.mark.parametrize("text", ["mlx_lm.server returns it.", "mlx_lm and mlx_vlm do."])
def test_mlx_lm_itself_is_still_known(text):
    assert mentioned_server(text).kind == "mlx-lm"


def test_a_command_of_an_mlx_server_is_read():
    command = find_commands("mlx-openai-server launch --model-path m --tool-call-parser qwen3_coder")[0]

    assert (command.kind, command.words[:2]) == ("mlx-openai-server", ("--model-path", "m"))
    assert [one.kind for one in find_commands("vllm serve m --port 1")] == ["vllm"]


@pytest.mark.parametrize(
    "command",
    [
        "ovms --model_name some-gemma \\\n  --rest_port 8000 \\\n  --tool_parser gemma4",
        "docker run -p 8000:8000 openvino/model_server:latest --model_name some-gemma --tool_parser gemma4",
    ],
)
def test_a_command_of_openvino_is_read_with_its_parser(command):
    server = read_evidence(command).server

    assert (server.kind, server.model, server.tool_parser) == ("ovms", "some-gemma", "gemma4")


@pytest.mark.parametrize("text", ["ovms returns the call as text", "It is --tool_parser gemma4 of some server"])
def test_the_name_alone_and_the_flag_alone_start_no_server(text):
    assert not find_commands(text)


@pytest.mark.parametrize(("model", "is_told"), [("", True), ("some-xlam-1b", True), ("some-gemma", False)])
def test_xlam_is_named_only_where_no_other_model_is(model, is_told):
    call = '{"tool_calls": [{"name": "look", "arguments": {"city": "Bern"}}]}'
    command = f"\n\n```\novms --model_name {model} --rest_port 8000\n```" if model else ""

    assert ("xLAM" in said(f"It answers:\n\n```\n{call}\n```{command}\n")) is is_told


def test_what_is_between_two_quotations_is_not_one():
    text = 'vLLM bug: of a tool call, the "tool_calls" list in the response is empty, and the value is in "content".'

    assert "PD469" in codes(text)
    assert Part.ERROR not in read_evidence(text).holds


@pytest.mark.parametrize(
    ("message", "text", "is_cut"),
    [
        (BODY + r'<tool_call>\n{\"a\": 1}"}}', '<tool_call>\n{"a": 1}', False),
        (BODY + r"<tool_call>\n{\"a", '<tool_call>\n{"a', True),
        (r"Failed to parse input at pos 9: <tool_call>\n", r"<tool_call>\n", False),
        ("Failed to parse input at pos 9: <tool_call>…", "<tool_call>", True),
    ],
)
def test_a_quotation_within_a_body_is_unescaped(message, text, is_cut):
    quoted = quoted_output(message)

    assert quoted is not None
    assert (quoted.text, quoted.is_cut, quoted.skipped) == (text, is_cut, 9)


def test_an_output_that_is_left_out_is_none():
    text = 'llama.cpp says {"error":{"code":500,"message":"Failed to parse input at pos 184: ..."}} for GLM-4.7 tools'

    trace = shown(text)

    assert trace.raw is None
    assert "gave up at character 184." in said(text)


def test_a_warning_ends_where_its_paragraph_ends():
    text = (
        "mlx_lm.server logs:\n\n    WARNING - Received tools but model does not support tool calling. If you think "
        "this is an error, file an issue\n\nThe model writes text.\n\n### Environment\n\n- MLX-LM: 0.31.3\n"
    )

    error = read_evidence(text).error

    assert error is not None
    assert error.message.endswith("file an issue")


def test_a_quoted_output_keeps_its_paragraphs():
    text = "srv  E Failed to parse input at pos 3: <tool_call>\n\n{\n\nsrv  done"

    error = read_evidence(text).error

    assert error is not None
    assert "<tool_call>\n\n{" in error.message


@pytest.mark.parametrize("text", ['code": "up"}', '"code": "up"}', '"up"}', 'p", "b": 1}'])
def test_the_rest_of_an_object_lacks_its_beginning(text):
    fault = break_of(text)

    assert fault is not None
    assert fault.kind is Break.BEHEADED


@pytest.mark.parametrize("text", ["up", '{"code": up"}', '}{"a"', 'b"}}', "{a: 1}", 'x"]'])
def test_other_broken_texts_do_not(text):
    fault = break_of(text)

    assert fault is None or fault.kind is not Break.BEHEADED


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SGLang's tool-call parser drops calls when the stream has two chunks. It is wrong.", Reported.LOST),
        ("vLLM's tool parser loses the arguments of a tool call in streaming. A bug.", Reported.LOST),
        ("In a stream the tool call arguments are lost. It fails.", Reported.LOST),
        ("llama-server stops emitting `tool_calls`: it returns empty `content`. A bug.", Reported.NOTHING),
        ("`tool_calls` is empty and `content` is empty, so the tool call fails.", Reported.NOTHING),
        ("A bug of Ollama: neither is there any tool call in it nor a text.", Reported.NOTHING),
        ("llama-server is broken: the five tool calls all get index 0.", Reported.JOINED),
        ("vLLM fails: it came as plain `content` with no tool call.", Reported.AS_TEXT),
        ("A bug: streamed tool-call arguments arrive malformed/truncated.", Reported.BROKEN),
        ("It fails: llama-server emits malformed/incomplete JSON tool call arguments.", Reported.BROKEN),
        ("A tool call fails: the field concatenates multiple JSON objects.", Reported.JOINED),
    ],
)
def test_what_a_report_says_of_an_answer(text, kind):
    assert any(note.startswith(kind.value) for note in read_evidence(text).notes)
    assert "PD469" in codes(text)


@pytest.mark.parametrize(
    "text",
    [
        "Non-streaming loses tool calls. It is broken.",
        "This fixes a bug: the tool parser lost arguments of tool calls in streams.",
        "The tool call fails, the stream is closed, and the browser lost the connection.",
        "`tool_calls` is empty, and the text is right. The tool call fails to be made.",
        "A stream should not lose tool calls.",
        "This fixes malformed tool call arguments, a bug.",
        "The tool call is rejected with invalid arguments, which fails.",
    ],
)
def test_what_is_not_said_stays_unsaid(text):
    try:
        notes = read_evidence(text).notes
    except Exception as error:  # noqa: BLE001 - refused, so that nothing is said
        notes = (str(error),)

    assert not any(
        note.startswith((Reported.LOST.value, Reported.NOTHING.value, Reported.BROKEN.value)) for note in notes
    )


def test_a_parser_that_loses_shown_calls_in_a_stream_is_said_beside_them():
    text = f"vLLM's parser loses tool calls that arrive in one delta. It is broken:\n\n```\n{CALL}\n```\n"

    assert "PD469" in codes(text)
    assert "PD469" not in codes(f"vLLM's parser reads it:\n\n```\n{CALL}\n```\n")


def test_a_sentence_that_begins_with_a_server_is_no_command():
    assert [one.kind for one in split("llama-server returns no calls\nA text.")] == [BlockKind.PROSE]
    assert split("llama-server -m a.gguf --jinja\nA text.")[0].kind is BlockKind.COMMAND


def test_the_name_of_a_call_stands_above_its_arguments():
    prose = "It writes\n\n  glob\n  <arg_key>a</arg_key>\n  <arg_value>b</arg_value>\n\nand fails."

    assert (shown_output(prose) or "").split() == ["glob", "<arg_key>a</arg_key>", "<arg_value>b</arg_value>"]
    assert (shown_output(prose.replace("  glob", "  and so on:")) or "").split()[0] == "<arg_key>a</arg_key>"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("llama.cpp version: 9652 (6eab47181)", "b9652"),
        ("llama-server b7622 does", "b7622"),
        ("llama.cpp b7607 did, b7622 does not", None),
        ("llama.cpp with gemma-b1234 in ab1234", None),
        ("Ollama version\n\n0.9.1", "0.9.1"),
        ("Ollama\n\n0.9.1", None),
    ],
)
def test_releases_are_read(text, version):
    server = mentioned_server(text)

    assert server is not None
    assert server.version == version


def test_a_block_that_will_be_parsed_is_not_the_fault():
    text = f"llama.cpp: this will be parsed:\n```\n{CALL}\n```\nthis stays in content:\n```\nSo.\n\n{CALL}\n```\n"

    trace = shown(text)

    assert trace.chat is not None
    assert str(trace.chat.message["content"]).startswith("So.")


def test_a_template_without_calls_is_named():
    assert "derives how calls are read" in said(
        'Tool calling throws this error at Ollama: "failed to create tool parser"'
    )


def test_what_a_client_says_of_a_call_is_not_said_of_the_request():
    text = "LM Studio: validation of the tool call fails with: \"must have required property 'command'\"."

    assert "Send `command`" not in (said(text) if "PD" in "".join(found_codes(text)) else "")
    assert "body must have required property 'messages'" in said(
        "400: body must have required property 'messages' (vLLM)"
    )


def found_codes(text: str) -> list[str]:
    try:
        return codes(text)
    except RequestError:
        return []
