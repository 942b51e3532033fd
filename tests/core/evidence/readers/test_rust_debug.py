r"""What programs in Rust print of answers and of calls is read as what it was before."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence

CALL = r"<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1}}\n</tool_call>"
ANSWER = f"""[src/main.rs:12:5] &answer = CreateChatCompletionResponse {{
    id: "chatcmpl-7",
    choices: [
        ChatChoice {{
            index: 0,
            message: ChatCompletionResponseMessage {{
                content: Some(
                    "{CALL}",
                ),
                refusal: None,
                tool_calls: None,
                role: Assistant,
            }},
            finish_reason: Some(
                Stop,
            ),
            logprobs: None,
        }},
    ],
    created: 1748000,
    usage: None,
}}
"""
LISTED = """The agent gets this:

[
    ChatCompletionMessageToolCall {
        id: "call_1",
        r#type: Function,
        function: FunctionCall {
            name: "add",
            arguments: "{\\"a\\": 1, \\"b\\": \\"tw",
        },
    },
]
"""
RIG = """OneOrMany {
    first: ToolCall(
        ToolCall { id: "c1", call_id: None, function: ToolFunction { name: "add", arguments: String("{\\"a\\": 1") } },
    ),
    rest: [],
}"""
CHUNK = (
    'StreamResponse { id: "s", choices: [ChoiceStream { index: 0, delta: Delta { content: Some("%s"), tool_calls: None'
    " }, finish_reason: %s }] }\n"
)
STREAM = CHUNK % (r"<tool_call>\n{\"name\": \"add\",", "None") + CHUNK % (
    r" \"arguments\": {\"a\": 1}}\n</tool_call>",
    "Some(Stop)",
)


def _codes(text: str) -> list[str]:
    return [finding.code for finding in asyncio.run(show_evidence(read_evidence(text))).findings]


@pytest.mark.parametrize(
    ("text", "code"),
    [(ANSWER, "PD426"), (LISTED, "PD320"), (RIG, "PD320"), (STREAM, "PD426")],
    ids=["answer", "list", "rig", "stream"],
)
def test_what_rust_prints_is_read(text, code):
    assert code in _codes(text)


def test_a_whole_call_is_fine():
    whole = 'ToolCall { id: "c", function: ToolFunction { name: "add", arguments: Object {"a": Number(1)} } }'
    assert _codes(whole) == []


def test_a_cut_print_is_not_read_by_its_lines():
    with suppress(RequestError):
        assert "PD323" not in _codes(ANSWER[:-60])


def test_an_error_keeps_its_words():
    text = 'Error: ApiError(ApiError { message: "the model does not support tools", type: None, code: Some("400") })'
    evidence = read_evidence(text)
    assert evidence.error is not None
    assert "does not support tools" in evidence.error.message


@pytest.mark.parametrize(
    "text",
    [
        'let call = ToolCall { id: "c", function: ToolFunction { name: "add", arguments: "{" } };',
        'Point { x: 1, y: Some("<tool_call>") }',
        'FunctionCall { name: "add", arguments: "{',
    ],
    ids=["source", "other", "cut"],
)
def test_what_is_no_print_of_an_answer_is_left(text):
    try:
        words = read_evidence(text).words
    except RequestError:
        return
    assert "printed" not in words


@pytest.mark.parametrize("piece", ["Aa { ", "Some(", 'ToolCall { id: "', "[", "a: Bb { c: None, "])
def test_floods_are_read_in_time(piece):
    started = time.monotonic()
    with suppress(RequestError):
        read_evidence(f"ToolCall {{ {piece * (200_000 // len(piece))} : None }}")
    assert time.monotonic() - started < 60
