"""Logs and errors that were taken for another program's, or for another kind of error, and their near misses."""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core.evidence import read_evidence, show_evidence

TRITON = {"text_input": "Name a river.", "max_tokens": 8}
GIN = '[GIN] 2026/03/01 - 10:00:00 | {status} | {took:>13} | 10.0.0.7 | POST     "{path}"'


def said(text):
    evidence = read_evidence(text)
    trace = asyncio.run(show_evidence(evidence))
    return evidence, " ".join(f"{one.title} {one.detail} {one.fix}" for one in trace.findings)


def noted(text):
    return " ".join(read_evidence(text).notes)


def test_lines_of_gin_are_ollamas_only_with_its_paths():
    assert read_evidence(GIN.format(status=200, took="1.2s", path="/api/chat")).words == "a log of Ollama"
    assert read_evidence(GIN.format(status=200, took="1.2s", path="/api/notes/7")).words == "a log of a server"


@pytest.mark.parametrize(("took", "is_limit"), [("9m59s", True), ("10m0s", True), ("9m48s", False)])
def test_a_time_just_before_a_whole_minute_is_a_limit(took, is_limit):
    assert ("stopped waiting" in noted(GIN.format(status=500, took=took, path="/api/chat"))) is is_limit


def test_an_error_without_words_in_a_log_is_not_passed_over():
    _, words = said(
        "2026/03/01 10:00:00 worker: job 7\n"
        "2026/03/01 10:00:01 worker: ChatCompletionStream error: error, status code: 400, message: \n"
        "2026/03/01 10:00:01 worker: done"
    )

    assert "whose words are not shown" in words


def llamafile(**changed):
    line = {"timestamp": 1767261600, "level": "INFO", "function": "log_server_request", "line": 2386}
    rest = {"message": "request", "remote_addr": "", "status": 400, "method": "", "path": "", "params": {}}
    return json.dumps({**line, **rest, **changed}, separators=(",", ":"))


def test_a_record_of_a_log_whose_message_is_a_word_is_no_error():
    text = "\n".join([llamafile(), llamafile()])
    evidence = read_evidence(text)

    assert evidence.error is None
    assert "what arrived was not HTTP" in noted(text)


def test_a_request_with_a_path_arrived_as_http():
    text = "\n".join([llamafile(method="POST", path="/v1/chat/completions")] * 2)

    assert "not HTTP" not in noted(text)
    assert "`POST /v1/chat/completions` answered with 400 (2 times)" in noted(text)


def test_the_two_lines_of_a_request_that_fastify_logs_belong_together():
    asked = {"reqId": "req-1", "req": {"method": "POST", "url": "/v1/chat/completions"}, "msg": "incoming request"}
    ended = {"reqId": "req-1", "res": {"statusCode": 500}, "msg": "request completed"}
    text = "\n".join(f"[SERVER]::{json.dumps(one, separators=(',', ':'))}" for one in (asked, ended))

    assert "`POST /v1/chat/completions` answered with 500" in noted(text)


def test_a_container_that_is_named_from_the_second_line_on_is_taken_off():
    _, words = said(
        'desk error: Failed to send. HTTP 404 - {\ndesk-api   |   "error": {\n'
        'desk-api   |     "message": "The model `m` does not exist",\ndesk-api   |     "code": null\n'
        "desk-api   |   }\ndesk-api   | }"
    )

    assert "does not exist" in words


def test_a_body_that_rich_broke_into_lines_is_read_whole():
    _, words = said(
        "ERROR    API status error: Error code: 400 - {'error': {'message': 'Not valid!', 'details': 'The     \n"
        "         following was found.\\n - Role developer not supported.\\n',                              \n"
        "         'data': {}}}"
    )

    assert "The server does not know the role of a message" in words
    assert "`developer`" in words


def test_words_in_details_are_said_with_the_message():
    _, words = said('{"error": {"message": "Bad request.", "details": "The field top_p must be at most 1."}}')

    assert "top_p must be at most 1" in words


def test_what_a_client_finds_wrong_in_an_answer_is_no_refusal_of_the_request():
    evidence, words = said(
        "2 validation errors for Reply\ncandidates.0.content.parts\n  Field required [type=missing, input_value={}, "
        "input_type=dict]\ncandidates.0.finishReason\n  Input should be 'STOP' or 'SAFETY' [type=literal_error, "
        "input_value='MALFORMED_FUNCTION_CALL', input_type=str]"
    )

    assert evidence.error is not None
    assert "because the call that the model wrote could not be read" in words
    assert "refused the request" not in words


def test_a_status_in_brackets_does_not_begin_a_list():
    _, words = said(
        '[400]: {\n  "error": {\n    "code": 400,\n    "message": "* GenerateContentRequest.tools[0].function_de'
    )

    assert "GenerateContentRequest.tools[0]" in words


def test_an_error_of_python_in_a_body_is_the_servers_own():
    _, words = said("{\"detail\": \"'NoneType' object has no attribute 'lower'\"}")

    assert "The server's own program failed" in words


def test_an_error_of_python_alone_may_be_anybodys():
    _, words = said("openai client: TypeError: 'NoneType' object is not subscriptable, at choices[0]")

    assert "The server's own program" not in words


def test_a_name_after_input_or_type_is_no_field_of_the_request():
    _, words = said("Error code: 400 - {'error': {'message': \"Thing of type 'function_call' was turned down\"}}")

    assert "Change `function_call`" not in words


def test_the_prompt_behind_a_begin_token_is_no_output():
    answer = {"model_name": "m", "model_version": "1", "text_output": "<s> Name a river. The Po."}
    text = f"curl http://h:9/v2/models/m/generate -d '{json.dumps(TRITON)}'\n{json.dumps(answer)}"

    assert read_evidence(text).raw == " The Po."


def test_a_transcript_of_a_text_api_has_its_prompt():
    answer = {"model_name": "m", "model_version": "1", "text_output": "Name a river. The Po."}
    evidence = read_evidence(
        f"POST /v2/models/m/generate HTTP/1.1\nContent-Type: application/json\n\n{json.dumps(TRITON)}\n\n"
        f"HTTP/1.1 200 OK\nContent-Type: application/json\n\n{json.dumps(answer)}"
    )

    assert evidence.prompt == "Name a river."
    assert evidence.raw == " The Po."


def span(*, events, **attributes):
    asked = [{"role": "user", "parts": [{"type": "text", "content": "Name a river."}]}]
    held = {"gen_ai.request.model": "m", "gen_ai.input.messages": json.dumps(asked), **attributes}
    return json.dumps({"name": "chat m", "attributes": held, "events": events})


FAILED = {
    "name": "exception",
    "attributes": {
        "exception.type": "openai.BadRequestError",
        "exception.message": "Error code: 400 - {'error': {'message': 'The model `m` does not exist'}}",
    },
}


def test_the_exception_that_a_span_records_is_the_error_of_its_request():
    evidence, words = said(span(events=[FAILED]))

    assert evidence.request is not None
    assert "does not exist" in words


def test_a_span_with_an_answer_did_not_end_with_an_exception_of_its_call():
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": "The Po."}], "finish_reason": "stop"}]
    evidence = read_evidence(span(events=[FAILED], **{"gen_ai.output.messages": json.dumps(answer)}))

    assert evidence.error is None
