"""Sessions of agents, exports and spans: the last exchange as a message, and nothing said of what they do not hold."""

import asyncio
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Form, Part, read_evidence, show_evidence

CALL = {"id": "t1", "type": "function", "function": {"name": "f", "arguments": '{"city": "Oslo"}'}}


def lines(*values):
    return "\n".join(json.dumps(value) for value in values)


def claude(role, content, message_id="m1"):
    return {
        "type": role,
        "uuid": "u",
        "sessionId": "s",
        "message": {"id": message_id, "role": role, "content": content},
    }


CLAUDE = lines(
    {"type": "summary", "summary": "x"},
    claude("user", "Weather?"),
    claude("assistant", [{"type": "text", "text": "First."}], "m0"),
    claude("user", "And now?"),
    claude("assistant", [{"type": "thinking", "thinking": "Hm", "signature": "s"}]),
    claude("assistant", [{"type": "tool_use", "id": "t1", "name": "f", "input": {"city": "Oslo"}}]),
)
CODEX = lines(
    {"type": "session_meta", "payload": {"id": "x"}},
    {
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
    },
    {"type": "event_msg", "payload": {"type": "agent_reasoning", "text": "Hm"}},
    {"type": "response_item", "payload": {"type": "reasoning", "summary": []}},
    {
        "type": "response_item",
        "payload": {"type": "function_call", "name": "f", "arguments": '{"city": "Oslo"}', "call_id": "t1"},
    },
    {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "t1", "output": "ok"}},
)
OPENCODE = json.dumps(
    {
        "info": {"id": "s"},
        "messages": [
            {"info": {"role": "user"}, "parts": [{"type": "text", "text": "Hi"}]},
            {
                "info": {"role": "assistant"},
                "parts": [{"type": "tool", "callID": "t1", "tool": "f", "state": {"input": {"city": "Oslo"}}}],
            },
        ],
    }
)


@pytest.mark.parametrize(("text", "name"), [(CLAUDE, "Claude Code"), (CODEX, "Codex"), (OPENCODE, "OpenCode")])
def test_the_last_exchange_of_a_session_is_a_message(text, name):
    evidence = read_evidence(text)

    assert evidence.form is Form.LINES
    assert f"a session of {name}" in evidence.words
    assert evidence.chat.message["tool_calls"] == [CALL]
    assert evidence.request is None  # the tools that were offered are not known
    assert any("tools" in note for note in evidence.notes)


def test_blocks_of_one_message_are_one_answer_and_another_exchange_can_be_chosen():
    assert read_evidence(CLAUDE).chat.message["reasoning"] == "Hm"
    assert read_evidence(CLAUDE).rows == 2
    assert read_evidence(CLAUDE, row=2).chat.message["content"] == "First."
    with pytest.raises(RequestError, match="no entry 3"):
        read_evidence(CLAUDE, row=3)


def test_a_session_whose_last_line_is_cut_is_read():
    assert read_evidence(f'{CLAUDE}\n{{"type": "user", "uuid": "u", "mess').chat.message["tool_calls"] == [CALL]


def pi(role, content, **rest):
    return {"type": "message", "timestamp": "t", "message": {"role": role, "content": content, **rest}}


PI_CALL = {"type": "toolCall", "id": "t1", "name": "f", "arguments": {"city": "Oslo"}}
PI_RESULT = pi("toolResult", [{"type": "text", "text": "(no output)"}], toolCallId="t1", toolName="f", isError=False)


def test_a_session_of_pi_is_read_and_what_its_tools_returned_is_no_error():
    hm = {"type": "thinking", "thinking": "Hm"}
    text = lines(pi("user", [{"type": "text", "text": "Hi"}]), pi("assistant", [hm, PI_CALL], stopReason="toolUse"))

    evidence = read_evidence(f"{text}\n{lines(PI_RESULT)}")

    assert "a session of pi" in evidence.words
    assert evidence.chat.message["tool_calls"] == [CALL]
    assert evidence.chat.finish_reason == "tool_calls"
    assert evidence.chat.message["reasoning_content"] == "Hm"
    assert evidence.error is None


def test_what_pi_says_of_a_turn_that_failed_is_an_error_and_a_turn_that_the_user_stopped_is_nothing():
    failed = pi("assistant", [], stopReason="error", errorMessage="429 rate limit")
    stopped = pi("assistant", [], stopReason="aborted", errorMessage="Request was aborted.")

    assert read_evidence(lines(PI_RESULT, failed)).error.message == "429 rate limit"
    assert read_evidence(lines(pi("assistant", [PI_CALL], stopReason="toolUse"), PI_RESULT, stopped)).rows == 1


@pytest.mark.parametrize(("reason", "codes"), [({"stop_reason": None}, set()), ({"stop_reason": "end_turn"}, set())])
def test_the_end_of_an_answer_that_claude_code_logged_before_it_came_is_not_missed(reason, codes):
    turn = claude("assistant", [{"type": "text", "text": "Hi."}])
    turn["message"].update({"type": "message", **reason})

    trace = asyncio.run(show_evidence(read_evidence(lines(claude("user", "Hi"), turn))))

    assert {one.code for one in trace.findings} == codes


def test_training_data_hold_raw_outputs():
    raw = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    turns = [{"from": "system", "value": "Be brief."}, {"from": "human", "value": "Hi"}, {"from": "gpt", "value": raw}]

    evidence = read_evidence(json.dumps({"conversations": turns, "tools": json.dumps(tools)}))

    assert evidence.holds == (Part.REQUEST, Part.RAW)
    assert evidence.raw == raw
    assert evidence.request.body["tools"] == tools
    assert [message["role"] for message in evidence.request.messages] == ["system", "user"]


SYSTEM = [{"type": "text", "content": "Be brief."}]
INPUT = [
    {"role": "user", "parts": [{"type": "text", "content": "Weather?"}]},
    {"role": "assistant", "parts": [{"type": "tool_call", "id": "t0", "name": "f", "arguments": {"city": "Rome"}}]},
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "t0", "response": "sunny"}]},
]
OUTPUT = [
    {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "t1", "name": "f", "arguments": '{"city": "Oslo"}'}],
        "finish_reason": "tool_call",
    }
]
TOOLS = [{"type": "function", "name": "f", "parameters": {"type": "object"}}]
ATTRIBUTES = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m",
    "gen_ai.request.temperature": 0.5,
    "gen_ai.system_instructions": json.dumps(SYSTEM),
    "gen_ai.input.messages": json.dumps(INPUT),
    "gen_ai.output.messages": json.dumps(OUTPUT),
    "gen_ai.tool.definitions": json.dumps(TOOLS),
    "gen_ai.usage.output_tokens": 9,
}
EVENTS = {
    "name": "chat m",
    "attributes": {"gen_ai.request.model": "m"},
    "events": [
        {"name": "gen_ai.user.message", "attributes": {"content": "Weather?"}},
        {
            "name": "gen_ai.choice",
            "attributes": {"message": json.dumps({"tool_calls": [CALL]}), "finish_reason": "tool_calls"},
        },
    ],
}
ROWS = {
    "attributes": {
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "Weather?",
        "llm.request.functions.0.name": "f",
        "llm.request.functions.0.parameters": '{"type": "object"}',
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.finish_reason": "tool_calls",
        "gen_ai.completion.0.tool_calls.0.id": "t1",
        "gen_ai.completion.0.tool_calls.0.name": "f",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"city": "Oslo"}',
    }
}
INFERENCE = {
    "attributes": {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Weather?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "t1",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "f",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"city": "Oslo"}',
    }
}


def otlp(attributes):
    values = [
        {"key": key, "value": {"intValue" if isinstance(value, int) else "stringValue": value}}
        for key, value in attributes.items()
    ]
    return {
        "resourceSpans": [{"scopeSpans": [{"spans": [{"name": "GET /"}, {"name": "chat m", "attributes": values}]}]}]
    }


def test_a_span_that_does_not_record_the_end_of_an_answer_says_nothing_of_it():
    trace = asyncio.run(show_evidence(read_evidence(json.dumps(ATTRIBUTES))))

    assert "PD412" not in {one.code for one in trace.findings}


@pytest.mark.parametrize(
    "span",
    [{"attributes": ATTRIBUTES}, ATTRIBUTES, otlp(ATTRIBUTES), [{"attributes": {"x": 1}}, {"attributes": ATTRIBUTES}]],
)
def test_a_span_gives_request_and_answer(span):
    evidence = read_evidence(json.dumps(span))

    assert evidence.holds == (Part.REQUEST, Part.MESSAGE)
    assert [message["role"] for message in evidence.request.messages] == ["system", "user", "assistant", "tool"]
    assert evidence.request.body["tools"][0]["function"]["name"] == "f"
    assert evidence.chat.message["tool_calls"] == [CALL]
    assert evidence.finish_reason == "tool_calls"


@pytest.mark.parametrize("span", [EVENTS, ROWS, INFERENCE])
def test_older_conventions_are_read(span):
    assert read_evidence(json.dumps(span)).chat.message["tool_calls"] == [CALL]


def test_a_span_without_contents_is_not_evidence():
    with pytest.raises(RequestError):
        read_evidence(json.dumps({"attributes": {"gen_ai.request.model": "m"}}))
