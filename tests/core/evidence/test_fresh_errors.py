"""Errors whose class reports in trackers showed: what is said of each, and what of its near misses."""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence


def said(text):
    trace = asyncio.run(show_evidence(read_evidence(text)))
    return trace, " ".join(f"{one.title} {one.detail} {one.fix}" for one in trace.findings)


def faults(*listed):
    return f"Error code: 422 - {{'detail': {[dict(zip(('loc', 'msg'), one, strict=True)) for one in listed]}}}"


def test_a_field_of_the_request_is_no_answer_that_came_without_text():
    error = {"message": "Invalid input: expected string, received null", "param": "messages.4.reasoning_details.1.text"}

    _, words = said(f"request failed with status 400: {json.dumps({'error': error})}")

    assert "messages.4.reasoning_details.1.text" in words
    assert "expected the model's answer" not in words


def test_an_answer_that_came_without_text_is_one_still():
    _, words = said("openai app.py TypeError: expected string, got NoneType for the completion")

    assert "expected the model's answer" in words


def test_of_a_union_the_member_that_the_value_was_meant_as_names_the_field():
    _, words = said(
        faults(
            (["body", "messages", 1, "content", "str"], "Input should be a valid string"),
            (["body", "messages", 1, "content", "list[Part]", 2, "image_url"], "Input should be a valid dictionary"),
        )
    )

    assert "messages[1].content[2].image_url" in words


def test_where_the_value_is_no_member_at_all_the_field_is_the_whole():
    _, words = said(
        faults(
            (["body", "messages", 1, "content", "str"], "Input should be a valid string"),
            (["body", "messages", 1, "content", "list[Part]"], "Input should be a valid list"),
        )
    )

    assert "`messages[1].content`" in words


def test_a_request_without_a_body_is_told_from_one_without_a_field():
    _, lost = said(faults((["body"], "Field required")))
    _, missing = said(faults((["body", "messages"], "Field required")))

    assert "without a body" in lost
    assert "without a body" not in missing
    assert "messages" in missing


def test_a_role_that_the_messages_api_does_not_know():
    _, words = said(faults((["body", "messages", 0, "role"], "Input should be 'user' or 'assistant'")))

    assert "in the field `system`" in words


def test_whose_address_words_name_did_not_report_them():
    _, words = said(
        '[WARN] agent: Timeout error, retrying {error=failed to send request: Post "http://localhost:11434/v1/chat'
        '/completions": context deadline exceeded (Client.Timeout exceeded while awaiting headers)}'
    )

    assert "It was meant for Ollama." in words
    assert "reported by Ollama" not in words


def test_a_line_that_leads_to_an_error_is_not_its_words():
    _, words = said(
        "And I get a timeout error message:\n\n2026/03/07 [WARN] agent: Timeout error, retrying {error=failed to send "
        'request: Post "http://localhost:11434/v1/chat/completions": context deadline exceeded}\n\nThanks.'
    )

    assert "And I get" not in words
    assert "context deadline exceeded" in words


def test_a_round_time_is_a_limit():
    line = '[GIN] 2026/01/12 - 01:23:05 | {} | {:>12} | 10.0.0.1 | POST     "/api/chat"'
    bad, good = (read_evidence(line.format(*one)).notes for one in ((500, "5m0s"), (500, "4m52.1s")))

    assert any("after 5m0s" in note for note in bad)
    assert not any("traceback" in note for note in bad)
    assert not any("after" in note for note in good)


def test_a_request_in_the_wire_log_of_a_client():
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    head = "2026-01-02T10:00:00.000+08:00 DEBUG 1 --- [reactor-http-nio-3] r.n.http.client.HttpClient : [4a-1, ]"

    trace, _ = said(f"{head} WRITE: 99B {json.dumps(body)}\n{head} FLUSH")

    assert trace.request.body["messages"] == body["messages"]


@pytest.mark.parametrize("name", ["Cline", "Roo Code"])
def test_a_hint_in_place_of_a_reason_is_told_as_such(name):
    _, words = said(
        "Please check the LM Studio developer logs to debug what went wrong. You may need to load the model with a "
        f"larger context length to work with {name}'s prompts."
    )

    assert "in place of the reason" in words


def test_faults_that_are_listed_one_a_line_name_the_field_and_a_cut_list_its_place():
    whole = "1 validation error:\n  {'type': 'missing', 'loc': ('body', 'messages'), 'msg': 'Field required'}\n"
    member = "  {'type': 'string_type', 'loc': ('body', 'input', 'str'), 'msg': 'Input should be a valid string'}\n"
    cut = f"9 validation errors:\n{member}  {{'type': 'string_type', 'loc': ('body', 'inp"

    _, named = said(json.dumps({"error": {"message": whole}}))
    _, placed = said(json.dumps({"error": {"message": cut}})[:-3])

    assert "`messages`" in named
    assert "`input`: 9 validation errors" in placed
    assert "valid string" not in placed


def test_a_member_of_json_with_the_arguments_is_encoded_once():
    with pytest.raises(RequestError):
        said('     "arguments": "{\\"city\\": \\"Oslo\\"}"')

    _, words = said('"arguments": "\\"{\\\\\\"city\\\\\\": 1}\\""')

    assert "encoded twice" in words


@pytest.mark.parametrize(
    ("text", "expected", "wrong"),
    [
        (
            "llama_decode: failed to decode, ret = -1\nsrv  update_slots: Invalid input batch. i = 0, n_batch = 512, "
            "ret = -1\nsrv    send_error: task id = 4, error: Invalid input batch.\nsrv  update_slots: all slots are "
            "idle\nsrv  log_server_r: request: POST /v1/chat/completions 127.0.0.1 500\n",
            "The request needs no change",
            "value in the request",
        ),
        (
            'Request failed: [400] {"type":"error","error":{"type":"api_error","message":"messages.6.content.1: each '
            'tool_use must have a single result. Found multiple tool_result blocks with id: toolu_9"}}',
            "answered twice",
            "missing or empty",
        ),
        (
            "WARNING 07-12 15:03:35 scheduler.py:194] Input prompt (4100 tokens) is too long and exceeds limit of 4096",
            "does not fit",
            "not recognized",
        ),
        (
            "[Non-Blocking] LiteLLM.Success_Call Error: 1 validation error for Message\nthinking_blocks.0.signature\n"
            "  Input should be a valid string [type=string_type, input_value=None, input_type=NoneType]",
            "record of a request that was answered",
            "Change `thinking_blocks",
        ),
    ],
)
def test_sentences_of_engines_and_gateways(text, expected, wrong):
    _, words = said(text)

    assert expected in words
    assert wrong not in words
