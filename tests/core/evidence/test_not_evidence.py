"""What is no evidence is taken for none: programs, manuals, commands, data and answers that only look like a fault.

Each class has a text that stays silent and, where a rule or a reader was bounded, one next to it that still speaks.
"""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Finding, JSONObject, Severity, Trace
from prompt_debugger.core.evidence import read_evidence, show_evidence
from prompt_debugger.core.evidence.reports.one_run import UNRELATED

PROGRAM = """from parsers import base

def read_call(text):
    found = PATTERN.search(text)
    if found is None:
        raise ValueError(f"Could not parse tool call from: {text}")
    return found[1]
"""
GO_TEST = """package nodes

func TestStops(t *testing.T) {
	reply, err := adapter.Delete("node-1")
	fake.reply = []byte(`{
		"success": false,
		"error": "could not stop the model's process"
	}`)
	if err != nil {
		return
	}
}
"""
COMMAND = "serve-models org/model-8b \\\n  --api-key KEY \\\n  --rate-limit 60 \\\n  --port 8000"
MANUAL = """## 3. Errors of tool calls

| Error | Cause | Solution |
|---|---|---|
| `ValueError: Tool xyz is not registered.` | a name that is not in the registry of tools | register the tool |
"""
REMARK = (
    "# Terminal 1: the vLLM server on GPU 0 (NCCL weight transfer is required)\n"
    "CUDA_VISIBLE_DEVICES=0 vllm serve org/model-8b \\\n    --max-model-len 4096"
)
PAGE = (
    "# Retrieval\n\nFor models.\n\n## {}\n\nRun it.\n\n## Limits\n\n"
    "It returns `The model gpt-x does not exist or you do not have access to it.`\n"
)
SCRIPT = """#!/bin/bash
while [ "$#" -gt 0 ]; do
  case "$1" in
    --model) MODEL="$2";;
    *) echo "Error: Unknown argument ${1} of the model server";;
  esac
  shift
done
"""
EMPTY_SCHEMA: JSONObject = {"type": "object", "properties": {}}
QUOTED = '1 error: {"type": "extra_forbidden", "msg": "Extra inputs are not permitted"}'
ASKED: JSONObject = {"contents": [{"role": "user", "parts": [{"text": "Fetch the clip."}, {"text": QUOTED}]}]}
SAID: JSONObject = {"content": {"role": "model", "parts": [{"text": "Here it is."}]}, "finishReason": "STOP"}
QUOTED_ERROR = f"{json.dumps(ASKED)}\n\n{json.dumps({'candidates': [SAID]})}"
PIECE = '{\n  "id": 2,\n  "logprob": -2.9,\n  "text": "#"\n},\n{\n  "id": 42,\n  "logprob": -3.1\n}'
BELOW = f'{PROGRAM}\n\n{{"error": {{"message": "model is required", "code": 400}}}}'
REFUSED: JSONObject = {"role": "assistant", "content": None, "refusal": "I can't."}
NOTHING_SAID = {
    "a program whose words name errors": PROGRAM,
    "a literal of a test in another language": GO_TEST,
    "a command with an option named after a limit": COMMAND,
    "a manual's table of errors": MANUAL,
    "the heading of a manual": "## Too many requests and other rate limits of a model server",
    "what a manual says of an endpoint": "- Returns `429 Too Many Requests for this model` above the limit",
    "a remark above a command": REMARK,
    "a page of a manual": PAGE.format("Usage"),
    "a script that prints an error": SCRIPT,
    "a question with choices": '{"question": "Which one?", "choices": ["first", "second"], "answer": "A"}',
    "lines of a download": '{"status": "reading model"}\n{"status": "writing layer"}\n{"status": "success"}',
    "a piece of a list of data": PIECE,
    "a field that Python printed": "input={'city': 'Oslo'}, name='get_weather', type='tool_use')]",
    "arguments that the copy cuts": '"arguments": {"city": "Os',
    "a line of a template": "{{- raise_exception('Conversation roles must alternate user/assistant') -}}",
    "a template of Go": "{{- range .Messages }}<|im_start|>{{ .Role }}\n{{ .Content }}<|im_end|>\n{{ end }}",
    "a request whose message quotes an error, and its answer": QUOTED_ERROR,
}
STILL_SAID = {
    "an exception with its words": ("ValueError: Could not parse tool call from: <tool_call>{oops", "parse tool call"),
    "an error body below a program": (BELOW, "model is required"),
    "a sentence with an option": ("error: the model needs --trust-remote-code to load its tokenizer", "remote-code"),
    "arguments end to end": ('{"city": "Oslo"}{"city": "Rome"}', "2 JSON objects end to end"),
    "labelled arguments on two lines": ('arguments: {"city": "Oslo"}\n{"city": "Rome"}', "2 JSON objects end to end"),
    "the same page as a report": (PAGE.format("Steps to reproduce"), "gpt-x"),
    "an error after its status": ("Returned status 429: Too Many Requests for model gpt-4o", "Too Many Requests"),
}  # fmt: skip


def show(text: str) -> Trace:
    return asyncio.run(show_evidence(read_evidence(text)))


def shown(text: str) -> list[str]:
    """Return the titles and details of findings above a note."""
    try:
        trace = show(text)
    except RequestError:
        return []
    return [f"{one.title} {one.detail}" for one in trace.findings if one.severity in (Severity.ERROR, Severity.WARNING)]


@pytest.mark.parametrize("text", NOTHING_SAID.values(), ids=NOTHING_SAID)
def test_nothing_is_found_in_what_is_no_evidence(text: str) -> None:
    assert shown(text) == []


@pytest.mark.parametrize(("text", "words"), STILL_SAID.values(), ids=STILL_SAID)
def test_what_is_next_to_it_is_still_found(text: str, words: str) -> None:
    assert any(words in said for said in shown(text))


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("package main\n\nimport (\n\t\"fmt\"\n)\n\nvar x = 1\nconst name = 2\n", "This is JavaScript"),
        ("# Context length\n\nThe window is 8k = 8192 tokens. Don't exceed it.\n", "Python"),
        ("// Package model contains types.\npackage model\n", "JSON value"),
        ("[[index]]\nurl = 1\n", "call"),
        ("curl http://localhost:8080/v1/audio -F file=@a.mp3 -F model=whisper", "no body"),
        ('{"object": "list", "data": [{"embedding": [0.1, ...], "index": 0}]}', "answer"),
    ],
)  # fmt: skip
def test_a_text_that_is_not_understood_is_not_called_what_it_is_not(text: str, never: str) -> None:
    with pytest.raises(RequestError) as caught:
        read_evidence(text)

    assert never not in caught.value.message


SERVER_TOOL: JSONObject = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
HEALTHY: dict[str, JSONObject | str] = {
    "a refusal in place of the promised JSON": {
        "request": {
            "messages": [{"role": "user", "content": "Hi"}],
            "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": EMPTY_SCHEMA}},
        },
        "response": {"choices": [{"message": REFUSED, "finish_reason": "stop"}]},
    },
    "a response that is still queued": {"object": "response", "id": "r", "status": "queued", "output": []},
    "a request with a tool that the vendor runs": {
        "input": "What is new?", "model": "m", "tools": [{"type": "web_search"}], "tool_choice": "auto",
    },
    "an end in Cohere's word": {
        "finish_reason": "TOOL_CALL",
        "message": {
            "role": "assistant",
            "tool_calls": [{"id": "f_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
    },
    "a model that was unloaded on request": {
        "model": "m", "created_at": "2026-01-01T00:00:00Z", "response": "", "done": True, "done_reason": "unload",
    },
    "a stream with a tool that the vendor runs": "\n\n".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}"
        for event in (
            {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": {}}},
            {"type": "content_block_start", "index": 0, "content_block": SERVER_TOOL},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
            {"type": "content_block_stop", "index": 0},
            {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Found."}},
            {"type": "content_block_stop", "index": 1},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
            {"type": "message_stop"},
        )
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HEALTHY.values(), ids=HEALTHY)
def test_a_healthy_answer_of_any_vendor_has_no_fault(case: JSONObject | str) -> None:
    assert shown(case if isinstance(case, str) else json.dumps(case)) == []


def test_a_filter_that_left_no_message_is_named() -> None:
    answer = {"object": "chat.completion", "choices": [{"finish_reason": "content_filter", "index": 0}]}

    assert [one.code for one in show(json.dumps(answer)).findings] == ["PD311"]


def test_an_answer_without_a_message_is_still_broken() -> None:
    answer = {"object": "chat.completion", "choices": [{"finish_reason": "stop", "index": 0}]}

    assert "PD310" in [one.code for one in show(json.dumps(answer)).findings]


RAW = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call><|im_end|>'


def page_of(raw: str, content: str) -> str:
    """Return a page that shows an output and an answer."""
    message: JSONObject = {"role": "assistant", "content": content}
    answer = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]})
    return f"It wrote\n\n```\n{raw}\n```\n\nand the answer is\n\n```json\n{answer}\n```\n"


def test_parts_without_a_common_word_are_not_taken_for_one_run() -> None:
    trace = show(page_of(f"Checking Oslo.{RAW}", "Das Boot schwimmt."))

    assert UNRELATED in trace.notes
    assert not {"PD401", "PD411", "PD413"} & {one.code for one in trace.findings}


def test_parts_with_a_common_word_still_are() -> None:
    assert "PD401" in [one.code for one in show(page_of(f"Checking Oslo.{RAW}", "Checking Oslo.")).findings]


CALL = "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
END = "<|tool_call_end|><|tool_calls_section_end|><|im_end|>"


@pytest.mark.parametrize(
    ("arguments", "is_fault"),
    [
        ('{\\"city\\": \\"Oslo\\"}', False),  # as within a JSON string
        ('{"\ncity": "Oslo"}', False),  # as a terminal of 100 columns breaks a full line
        ('{"city": "Os\nlo in the north", "unit": "celsius"}', True),  # in the middle of a line
        ('{"city": Oslo}', True),
        ('{"city": …}', False),  # as a person shortens it
    ],
)
def test_only_what_the_model_wrote_is_its_fault(arguments: str, *, is_fault: bool) -> None:
    codes = {one.code for one in show_or_nothing(f"{CALL}{arguments}{END}")}

    assert ("PD308" in codes) is is_fault


def show_or_nothing(text: str) -> tuple[Finding, ...]:
    """Return what is found, nothing where the text is refused with a sentence."""
    try:
        return show(text).findings
    except RequestError:
        return ()


@pytest.mark.parametrize(("role", "count"), [("…unction", 0), ("unction", 1)])
def test_an_elided_request_is_not_judged_by_what_it_lacks(role: str, count: int) -> None:
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}, {"role": role, "content": "x", "function": {}}],
    }

    assert len([one for one in show(json.dumps(body)).findings if one.code == "PD105"]) == count


def test_a_call_copied_out_of_an_answer_is_no_content() -> None:
    call = '{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{\\"a\\": 1}{\\"a\\": 1}"}}'
    codes = {one.code for one in show_or_nothing(f'[{call}]}}, "finish_reason": "tool_calls"}}]}}')}

    assert "PD426" not in codes
