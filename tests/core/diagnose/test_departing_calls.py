"""Calls in content that depart from their notation: advice that fits each way, and none of it for calls that do not."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from prompt_debugger.core.base.types import Certainty, Finding, Trace
from prompt_debugger.core.diagnose.calls.departing_calls import encoded_call
from prompt_debugger.core.evidence import read_evidence, show_evidence

ARGUMENTS = '{"city": "Oslo"}'
PLAIN = f'{{"name": "get_time", "arguments": {ARGUMENTS}}}'
ENCODED = f'{{"name": "get_time", "arguments": {json.dumps(ARGUMENTS)}}}'
ESCAPED = json.dumps(PLAIN)[1:-1]
XML = "<function=get_time>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>"
HEADER = "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"


def shown(content: str, model: str = "m", command: str = "") -> Trace:
    message = {"role": "assistant", "content": content, "tool_calls": []}
    body = {"object": "chat.completion", "model": model, "choices": [{"message": message, "finish_reason": "stop"}]}
    return asyncio.run(
        show_evidence(read_evidence(f"{command}\n\n{json.dumps(body)}" if command else json.dumps(body)))
    )


def call_finding(content: str, model: str = "m", command: str = "") -> Finding:
    return next(one for one in shown(content, model, command).findings if one.code == "PD426")


def test_arguments_that_are_encoded_twice_are_so_after_a_parser_too():
    found = call_finding(f"<tool_call>\n{ENCODED}\n</tool_call>")

    assert "--tool-call-parser hermes" in found.fix
    assert "decode them once more in the client" in found.fix


def test_the_parser_that_runs_already_is_not_advised_with_it():
    found = call_finding(
        f"<tool_call>\n{ENCODED}\n</tool_call>",
        command="vllm serve Qwen/Qwen3-8B --enable-auto-tool-choice --tool-call-parser hermes",
    )

    assert "is set already" in found.fix
    assert "decode them once more in the client" in found.fix


@pytest.mark.parametrize("content", [f"<tool_call>\n{PLAIN}\n</tool_call>", f"[TOOL_CALLS][{PLAIN}]"])
def test_calls_as_their_notation_has_them_get_no_such_advice(content):
    fix = call_finding(content).fix

    assert "once more" not in fix
    assert "opening tag" not in fix


@pytest.mark.parametrize(
    "content",
    [
        f"<tool_call>\n{ESCAPED}\n</tool_call>",
        f'<tool_call>"{ESCAPED}"</tool_call>',
        f'[TOOL_CALLS]"[{ESCAPED}]"',
        json.dumps(PLAIN),
    ],
)
def test_a_call_that_is_encoded_as_a_whole_is_one(content):
    found = call_finding(content)

    assert found.title == "A tool call to `get_time` is in content, encoded as a string of JSON."
    assert "--tool-call-parser" not in found.fix


@pytest.mark.parametrize(
    "content",
    [
        '"A word."',
        '{\\"city\\": \\"Oslo\\"}',
        json.dumps('{"name": "Oslo", "population": 3}'),
        f"He said {json.dumps(PLAIN)} and left.",
        json.dumps("get_time(1)"),
    ],
)
def test_other_strings_of_json_are_none(content):
    assert "PD426" not in {one.code for one in shown(content).findings}


def test_no_parser_is_advised_for_a_call_without_its_opening_tag():
    found = call_finding(f"{PLAIN}\n</tool_call>")

    assert "opening tag" in found.fix
    assert "--tool-call-parser" not in found.fix
    assert found.certainty is Certainty.INFERRED  # the model may have left it out


def test_a_parser_is_advised_where_it_reads_a_call_without_that_tag():
    fix = call_finding(XML).fix

    assert "vLLM `--enable-auto-tool-choice --tool-call-parser qwen3_coder`" in fix
    assert "SGLang's parser of this name needs the opening tag" in fix
    assert "opening tag went" in call_finding(XML, command="python -m sglang.launch_server --model m").fix


def test_a_call_in_a_second_turn_of_the_assistant_is_found():
    trace = shown(f"It is fine.{HEADER}{PLAIN}")

    assert {"PD326", "PD426"} <= {one.code for one in trace.findings}
    assert "PD406" not in {one.code for one in trace.findings}
    assert any("in a second assistant turn" in one.title for one in trace.findings)


@pytest.mark.parametrize(
    "content",
    [
        f"It is fine.{HEADER}It is still fine.",
        f"It is fine.{HEADER.replace('assistant', 'user')}{PLAIN}",
        f"It is fine.{HEADER}So one writes {PLAIN} here.",
    ],
)
def test_another_second_turn_has_no_call(content):
    assert "PD426" not in {one.code for one in shown(content).findings}


@pytest.mark.parametrize("model", ["THUDM/glm-4-9b-chat", "GLM-4-9B-0414", "glm4"])
def test_no_token_is_missing_from_a_call_of_glm_4(model):
    found = call_finding('\nget_time\n{"city": "Oslo"}', model)

    assert "as GLM-4 writes it" in found.title
    assert "skip_special_tokens" not in found.fix


@pytest.mark.parametrize(
    "model", ["zai-org/GLM-4.5-Air", "glm-4.7", "GLM-4.1V-9B-Thinking", "glm4v-9b", "chatglm3-6b", "m"]
)
def test_other_models_leave_it_where_tokens_were_removed(model):
    assert "lost its markers" in call_finding('get_time\n{"city": "Oslo"}', model).title


@pytest.mark.parametrize("piece", ['<tool_call>"', '\\"', "{", '"\\', "[TOOL_CALLS]", '{\\"a', "}", '"}'])
def test_floods_are_read_at_once(piece):
    started = time.process_time()

    encoded_call(piece * (200_000 // len(piece)))

    assert time.process_time() - started < 1
