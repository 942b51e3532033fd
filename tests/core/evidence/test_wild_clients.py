"""What clients and gateways print: details of an error, bodies kept as text, names cut by a sign, faulty plug-ins."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Form, read_evidence, show_evidence
from prompt_debugger.core.evidence.reports.blocks import BlockKind
from prompt_debugger.core.evidence.reports.split import split


def first(text):
    return asyncio.run(show_evidence(read_evidence(text))).findings[0]


def test_the_deepest_place_of_an_errors_details_is_the_field():
    said = {"message": "Invalid payload", "code": "invalid_payload"}
    faults = [{"message": "wrong kind", "param": "/input"}, {"message": "must be a string", "param": "/input/4/id"}]

    found = first("Error code: 400\n" + json.dumps({"error": {**said, "details": faults}}))

    assert "`input[4].id`: must be a string" in found.title
    assert "`input[4].id`" in found.fix


def test_details_without_places_are_no_faults():
    said = {"message": "Invalid payload", "code": "x", "details": [{"message": "a"}, {"param": "/b"}]}

    assert first("Error code: 400\n" + json.dumps({"error": said})).title.endswith("Invalid payload.")


BODY = {"error": {"message": "Provider returned error", "metadata": {"raw": '{"message":"Unknown role: robot"}'}}}


@pytest.mark.parametrize("lost", [0, 4, 12])
def test_a_body_that_a_log_keeps_as_text_gives_its_reason_also_where_it_is_cut(lost):
    line = json.dumps({"msg": "answer", "status": "400 Bad Request", "body": json.dumps(BODY)})

    assert "Unknown role: robot" in first(line[: len(line) - lost]).title


def test_a_status_in_a_log_without_a_body_stays_without_a_reason():
    line = json.dumps({"msg": "answer", "status": "400 Bad Request", "url": "http://h/v1/chat/completions"})

    assert "without its reason: Bad Request" in first(line[:-4]).title


def test_the_error_keeps_its_field_beside_the_event_that_it_quotes():
    event = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": None, "content": "Hm"}}]}
    issues = [{"code": "invalid_type", "path": ["choices", 0, "delta", "role"], "message": "Expected 'assistant'"}]
    text = f"[AI_TypeValidationError]: Type validation failed: Value: {json.dumps(event)}.\nError message: "

    assert "`choices[0].delta.role`: Expected 'assistant'" in first(text + json.dumps(issues, indent=2)).title


@pytest.mark.parametrize("name", ["get_[...]ther", "get_...", "…her", "ge(truncated)er"])
def test_a_printed_name_with_a_sign_is_not_a_name(name):
    block = f"ToolUseBlock(id='t1', input={{'city': 'Oslo'}}, name='{name}', type='tool_use')"
    text = f"Message(id='m', content=[{block}], role='assistant', stop_reason='tool_use', type='message')"

    with pytest.raises(RequestError, match="No part of the answer is complete"):
        read_evidence(text)


def test_a_key_joined_with_the_rest_of_a_quoted_text_is_a_gap():
    text = (
        '{"id": "x", "choices": [{"index": 0, "message": {"role": "assistant", "content": null, "tool_c...\\"}"}}]}, '
        '"finish_reason": "tool_calls"}]}'
    )

    with pytest.raises(RequestError):
        read_evidence(text)


@pytest.mark.parametrize("said", ["invalid request: all elements in tools must have a name.", "invalid api token"])
def test_an_id_and_a_message_are_an_error_where_the_words_are(said):
    assert said in first(json.dumps({"id": "9b", "message": said})).title


def test_an_id_and_a_message_of_anything_else_are_no_error():
    with pytest.raises(RequestError, match="not recognized"):
        read_evidence(json.dumps({"id": "9b", "message": "see you at noon"}))


def test_a_level_in_brackets_is_not_part_of_the_words():
    text = "[x-1] 10:00:00 [Error] (Proxy) Backend returned error: 400\nPOST /v1/chat/completions"

    assert "Backend returned error: 400" in first(text).title
    assert "]" not in first(text).title


def test_a_model_that_was_not_fetched_is_fetched():
    assert "ollama pull" in first('{"error":"model \\"q:1b\\" not found, try pulling it first"}').fix
    assert "ollama pull" not in first('{"error":"model \\"q:1b\\" not found"}').fix


def test_a_field_that_a_client_misses_in_a_stream_is_no_argument_of_a_call():
    log = "ERROR [agent::x] Turn failed: missing field `kind` at line 1 column 9\n"

    assert first(log + log.replace("Turn failed", "Error in model response stream")).title.startswith(
        "The client could"
    )
    assert first("agent: tool input: missing field `path` at line 1 column 9").title.startswith("A call lacks")


@pytest.mark.parametrize("sign", ["<snip>", "...", "…"])
def test_arguments_that_end_with_a_sign_were_not_cut_by_the_server(sign):
    call = {"name": "get_weather", "arguments": '{"c' + sign}
    text = json.dumps({"choices": [{"message": {"role": "assistant", "content": None, "function_call": call}}]})

    with suppress(RequestError):  # which says that it was shortened
        trace = asyncio.run(show_evidence(read_evidence(text)))
        assert not trace.findings


def test_arguments_that_hold_dots_before_their_cut_end_are_cut():
    call = {"name": "say", "arguments": '{"text": "wait ... wha'}
    choice = {"finish_reason": "length", "message": {"role": "assistant", "content": None, "function_call": call}}

    trace = asyncio.run(show_evidence(read_evidence(json.dumps({"choices": [choice]}))))

    assert {"PD320"} <= {one.code for one in trace.findings}


def test_a_key_that_ends_with_a_sign_in_the_raw_output_alters_no_argument():
    raw = '<tool_call>\n{"name": "get_weather", "arguments": {"ci…}}\n</tool_call><|im_end|>'
    call = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    text = json.dumps({"raw": raw, "message": {"role": "assistant", "content": None, "tool_calls": [call]}})

    trace = asyncio.run(show_evidence(read_evidence(text)))

    assert "PD402" not in {one.code for one in trace.findings}


def test_the_place_of_a_missing_field_is_in_the_title():
    fault = {"type": "missing", "loc": ["body", "messages", 0, "role"], "msg": "Field required", "input": {}}

    assert "`messages[0].role`: Field required" in first(json.dumps({"detail": [fault]})).title


def test_a_request_that_ray_serve_dropped_is_found_in_a_log():
    said = "Request dropped due to backpressure (num_queued_requests=4, max_queued_requests=4)."

    assert "max_queued_requests" in first(f"2026-02-03 10:00:00,123 WARNING serve -- {said}").fix
    with pytest.raises(RequestError):
        read_evidence("2026-02-03 10:00:00,123 WARNING serve -- Deployment scaled to 2 replicas.")


ASKED = {"messages": [{"role": "user", "content": "add"}], "tools": [{"type": "function", "function": {"name": "add"}}]}
CALL = {"id": "c", "type": "function", "function": {"name": "add", "arguments": "{}"}}
ANSWER = {"id": "x", "choices": [{"message": {"role": "assistant", "content": "", "tool_calls": [CALL]}}]}


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ({"method": "POST", "body": ASKED}, {"status": 200, "body": ANSWER}),
        ({"method": "POST", "body": json.dumps(ASKED)}, {"body": json.dumps(ANSWER)}),
        ({"url": "http://h", "body": ASKED}, {"body": {"__type__": "openai.ChatCompletion", "__data__": ANSWER}}),
    ],
)
def test_a_recorded_http_exchange_is_a_request_with_its_response(asked, answered):
    evidence = read_evidence(json.dumps({"request": asked, "response": answered, "id": 3}))

    assert evidence.form is Form.EXCHANGE
    assert evidence.request.body["tools"] == ASKED["tools"]
    assert evidence.chat.message["tool_calls"] == [CALL]


def test_recorded_events_are_a_stream():
    delta = {"object": "chat.completion.chunk", "choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}
    body = [{"__type__": "openai.ChatCompletionChunk", "__data__": delta}]

    evidence = read_evidence(json.dumps({"request": {"body": ASKED}, "response": {"body": body}}))

    assert evidence.form is Form.EXCHANGE
    assert evidence.chat.message["content"] == "hi"


def test_a_recorded_request_alone_is_a_request():
    assert read_evidence(json.dumps({"request": {"method": "POST", "body": ASKED}})).form is Form.REQUEST


def test_a_recorded_request_for_something_else_is_none():
    with pytest.raises(RequestError):
        read_evidence(
            json.dumps({"request": {"method": "POST", "body": {"name": "a"}}, "response": {"body": {"b": 1}}})
        )


def test_chunks_that_a_person_shortened_are_one_stream():
    lines = [
        {"choices": [{"delta": {"reasoning": "Twelve"}}]},
        {"choices": [{"delta": {"reasoning": " visitors."}}]},
        {"choices": [{"finish_reason": "stop"}]},
        {"usage": {"completion_tokens": 4}},
    ]
    text = "// no content at all\n" + "\n".join(map(json.dumps, lines))

    evidence = read_evidence(text)

    assert evidence.form is Form.STREAM
    assert evidence.chat.message["reasoning"] == "Twelve visitors."
    assert first(text).code == "PD459"


def test_a_chunk_beside_another_object_is_no_stream():
    lines = [{"choices": [{"delta": {"content": "a"}}]}, {"usage": 3}]

    with suppress(RequestError):
        assert read_evidence("\n".join(map(json.dumps, lines))).form is not Form.STREAM


@pytest.mark.parametrize("line", ["OK: ```json {} ```", "[robot] ```{}``` done", "x ``` {} ```"])
def test_a_call_in_fences_without_their_line_ends_is_read(line):
    call = '{"name": "add", "arguments": {"a": 1}}'

    assert read_evidence(f"> add one\n{line.replace('{}', call)}").raw == call


@pytest.mark.parametrize("line", ["OK: ```json {a} ```", 'OK: ```json {"name": "add", "arguments": {}}', "``` x ```"])
def test_fences_on_one_line_around_anything_else_stay_prose(line):
    assert [block.kind for block in split(f"go on\n{line}")] == [BlockKind.PROSE]


def chunk(content, **more):
    return json.dumps({"model": "m", "message": {"role": "assistant", "content": content}, **more}, indent=1)


def test_chunks_with_a_comment_above_each_are_one_stream():
    text = (
        f"What I get:\n\n// Chunk 1: some text\n{chunk('Hel', done=False)}\n\n// Chunk 2: empty completion\n"
        f"{chunk('lo', done=False)}\n// the last one\n{chunk('', done=True, done_reason='stop')}\n\nWhy is that so?\n"
    )

    evidence = read_evidence(text)

    assert evidence.error is None
    assert evidence.chat.message["content"] == "Hello"
    assert evidence.finish_reason == "stop"


@pytest.mark.parametrize("between", ["With the new release it is:", "## Expected"])
def test_chunks_with_words_between_them_are_not_joined(between):
    request = json.dumps(ASKED)
    text = f"{request}\nI get:\n{chunk('one', done=False)}\n{between}\n{chunk('two', done=True)}\n"

    assert "onetwo" not in str(read_evidence(text).chat.message["content"])


def test_a_comment_that_speaks_of_an_error_is_one():
    assert read_evidence("// Error code: 400 - {'error': {'message': 'Empty completion'}}").error is not None


def printed(deltas):
    return "\n".join(json.dumps(one, indent=2) for one in deltas)


PIECES = ['{"arguments": {', '"message": "hi"}', ', "name": "answer"}']


@pytest.mark.parametrize(
    "above", ["", "curl -s http://localhost:8080/v1/chat/completions -d '{}' | jq .choices[].delta\n"]
)
def test_deltas_that_jq_laid_out_are_one_stream(above):
    deltas = [{"role": "assistant", "content": None}, *({"content": piece} for piece in PIECES)]

    evidence = read_evidence(above + printed(deltas))

    assert evidence.form is Form.STREAM
    assert evidence.chat.message["content"] == "".join(PIECES)


def test_messages_of_a_conversation_are_no_deltas():
    turns = [
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "b"},
        {"role": "assistant", "content": "c"},
    ]

    assert read_evidence(printed(turns)).stream is None


def test_two_messages_are_no_deltas():
    assert read_evidence(printed([{"role": "assistant", "content": "a"}, {"content": "b"}])).stream is None


def test_a_call_with_python_quotes_is_no_printed_entry_of_the_history():
    found = first("<tool_call>\n{'name': 'f', 'arguments': {'type': 'function'}}\n</tool_call>")

    assert "the history" not in found.detail + found.fix


def test_a_call_that_a_client_prints_as_python_is_no_broken_call_of_a_model():
    run = asyncio.run(
        show_evidence(read_evidence("> back\n[Calling function: move(x=-0.1, y=0.0)]\n[Function result: ok]"))
    )

    assert [finding for finding in run.findings if finding.code == "PD463"] == []


def test_a_call_in_plain_words_without_json_stays_malformed():
    assert "malformed" in first("[Calling tool: move(x)]").title


def test_a_line_of_an_editors_http_client_is_not_part_of_the_body():
    event = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "hi"}}]}
    head = "HTTP/1.1 200 OK\nContent-Type: text/event-stream\n\nResponse code: 200 (OK); Time: 9ms (9 ms)\n"

    evidence = read_evidence(f"{head}data: {json.dumps(event)}\n")

    assert evidence.raw is None
    assert evidence.chat.message["content"] == "hi"


@pytest.mark.parametrize("kind", ["tool_call", "invalid_tool_call"])
def test_calls_of_langchain_alone_are_calls(kind):
    call = {"name": "search", "args": '{"query": "bar"', "id": "id1", "error": None, "type": kind}

    for text in (repr([call]), json.dumps([call]), json.dumps(call)):
        function = read_evidence(text).chat.message["tool_calls"][0]["function"]
        assert function == {"name": "search", "arguments": '{"query": "bar"'}


def test_another_list_with_arguments_is_no_list_of_calls():
    with pytest.raises(RequestError):
        read_evidence(repr([{"name": "search", "args": "x", "type": "argument"}]))


def test_a_finish_reason_that_was_taken_out_is_not_missed():
    call = "ChatCompletionMessageFunctionToolCall(id='c', function=Function(arguments='{}', name='f'), type='function')"
    message = f"ChatCompletionMessage(content=None, role='assistant', tool_calls=[{call}])"
    text = f"ChatCompletion(id='x', choices=[Choice(finish_reason=REASON, message={message})], usage=None)"

    taken, none = (
        asyncio.run(show_evidence(read_evidence(text.replace("REASON", one)))) for one in ("(truncated)", "None")
    )

    assert "PD412" not in [finding.code for finding in taken.findings]
    assert "PD412" in [finding.code for finding in none.findings]


def test_a_break_within_a_key_is_taken_out_whatever_the_width_of_the_lines():
    answer = json.dumps({"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}]})
    at = answer.index('"tool_calls"') + 6

    evidence = read_evidence(f"\x1b[1;32m{answer[:20]}{answer[20:at]}\n{answer[at:]}\x1b[0m")

    assert evidence.chat.message["tool_calls"] == [CALL]
