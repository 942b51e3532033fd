"""What a case says of prompt, parser and request is believed, and not called unknown."""

import pytest

from prompt_debugger.core.pipeline.case_fields import server_of
from prompt_debugger.core.pipeline.case_parser import CaseParser

ANSWER = "It is sunny in Oslo."


def parsed(**case):
    with CaseParser() as parser:
        return parser.parse({"raw": ANSWER + "<|im_end|>", "finish_reason": "stop", **case})


def test_the_end_of_the_prompt_is_believed():
    message = {"role": "assistant", "content": None, "reasoning": ANSWER}

    unknown = parsed(message=message).findings[0]
    known = parsed(message=message, prompt_tail="<|im_start|>assistant\n").findings[0]

    assert (unknown.code, known.code) == ("PD408", "PD408")
    assert "not known" in unknown.detail
    assert "not known" not in known.detail
    assert "assistant" in known.detail
    assert known.certainty == "observed"


def test_an_end_that_leaves_reasoning_open_explains_it():
    message = {"role": "assistant", "content": None, "reasoning": ANSWER}

    found = parsed(message=message, prompt_tail="<|im_start|>assistant\n<think>\n").findings

    assert "PD408" not in [finding.code for finding in found]


def test_the_request_is_believed():
    tool = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "required": ["city"]}}}
    raw = '<tool_call>\n{"name": "weather", "arguments": {}}\n</tool_call><|im_end|>'

    call = {"id": "a", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    request = {"messages": [{"role": "user", "content": "hi"}], "tools": [tool]}

    assert "PD502" in [finding.code for finding in parsed(raw=raw, message=message, request=request).findings]
    assert "PD502" not in [finding.code for finding in parsed(raw=raw, message=message).findings]


@pytest.mark.parametrize(
    ("parsers", "given", "tool", "reasoning"),
    [
        (["vllm:hermes+qwen3"], False, "hermes", "qwen3"),
        (["vllm@0.11.0:kimi_k2", "vllm:hermes"], False, "kimi_k2", None),
        (["vllm:hermes"], True, "hermes", None),
        (["vllm:-+qwen3"], True, None, "qwen3"),
    ],
)
def test_a_named_parser_counts_as_the_servers(parsers, given, tool, reasoning):
    server = server_of({"parsers": parsers}, given=given)

    assert (server.tool_parser, server.reasoning_parser, server.base_url) == (tool, reasoning, "")


@pytest.mark.parametrize(("parsers", "given"), [(["vllm:*"], False), ([], False), (["vllm:a", "vllm:b"], True)])
def test_of_several_parsers_none_is_said_to_have_made_a_message(parsers, given):
    assert server_of({"parsers": parsers}, given=given) is None


@pytest.mark.vllm
def test_a_parser_that_could_not_run_is_not_taken_for_the_servers():
    raw = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'

    assert parsed(raw=raw, parsers=["vllm:no_such_parser"], tools=[]).findings == ()
