"""What the first sentence says of texts beside the command of their server, or beside the program that sent them."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Severity
from prompt_debugger.core.evidence import read_evidence
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import shown

DEEPSEEK = (
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find<｜tool▁sep｜>{"id": 7}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
)
XML = "<tool_call>\n<function=find>\n<parameter=id>\n7\n</parameter>\n</function>\n</tool_call>"
SERVE = "vllm serve Qwen/Qwen3-Coder-Next --enable-auto-tool-choice --tool-call-parser"
COMMAND = "vllm serve deepseek-ai/DeepSeek-V3.1 --enable-auto-tool-choice --tool-call-parser deepseek_v3"


def test_a_parser_of_another_notation_is_named_with_the_call():
    trace = shown(f"`{SERVE} hermes`, and this comes\n\n```\n{XML}\n```\n")

    assert (
        "in the notation of `qwen3_coder`; the server's parser `hermes` is made for another." in trace.verdict.sentence
    )
    assert "does not show whether that server returned it" in trace.verdict.sentence


def test_the_models_own_parser_is_not_said_to_be_another():
    trace = shown(f"`{SERVE} qwen3_xml`, and this comes\n\n```\n{XML}\n```\n")

    assert "made for another" not in trace.verdict.sentence


def test_a_json_string_below_a_command_is_judged_by_its_flags():
    trace = shown(f"{COMMAND}\n\nResponse content:\n{json.dumps(DEEPSEEK, ensure_ascii=False)}\n")

    assert trace.server.tool_parser == "deepseek_v3"
    assert trace.verdict.sentence.startswith("Warning: the flags name the parser `deepseek_v3`, but the model writes")
    assert "The JSON string below the command was unwrapped." in trace.verdict.sentence


def test_words_above_a_json_string_are_left_out_where_they_name_no_flag():
    trace = shown(f"It is DeepSeek.\n\nResponse content:\n{json.dumps(DEEPSEEK, ensure_ascii=False)}\n")

    assert trace.raw.text == DEEPSEEK
    assert "The text above a JSON string was left out" in trace.verdict.sentence


def test_strings_below_a_command_are_read_in_linear_time():
    assert grows_linearly(lambda n: read_evidence(f"{COMMAND}\nout:\n" + '"<a>\\"' * n), first=500)


def test_advice_on_a_log_of_lm_studio_is_for_lm_studio():
    message = {"role": "assistant", "content": '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'}
    answer = {"id": "c", "object": "chat.completion", "choices": [{"message": message, "finish_reason": "stop"}]}
    trace = shown(f"2026-11-01 10:00:00 [INFO]\n [qwen3-4b] Generated prediction:  {json.dumps(answer, indent=2)}\n")
    fixes = " ".join(finding.fix for finding in trace.findings)

    assert trace.server.kind == "lm-studio"
    assert "LM Studio extracts calls only if" in fixes
    assert "--tool-call-parser" not in fixes


PIECES = (
    "ChoiceDelta(content='', role='assistant', tool_calls=None)",
    "ChoiceDelta(content=None, role=None, tool_calls=[ChoiceDeltaToolCall(index=0, id='c1', "
    "function=ChoiceDeltaToolCallFunction(arguments='{\"id\": ', name='find'), type='function')])",
    "ChoiceDelta(content='', role=None, tool_calls=None)",
)


def test_printed_pieces_do_not_say_how_the_stream_ended():
    finding = next(one for one in shown("\n".join(PIECES)).findings if one.code == "PD320")

    assert finding.severity is Severity.WARNING
    assert "Only the pieces were printed, and not how the stream ended" in finding.detail


@pytest.mark.parametrize("below", ["messages = [{'role': 'user', 'content': 'a'}]", "messages ="])
def test_a_line_of_the_program_below_an_error_is_not_of_its_words(below):
    error = "jinja2.exceptions.TemplateError: Conversation roles must alternate user/assistant/user/assistant/..."
    trace = shown(f"{error}\n{below}\n")

    assert "messages =" not in trace.refusal.message
    assert "Conversation roles must alternate" in trace.refusal.message


def test_a_finish_reason_without_its_call_asks_for_what_the_model_wrote():
    answer = {"choices": [{"message": {"role": "assistant", "content": "I look."}, "finish_reason": "tool_calls"}]}
    finding = next(one for one in shown(json.dumps(answer)).findings if one.code == "PD412")

    assert "see what the model wrote" in finding.fix


def test_a_call_of_phi_4_alone_is_an_output():
    trace = shown('functools[{"name": "find", "arguments": {"id": 7}}]')

    assert "in the notation of `phi4_mini`" in trace.verdict.sentence


def test_a_module_of_that_name_in_words_is_none():
    with pytest.raises(RequestError):
        read_evidence("The decorators of functools [see its page] keep the name of a function.")


def test_parsers_of_models_that_write_the_same_are_named():
    trace = shown('<tool_calls>[{"name": "find", "arguments": {"id": 7}}]</tool_calls>')

    assert "Parsers made for this notation: vLLM's `jamba`, `hunyuan_a13b`." in trace.findings[0].detail
