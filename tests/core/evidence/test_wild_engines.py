"""What people paste about servers of their own: printed answers between prose, two answers, a start that failed."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.evidence import read_evidence
from tests.core.evidence.pasted import shown

CALL = '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'
SAID = json.dumps(CALL)[1:-1]


def codes(text: str) -> set[str]:
    return {finding.code for finding in shown(text).findings}


PRINTED = f"""{{
  model: 'm',
  message: {{
    role: 'assistant',
    content: '{SAID.replace(chr(92) + '"', '"')}'
  }},
  done: true,
  done_reason: 'stop'
}}"""
DICT = repr({"model": "m", "message": {"role": "assistant", "content": CALL}, "done": True, "done_reason": "stop"})


@pytest.mark.parametrize("printed", [PRINTED, DICT, f"response: {PRINTED}", f"response: {DICT}"])
def test_an_answer_that_was_printed_between_lines_of_prose_is_read(printed):
    trace = shown(f"This is what I get from it.\n\n{printed}\n\nOllama 0.6.3")

    assert trace.chat.message["content"] == CALL
    assert "PD426" in {finding.code for finding in trace.findings}


@pytest.mark.parametrize(
    "text",
    [
        "A setting of mine:\n\nserver: {\n  port: 80,\n  host: 'here'\n}\n\nAnd so on.",
        "A dict of mine:\n\n{'port': 80, 'host': 'here'}\n\nAnd so on.",
    ],
)
def test_other_objects_in_prose_are_no_answers(text):
    with pytest.raises(RequestError):
        read_evidence(text)


HEAD = (
    "ChoiceDeltaToolCall(index=0, id='call_a1', function=ChoiceDeltaToolCallFunction(arguments=None, name='add'), "
    "type='function')"
)
REST = "ChoiceDelta(content='', function_call=None, refusal=None, role=None, tool_calls=None)"
WHOLE = (
    "[ChatCompletionMessageToolCall(id='call_b2', function=Function(arguments='{\"x\": 2}', name='add'), "
    "type='function')]"
)


def test_a_printed_stream_that_goes_on_after_a_call_shows_that_it_has_no_arguments():
    trace = shown(f"With `stream=True`:\n```\n{HEAD}\n{REST}\n```\nand without:\n```\n{WHOLE}\n```\n")

    assert trace.verdict.sentence.startswith("The streamed call to `add` lacks its arguments")


def test_the_heads_of_calls_alone_show_nothing_of_their_arguments():
    other = HEAD.replace("index=0", "index=1").replace("call_a1", "call_a2")

    assert "PD416" not in codes(f"{HEAD}\n{other}\n")


def test_the_label_of_the_next_block_is_no_part_of_an_output():
    stream = 'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}\n\ndata: [DONE]'
    trace = shown(f"Raw model output:\n<tool_call>get_time</tool_call>\n\nthe stream:\n{stream}\n")

    assert trace.raw.text == "<tool_call>get_time</tool_call>"
    assert "PD413" not in {finding.code for finding in trace.findings}


def test_of_two_servers_the_one_whose_answer_was_read_is_advised():
    own, other = (
        f"ChatCompletion(id='c', choices=[Choice(finish_reason='stop', index=0, message=ChatCompletionMessage("
        f"content={CALL!r}, role='assistant', tool_calls=[]), {sign}=None)], created=1, model='m')"
        for sign in ("disaggregated_params", "matched_stop")
    )
    trace = shown(f"### First\n{own}\n\n### Second\n{other}\n")

    assert trace.server.kind == "tensorrt-llm"
    assert "`trtllm-serve`" in " ".join(finding.fix for finding in trace.findings)


START = "lmdeploy serve api_server some/model \\\n    --tool-call-parser NAME \\\n    --chat-template hf"
REFUSED = "ValueError: The tool parser NAME is not in the parser list: dict_keys(['internlm', 'qwen3'])"


def test_a_start_command_with_its_error_tells_that_the_server_did_not_start():
    trace = shown(f'{START}\nTraceback (most recent call last):\n  File "a.py", line 1, in run\n{REFUSED}\n')

    assert trace.verdict.sentence.startswith("The server did not start: The tool parser NAME")
    assert trace.server.chat_template == ""
    assert not any("chat template" in note for note in trace.notes)  # `hf` is the model's own


CUT = '{"x": 2, "y": '


def stream_of(arguments: str) -> str:
    deltas = [
        {"role": "assistant", "content": ""},
        {"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "add"}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]},
    ]
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n"


TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}


def exchange(program: str, arguments: str, **fields: object) -> str:
    messages = [{"role": "user", "content": "2 and 7?"}]
    body = {"model": "m", "messages": messages, "tools": [TOOL], "stream": True, **fields}
    return f"{program}\n\n```json\n{json.dumps(body)}\n```\n\n```\n{stream_of(arguments)}```\n"


VLLM = "`vllm serve some/model --tool-call-parser hermes --enable-auto-tool-choice`"


def test_arguments_that_break_off_in_a_short_stream_without_a_limit_were_lost_by_the_parser():
    trace = shown(exchange(VLLM, CUT))

    assert trace.verdict.stage is Stage.PARSE
    assert "break off, though no limit was reached" in trace.verdict.sentence


@pytest.mark.parametrize(
    "text",
    [
        exchange(VLLM, CUT, max_tokens=20),
        exchange(VLLM, CUT, stop=["y"]),
        exchange(VLLM, '{"text": "' + "word " * 200),
        exchange("`mlx_lm.server --model some/model`", CUT),  # which has a limit of its own
    ],
)
def test_arguments_that_a_limit_may_have_cut_are_not_said_to_be_lost(text):
    assert "though no limit was reached" not in shown(text).verdict.sentence


def answer(content: str | None, **call: object) -> str:
    message: dict[str, object] = {"role": "assistant", "content": content}
    if call:
        message["tool_calls"] = [{"id": "c", "type": "function", "function": call}]
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}, indent=1)


def test_the_words_of_a_client_do_not_hide_the_answer_that_it_could_not_use():
    shown_answer = answer(None, name="get_time", arguments={"zone": "UTC"})
    text = (
        f"```json\n{shown_answer}\n```\nMy client crashes:\nTypeError: it must be str, bytes or bytearray, not dict\n"
    )

    assert codes(text) == {"PD506"}


def test_an_error_that_is_known_still_comes_before_an_answer():
    text = f"```json\n{answer(None, name='get_time', arguments='{}')}\n```\n\nTool parser 'qwen9' not found.\n"

    assert "PD100" in codes(text)


def test_a_server_with_names_of_its_own_that_runs_the_familys_parser_is_not_told_to_start_it():
    call = "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>"
    text = (
        f"`python -m sglang.launch_server --model-path m --tool-call-parser kimi_k2`\n\n```json\n{answer(call)}\n```\n"
    )

    fix = next(finding.fix for finding in shown(text).findings if finding.code == "PD426")
    assert "Start the server" not in fix
    assert "--parser sglang:kimi_k2" in fix
