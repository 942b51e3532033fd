"""Forms that people paste besides: older calls, turns of `codex exec`, traces of engines, lists of faults."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Basis, Certainty, Stage
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.diagnose.refusals.understand import understand
from prompt_debugger.core.evidence import gather_evidence, read_evidence, show_evidence, trace_of

LEGACY = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
RAW = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call><|im_end|>'
LOST = {"role": "assistant", "content": ""}


def sse(*deltas, reason):
    events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n"


def lines(*events):
    return "\n".join(json.dumps(event) for event in events)


# --- one run, or not ---------------------------------------------------------------


async def test_output_and_answer_of_one_text_are_taken_for_one_run_and_that_is_reported():
    text = f"The model writes:\n\n```\n{RAW}\n```\n\nand I get\n\n```json\n{json.dumps(LOST)}\n```\n"

    trace = await show_evidence(read_evidence(text))

    assert trace.evidence is Basis.ASSUMED_RUN
    dropped = next(finding for finding in trace.findings if finding.code == "PD401")
    assert dropped.certainty is Certainty.INFERRED


async def test_where_nothing_is_wrong_the_verdict_says_what_is_assumed():
    call = {"id": "a", "type": "function", "function": LEGACY}
    answer = {"role": "assistant", "content": None, "tool_calls": [call]}
    text = f"```\n{RAW}\n```\n\n```json\n{json.dumps(answer)}\n```\n"

    trace = await show_evidence(read_evidence(text))

    assert "assumed to be one run because they are in one text" in trace.verdict.sentence


async def test_what_was_handed_over_as_one_run_is_one():
    pair = read_evidence(json.dumps({"raw": RAW, "message": LOST}))
    files = gather_evidence([RAW, json.dumps(LOST)])

    for evidence in (pair, files):
        trace = await show_evidence(evidence)
        assert trace.evidence is None
        assert {finding.certainty for finding in trace.findings if finding.code == "PD401"} == {Certainty.OBSERVED}


# --- the older form of a call ------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"choices": [{"message": {"role": "assistant", "function_call": LEGACY}, "finish_reason": "stop"}]}),
        json.dumps({"role": "assistant", "content": None, "function_call": LEGACY}),
        sse(
            {"role": "assistant", "function_call": {"name": "get_weather", "arguments": ""}},
            {"function_call": {"arguments": '{"city":'}},
            {"function_call": {"arguments": ' "Paris"}'}},
            reason="function_call",
        ),
    ],
)
def test_an_older_function_call_is_a_call(text):
    evidence = read_evidence(text)

    assert [call["function"] for call in evidence.chat.message["tool_calls"]] == [LEGACY]
    assert any("older form of `tool_calls`" in note for note in evidence.notes)
    assert evidence.finish_reason in ("stop", "tool_calls", None)
    assert "PD507" not in {finding.code for finding in diagnose_trace(trace_of(evidence))}


def test_a_function_call_next_to_calls_changes_nothing():
    call = {"id": "a", "type": "function", "function": LEGACY}

    evidence = read_evidence(json.dumps({"role": "assistant", "function_call": LEGACY, "tool_calls": [call]}))

    assert evidence.chat.message["tool_calls"] == [call]
    assert not any("older" in note for note in evidence.notes)


# --- stripped harmony --------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'analysisI need the weather.assistantcommentary to=functions.get_weather json{"city": "Paris"}',
        'commentary to=functions.get_weather json{"city": "Paris"}',
    ],
)
def test_a_call_of_harmony_without_its_tokens_is_read_as_content_and_found(text):
    evidence = read_evidence(text)

    assert evidence.chat.message["content"] == text
    assert "PD426" in {finding.code for finding in diagnose_trace(trace_of(evidence))}


def test_a_sentence_about_commentary_is_nothing():
    with pytest.raises(RequestError):
        read_evidence("commentary to the law of 1999, with remarks")


# --- sessions and logs -------------------------------------------------------------


def codex(*items):
    return [{"type": "item.completed", "item": {"id": f"item_{at}", **item}} for at, item in enumerate(items)]


def test_turns_of_codex_exec_are_read():
    text = lines(
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        *codex({"type": "agent_message", "text": "First."}),
        {"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": 2}},
        {"type": "turn.started"},
        *codex(
            {"type": "reasoning", "text": "Look."},
            {"type": "mcp_tool_call", "server": "s", "tool": "find", "arguments": {"q": "x"}},
            {"type": "command_execution", "command": "ls", "exit_code": 0, "aggregated_output": "a"},
            {"type": "agent_message", "text": "Second."},
        ),
    )

    last, first = read_evidence(text), read_evidence(text, row=2)

    assert last.words == "a session of codex exec, exchange 1 of 2 from the end, 1 tool call"
    assert last.chat.message["content"] == "Second."
    assert last.chat.message["tool_calls"][0]["function"] == {"name": "find", "arguments": '{"q": "x"}'}
    assert first.chat.message["content"] == "First."


def test_a_turn_of_codex_exec_that_failed_is_its_error():
    failed = {"type": "turn.failed", "error": {"message": "stream disconnected before completion: 400 Bad Request"}}

    evidence = read_evidence(lines({"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}, failed))

    assert "stream disconnected" in evidence.error.message


TRACE = 'time=2026-11-20T10:00:01.123+01:00 level=TRACE source=x.go:1 msg=decoded string={} from="[1]"\n'


def test_the_pieces_that_ollama_traces_are_the_output():
    asked = (
        'time=2026-11-20T10:00:00.000+01:00 level=DEBUG source=routes.go:1 msg="chat request" images=0 prompt="Hi"\n'
    )
    pieces = ("<tool_call>", '"\\n{\\"name\\": \\"f\\", \\"arguments\\": {}}\\n"', "</tool_call>")

    evidence = read_evidence(asked + "".join(TRACE.format(piece) for piece in pieces))

    assert evidence.prompt == "Hi"
    assert evidence.raw == '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'


def test_lines_of_llama_cpp_without_output_say_how_it_ended():
    text = (
        "srv  params_from_: Grammar lazy: true\n"
        "srv  params_from_: Chat format: Content-only\n"
        "slot process_toke: id  0 | task 0 | stopped by limit, n_decoded = 64, n_predict = 64\n"
        "slot      release: id  0 | task 0 | stop processing: n_past = 84, truncated = 1\n"
    )

    evidence = read_evidence(text)

    assert any("it reads no calls: `Content-only`" in note for note in evidence.notes)
    assert {"PD231", "PD325"} <= {finding.code for finding in diagnose_trace(trace_of(evidence))}


# --- lists of faults ---------------------------------------------------------------

PYDANTIC = """2 validation errors for ChatCompletionRequest
messages.0.ChatCompletionDeveloperMessageParam.role
  Input should be 'developer' [type=literal_error, input_value='user', input_type=str]
    For further information visit https://errors.pydantic.dev/2.11/v/literal_error
messages.0.ChatCompletionUserMessageParam.content.str
  Input should be a valid string [type=string_type, input_value=[{'type': 'text'}], input_type=list]
    For further information visit https://errors.pydantic.dev/2.11/v/string_type
"""
PRINTED = "[{'type': 'missing', 'loc': ('body', 'messages', 1, 'content'), 'msg': 'Field required', 'input': {}}]"


@pytest.mark.parametrize(
    ("text", "field", "words"),
    [
        (PYDANTIC, "messages[0].content", "Input should be a valid string"),
        (f"pydantic_core._pydantic_core.ValidationError: {PYDANTIC}", "messages[0].content", "a valid string"),
        (PRINTED, "messages[1].content", "Field required"),
        (json.dumps({"error": {"message": PRINTED, "type": "x"}}), "messages[1].content", "Field required"),
        (json.dumps({"object": "error", "message": PYDANTIC, "code": 400}), "messages[0].content", "a valid string"),
    ],
)
def test_a_list_of_faults_names_the_field_in_one_sentence(text, field, words):
    refusal = read_evidence(text).error

    assert refusal.field == field
    assert refusal.message.startswith(f"`{field}`: ")
    assert words in refusal.message
    assert "[{" not in refusal.message


def test_a_server_error_that_names_a_field_is_about_the_request():
    body = json.dumps({"error": {"message": PRINTED, "type": "internal_server_error", "param": None}})

    refusal = read_evidence(f"HTTP/1.1 500 Internal Server Error\r\ncontent-type: application/json\r\n\r\n{body}").error

    assert refusal.status == 500
    assert understand(refusal).stage is Stage.REQUEST


@pytest.mark.parametrize(
    "text",
    [
        "2 validation errors for MySettings\nport\n  Field required [type=missing, input_value={}, input_type=dict]",
        "[{'loc': 1}]",
        "2 validation errors for ChatCompletionRequest",
    ],
)
def test_other_lists_are_not_a_refusal(text):
    try:
        error = read_evidence(text).error
    except RequestError:
        return
    assert error is None


# --- prompts -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<|im_start|>user\nHi<|im_end|>\n", "does not open the model's turn"),
        ("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n", "ends where the model's turn begins"),
    ],
)
def test_a_prompt_is_reported_to_open_the_turn_only_where_it_does(text, said):
    assert any(said in note for note in read_evidence(text).notes)
