"""Outputs that begin or end within a call: of them nobody says that they have none."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.core.evidence import read_evidence, show_evidence
from prompt_debugger.core.report.writers.terminal import trace_to_terminal

HEAD = "DEBUG 08-06 06:52:22 [hermes_tool_parser.py:"
PIECES = [HEAD + "127] delta_text: self", HEAD + "128] delta_token_ids: [721]", HEAD + "127] delta_text: _volume"]
WITHIN = HEAD + "243] Parsed tool call {}"
NONE = "no tool call in the raw output"


def said(text: str) -> str:
    trace = asyncio.run(show_evidence(read_evidence(text)))
    return f"{trace.verdict.sentence if trace.verdict else ''}\n{trace_to_terminal(trace)}"


@pytest.mark.parametrize(
    "text",
    [
        "\n".join([WITHIN, *PIECES, WITHIN]),
        "\n".join(PIECES),
        "</parameter>\n</function>\n</tool_call><|im_end|>",
        "<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value><|observation|>",
        "Let me look.<tool_call>",
    ],
)
def test_a_part_of_an_output_is_not_said_to_have_no_call(text):
    words = said(text)

    assert NONE not in words
    assert "contains no tool call" not in words


def test_a_log_that_begins_within_a_call_says_so():
    assert "begins in the middle of a marker or of a call" in said("\n".join([WITHIN, *PIECES]))
    assert "begins in the middle" not in said("\n".join([*PIECES, WITHIN]))


def test_a_whole_output_without_a_call_is_said_to_have_none():
    assert NONE in said("<think>2 < 3, so it is 4.</think>It is 4.<|im_end|>")


CRASH = "  tool_call = json.loads(tool_text.strip())\n  json.decoder.JSONDecodeError: {}"
EMPTY = "Expecting value: line 1 column 1 (char 0)"


def test_an_error_of_json_beside_a_call_of_another_notation_names_it():
    call = "  get_time\n  <arg_key>city</arg_key>\n  <arg_value>Oslo</arg_value>"
    told = "# mlx_lm.server crashes\n\n**Summary**\nIt sends:\n\n{}\n\n`python3 -m mlx_lm server …` assumes JSON."
    report = f"{told}\n\nServer logs:\n\n{CRASH}"

    words = said(report.format(call, EMPTY))

    assert "is in the notation of `glm45`" in words
    assert "older releases read only JSON" in words
    assert "is in the notation" not in said(report.format(call, "Extra data: line 1 column 5 (char 4)"))
    assert "is in the notation" not in said(report.format('<tool_call>{"name": "f", "arguments": {}}', EMPTY))


@pytest.mark.parametrize(
    ("title", "is_said"),
    [
        ("vLLM qwen3模型stream模式返回functioncall部分数据丢失", True),
        ("vLLM 流式输出工具调用参数缺失", True),
        ("新版本流式输出工具调用参数不会丢失", False),
        ("流式关闭后工具调用参数没有丢失", False),
        ("日志里工具调用记录丢失", False),
    ],
)
def test_a_title_in_chinese_that_a_stream_loses_parts(title, is_said):
    words = said("# [Bug]: " + title + "\n\n```shell\n" + "\n".join([WITHIN, *PIECES]) + "\n```\n")

    assert ("a stream lacks calls" in words) is is_said
