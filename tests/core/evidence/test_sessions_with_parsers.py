"""What parsers made in an interactive session, what Rust prints of a stream, and names that several pieces had."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.evidence.readers.base import Paste
from prompt_debugger.core.evidence.readers.parser_script import READER
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import codes, said, shown

CALL = '<tool_call>{"name": "look", "arguments": {"place": "Oslo"}}</tool_call>'


SGLANG = ">>> p = FunctionCallParser(tools, \"qwen25\")\n>>> p.parse_non_stream('{call}')\n{made}\n"
VLLM = (
    "In [4]: parser = Hermes2ProToolParser(tokenizer)\n"
    "In [5]: parser.extract_tool_calls('{call}', request)\n"
    "Out[5]: {made}\n"
)
SCRIPT = (
    'parser = ToolParserManager.get_tool_parser("hermes")(tokenizer)\n'
    "print(parser.extract_tool_calls('{call}', request))\n# {made}\n"
)
NONE_MADE = f"ExtractedToolCallInformation(tools_called=False, tool_calls=[], content='{CALL}')"
MADE = (
    "ExtractedToolCallInformation(tools_called=True, tool_calls=[ToolCall(id='c1', type='function', "
    "function=FunctionCall(name='look', arguments='{}'))], content=None)"
)


def session(form: str, made: str, call: str = CALL) -> str:
    return form.replace("{call}", call).replace("{made}", made)


@pytest.mark.parametrize(
    ("text", "code", "parser"),
    [
        (session(SGLANG, f"('{CALL}', [])"), "PD401", "qwen25"),
        (session(SGLANG, "('', [ToolCallItem(tool_index=0, name='look', parameters='{}')])"), "PD402", "qwen25"),
        (session(SGLANG, f"StreamingParseResult(normal_text='{CALL}', calls=[])"), "PD401", "qwen25"),
        (session(VLLM, NONE_MADE), "PD401", "hermes"),
        (session(VLLM, MADE), "PD402", "hermes"),
        (session(SCRIPT, MADE), "PD402", "hermes"),
        (f"It gives up:\n\n```python\n{session(SGLANG, f'''('{CALL}', [])''')}```\n", "PD401", "qwen25"),
    ],
)
def test_what_a_parser_made_of_a_text_is_compared_with_it(text, code, parser):
    trace = shown(text)

    assert code in [one.code for one in trace.findings]
    assert trace.server is not None
    assert trace.server.tool_parser == parser


@pytest.mark.parametrize(
    "text",
    [
        session(VLLM, NONE_MADE).replace("Hermes2ProToolParser(tokenizer)", "make()"),  # whose parser is unknown
        session(SGLANG, f"('{CALL}', [])") + ">>> p.parse_non_stream('x')\n('x', [])\n",  # of which call?
        session(SGLANG, "('done', 3)"),
        session(VLLM, NONE_MADE).replace("extract_tool_calls", "extract_tool_calls_streaming"),
        f">>> p.extract_tool_calls('{CALL}', asked)\n{NONE_MADE}\n",
    ],
)
def test_nothing_is_compared_with_what_is_not_known_to_be_its_result(text):
    trace = shown(text)

    assert trace.raw is not None
    assert trace.raw.text == CALL
    assert trace.chat is None


def test_sessions_are_read_in_linear_time():
    grows_linearly(lambda count: READER.finds(Paste(">>> p.parse_non_stream('a')\n" + "('a', [\n" * count)), first=400)


PIECE = (
    "StreamDelta { content: None, "
    "tool_calls: Some([ToolCallChunk { index: 0, id: ID, function: Some(Piece { NAME }) }]) }"
)


def printed(call_id: str, fields: str) -> str:
    return PIECE.replace("ID", call_id).replace("NAME", fields)


def test_the_pieces_of_a_stream_that_rust_prints_are_one_stream():
    head = printed('Some("a")', 'name: Some("look"), arguments: Some("")')
    rest = printed("None", 'name: None, arguments: Some("{\\"place\\":\\"Oslo\\"}")')
    other = printed('Some("b")', 'name: Some("run"), arguments: Some("{}")')

    assert codes(f"{head}\n{rest}\n") == []
    assert codes(f"delta: {head}\ndelta: {rest}\ndelta: {other}\n") == ["PD417"]


def test_the_head_of_a_call_alone_is_refused():
    with pytest.raises(RequestError):
        read_evidence(printed('Some("a")', 'name: Some("look"), arguments: Some("")') + "\n")


def test_a_call_whose_head_ends_a_printed_stream_may_go_on():
    head = "ChoiceDeltaToolCall(index=0, id='{}', function=ChoiceDeltaToolCallFunction(arguments='', name='look'))"
    first, second = head.replace("{}", "a"), head.replace("{}", "b").replace("index=0", "index=1")

    assert said(f"{first}\n{second}\n").count("came back without arguments") == 1


@pytest.mark.parametrize(
    "text",
    [
        "Tool 'look_uplook_up' not found. Available tools: look_up, run.",
        "Model tried to call unavailable tool 'look_uplook_up'. Available tools: look_up, run.",
    ],
)
def test_a_name_that_several_pieces_had_is_not_the_models(text):
    assert "sends the name once" in said(text)
    assert "sends the name once" not in said(text.replace("look_uplook_up", "look_under"))
