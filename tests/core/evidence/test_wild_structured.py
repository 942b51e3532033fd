"""Structured output, reasoning, templates and streams, in the forms in which reports bring them."""

from __future__ import annotations

import json

from prompt_debugger.core.base.types import Finding
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.evidence import read_evidence, trace_of

FENCE = "```"


def found_in(text: str) -> dict[str, Finding]:
    return {finding.code: finding for finding in diagnose_trace(trace_of(read_evidence(text)))}


def test_an_argument_of_the_client_in_a_body_is_explained_where_the_server_names_it() -> None:
    log = "WARNING 11-02 [protocol.py:99] The following fields were present in the request but ignored: {'extra_body'}"
    found = found_in(f"{log}\nINFO 11-02 [async_llm.py:1] Added request chatcmpl-1.\n")

    assert "top level of the body" in found["PD105"].fix


def test_another_field_that_the_server_ignored_keeps_its_advice() -> None:
    log = "WARNING 11-02 [protocol.py:99] The following fields were present in the request but ignored: {'thinking'}"

    assert "top level of the body" not in found_in(log)["PD105"].fix


def test_a_budget_for_thoughts_out_of_range_is_known() -> None:
    body = {"error": {"code": 400, "message": "The thinking budget (99999) is invalid.", "status": "INVALID_ARGUMENT"}}
    found = found_in(json.dumps(body))

    assert "thinkingBudget" in found["PD100"].fix


def test_a_number_out_of_range_is_no_wrong_type() -> None:
    found = found_in(
        "invalid_request_error: thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
    )

    assert "1024" in found["PD100"].title
    assert "wrong type" not in found["PD100"].title
    assert "budget_tokens" in found["PD100"].fix


def test_another_number_out_of_range_is_not_either() -> None:
    found = found_in('{"error": {"type": "invalid_request_error", "message": "top_k: Input should be less than 500"}}')

    assert "wrong type" not in found["PD100"].title


def test_a_value_of_another_type_still_is() -> None:
    found = found_in(
        '{"error": {"type": "invalid_request_error", "message": "top_k: Input should be a valid integer"}}'
    )

    assert "wrong type" in found["PD100"].title + found["PD100"].detail


def test_the_code_that_would_handle_an_error_is_not_one() -> None:
    code = (
        "const answer = streamText({\n  model,\n  onError: (error) => {\n    console.error('Client error:', "
        "JSON.stringify(error));\n    return new Response(\n      JSON.stringify({ error: 'Internal server error' }),\n"
        "      { status: 500, headers: { 'Content-Type': 'application/json' } }\n    );\n  },\n});\n"
    )
    said = "The model returned the following errors: `max_tokens` must be greater than `thinking.budget_tokens`."
    found = found_in(f"Code:\n`\n{code}`\n\nObserved:\n- The client throws this:\n{said}\n")

    assert "thinking.budget_tokens" in found["PD100"].title
    assert "500" not in found["PD100"].detail


def test_a_grammar_that_the_engine_left_is_known_from_its_log() -> None:
    log = (
        'INFO:     127.0.0.1:40000 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
        "(EngineCore pid=9) ERROR 08-09 09:58:19 [scheduler.py:1841] Unexpected: grammar rejected tokens [7] for "
        "request chatcmpl-1. Terminating request.\n"
    )

    assert "--structured-outputs-config.backend" in found_in(log)["PD100"].fix


def test_a_heading_that_speaks_of_a_command_is_no_command() -> None:
    command = "vllm serve some/model --tokenizer-mode mistral"
    evidence = read_evidence(f"## vllm serve error\n\n{FENCE}\n{command}\n{FENCE}\n")

    assert evidence.server is not None
    assert [*evidence.server.served_models] in ([], ["some/model"])
    assert "error" not in evidence.words


def test_a_word_or_a_schema_is_no_grammar() -> None:
    for grammar in ("json", '{"type": "object"}'):
        found = found_in(json.dumps({"prompt": "Name a town.", "grammar": grammar}))
        assert "no rule" in found["PD140"].title


def test_a_grammar_in_another_notation_is_left_alone() -> None:
    for grammar in ('root ::= "yes"', "%llguidance {}\nstart: /a/", ""):
        assert "PD140" not in found_in(json.dumps({"prompt": "Name a town.", "grammar": grammar}))


def test_a_remark_within_json_does_not_keep_it_from_being_read() -> None:
    shown = (
        '{"type": "response.completed",\n "response": {"output": [],  // the text is missing\n "status": "completed"}}'
    )
    evidence = read_evidence(f"The last event:\n\n{FENCE}json\n{shown}\n{FENCE}\n")

    assert evidence.stream is not None


def test_a_template_in_a_command_is_no_output() -> None:
    template = "<|im_start|>{% for message in messages %}{{ message['content'] }}{% endfor %}<|im_end|>"
    said = "Invalid argument: --chat-template, use one of the built-in templates"
    evidence = read_evidence(f'~/work$ ./some-server -m model.gguf --chat-template "{template}" -n 9\n\n{said}\n')

    assert evidence.raw is None
    assert evidence.error is not None


def test_an_output_that_contains_a_template_stays_one() -> None:
    call = (
        '{"name": "write", "arguments": {"text": "{% for a in b %}{{ a }}{% endfor %}", "flag": "--chat-template x"}}'
    )

    assert read_evidence(f"<tool_call>\n{call}\n</tool_call>").raw is not None
