"""Reports on servers: what they log, what they answer in place of JSON, how thinking is switched off there."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.evidence import Part, read_evidence
from tests.core.evidence.pasted import said, shown

PROMPT = "<|im_start|>user\nIs it late?<|im_end|>\n<|im_start|>assistant\n"
HEAD = "2026-01-02 03:04:05 | INFO     | app.utils.debug_logging:"
ANSWER = (
    '{"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": null}}], '
    '"usage": {"completion_tokens": 9}}'
)
TRACEBACK = """Traceback (most recent call last):
  File "/x/site-packages/PACKAGE", line 1032, in json
    return loads(self.text)
  File "/x/json/decoder.py", line 355, in raw_decode
    raise JSONDecodeError("Expecting value", s, err.value) from None
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
"""
SENT = (
    "curl http://localhost:PORT/v1/chat/completions -d "
    '\'{"model": "m", "messages": [{"role": "user", "content": "Hm?"}]}\''
)
MISSING = "Field required [type=missing, input_value={'messages': []}, input_type=dict]"


@pytest.mark.parametrize("function", ["app.utils.debug_logging:log_debug_prompt:82 | \u2726 ", "some.module:send:7 | "])
def test_a_prompt_in_a_log_is_no_output(function):
    line = f"2026-01-02 03:04:05 | INFO     | {function}{PROMPT}\n"
    after = "2026-01-02 03:04:06 | INFO     | done\n"

    for text in (line, line + after, f"It comes back empty:\n```\n{ANSWER}\n```\nDebug log:\n```\n{line}```\n"):
        held = read_evidence(text).holds
        assert Part.PROMPT in held
        assert Part.RAW not in held


def test_what_the_server_counted_is_said_where_only_its_prompt_was_logged():
    text = f"```\n{ANSWER}\n```\n\nThe log:\n```\n{HEAD}log_debug_prompt:82 | \u2726 {PROMPT}```\n"

    assert [one.code for one in shown(text).findings] == ["PD312"]


def test_a_raw_text_in_such_a_log_is_the_output():
    text = (
        f"{HEAD}log_debug_raw_text_response:9 | \u2726 Raw text: <tool_call>\n{{}}\n</tool_call>\n{HEAD}x:1 | \u2501\n"
    )

    assert read_evidence(text).raw == "<tool_call>\n{}\n</tool_call>"


@pytest.mark.parametrize("package", ["requests/models.py", "httpx/_models.py"])
def test_a_body_that_is_no_json_is_no_output_of_the_model(package):
    found = shown(TRACEBACK.replace("PACKAGE", package)).findings

    assert [(one.code, one.stage) for one in found] == [("PD445", Stage.COMPLETE)]
    assert "body" in found[0].title
    assert "response.text" in found[0].fix


def test_a_text_that_a_program_decoded_itself_may_be_the_output():
    found = shown(TRACEBACK.replace("PACKAGE", "agent/parsers.py")).findings

    assert [one.stage for one in found] == [Stage.PARSE]


@pytest.mark.parametrize(("port", "is_it"), [("11434", True), ("8000", False)])
def test_thinking_is_switched_off_as_ollama_reads_it(port, is_it):
    message = '{"role": "assistant", "content": "", "reasoning": "It asks for a word."}'
    text = f"```sh\n{SENT.replace('PORT', port)}\n```\nResult:\n```json\n{message}\n```\n"

    assert ('"reasoning_effort": "none"' in said(text)) is is_it
    assert ("enable_thinking" in said(text)) is not is_it


def test_faults_that_a_log_quotes_are_read_as_faults_of_the_request():
    log = (
        '2026-01-02T03:04:05Z ERROR chat: openai: failed: "ValueError: Invalid request: 2 validation errors for '
        f'Request\\nprompt\\n  {MISSING}\\nsampling_params\\n  {MISSING}" request_id=1'
    )
    found = shown(log).findings[0]

    assert found.stage is Stage.REQUEST
    assert "`prompt`: Field required; `sampling_params`: Field required" in found.title
    assert "/v1/chat/completions" in found.fix


def test_the_id_of_a_request_is_no_name_of_a_model():
    words = "Model a - Error when running: [request id: <id_unknown>] expected 3 inputs but got 2 inputs for model 'a'"
    text = f'{{"error":"Traceback (most recent call last):\\n raise TritonModelException: {words}"}}'

    assert "inputs" in said(text)
    assert "does not serve the model" not in said(text)


def test_what_a_server_wraps_is_named_itself():
    words = "Conversation roles must alternate user/assistant/user/assistant/..."
    wrapped = f"Unable to generate parser for this template. Automatic parser generation failed: {words}"

    assert "alternat" in shown(f'{{"error":{{"message":"{wrapped}"}}}}').findings[0].title


def test_an_answer_of_500_without_words_is_the_servers():
    text = 'http://127.0.0.1:5005/v1/chat/completions\n\nresponse is 500  {\n    "detail": "Server error"\n}'

    assert [one.stage for one in shown(text).findings] == [Stage.COMPLETE]


def test_a_grammar_that_a_binding_cannot_read_is_of_the_request():
    found = shown("ValueError: from_string: error parsing grammar file: parsed_grammar.rules is empty").findings

    assert [(one.code, one.stage) for one in found] == [("PD100", Stage.COMPLETE)]
    assert "root" in found[0].fix


def test_code_marks_on_lines_of_their_own_end_the_words_of_an_error():
    text = "I see on the console:\n\n`12:00 [ERROR] Only user and assistant roles are supported!\n`\nThe client says:\n"

    assert "The client says" not in said(text)
    assert "system message" in said(text)
