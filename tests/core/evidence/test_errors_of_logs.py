"""Errors and warnings in lines of logs, and words that were taken for others, with near misses."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence


def said(text):
    trace = asyncio.run(show_evidence(read_evidence(text)))
    return " ".join(f"{one.code} {one.title} {one.detail} {one.fix}" for one in trace.findings)


def test_an_unknown_field_that_a_model_returned_is_no_unknown_model():
    words = said(
        'litellm.BadRequestError: BedrockException - {"message":"The model returned the following errors: Failed to '
        'deserialize the JSON body into the target type: effort: unknown field effort, expected one of messages"}'
    )

    assert "does not serve the model" not in words
    assert "a field that is not accepted" in words


def test_an_unknown_model_stays_one():
    words = said("openai.NotFoundError: Error code: 404 - {'error': {'message': 'model \\'m\\' is unknown'}}")

    assert "does not serve the model" in words


@pytest.mark.parametrize("tag", ["endfor", "else", "endmacro"])
def test_a_tag_out_of_place_is_a_block_that_is_open(tag):
    words = said(f"jinja2.exceptions.TemplateSyntaxError: Encountered unknown tag '{tag}'.")

    assert "A block of the chat template is not closed" in words
    assert f"`{tag}`" in words


def test_a_tag_of_another_engine_is_no_open_block():
    words = said("jinja2.exceptions.TemplateSyntaxError: Encountered unknown tag 'generation'.")

    assert "template engine lacks" in words
    assert "not closed" not in words


IGNORED = "The following fields were present in the request but ignored: {'chat_template_kwargs', 'guided_json'}"
HEADS = {
    "vllm": "(APIServer pid=7) WARNING 01-02 10:00:00 protocol.py:51] ",
    "mlx-openai-server": "2026-01-02 10:00:00 | WARNING  | app.schemas.openai:__log_extra_fields__:42 | \u2726 ",
    "unknown": "",
}


@pytest.mark.parametrize("kind", HEADS)
def test_fields_that_the_log_says_were_ignored_are_said(kind):
    evidence = read_evidence(f"{HEADS[kind]}{IGNORED}")

    assert evidence.server is not None
    assert evidence.server.kind == kind
    words = said(f"{HEADS[kind]}{IGNORED}")
    assert "The server ignored `chat_template_kwargs`" in words
    assert "`structured_outputs.json`" in words


def test_words_about_ignored_fields_are_no_log():
    with pytest.raises(RequestError):
        read_evidence("Which fields were present in the request but ignored? I would like to see a list of them.")


REFUSED = (
    "[10:20:30] - my.agent - ERROR - Step failed with error litellm.UnsupportedParamsError: my_proxy does not support "
    "parameters: {'thinking': {'type': 'enabled'}}, for model=m. To drop these, set `litellm.drop_params=True`"
)
CUT = '\nTraceback (most recent call last):\n  File "/srv/agent/step.py", line 3, in run\n    await self.step()\n'


def test_an_error_above_a_traceback_without_its_end_is_read():
    assert "my_proxy does not support parameters" in said(REFUSED + CUT)


def test_a_traceback_without_its_end_and_without_an_error_above_it_asks_for_the_end():
    with pytest.raises(RequestError, match=r"breaks off in step\.py line 3"):
        read_evidence(f"[10:20:30] - my.agent - INFO - litellm step 3 begins{CUT}")


ABSENT = "jinja2.exceptions.UndefinedError: 'dict object' has no attribute '{name}'"


def test_a_message_without_content_is_named():
    words = said(ABSENT.format(name="content"))

    assert "usually of an assistant message that only makes calls" in words
    assert '`"content": ""`' in words


def test_another_key_that_is_absent_is_not_the_content():
    assert "assistant message that only makes calls" not in said(ABSENT.format(name="tool_call_id"))


FRAME = '  File "/opt/lib/python3.10/site-packages/{package}/serve/engine.py", line 7, in generate\n    x = y[z]\n'


def test_a_schema_that_lmdeploy_did_not_find_is_one_of_the_request():
    words = said(f"Traceback (most recent call last):\n{FRAME.format(package='lmdeploy')}KeyError: 'schema'")

    assert "did not find the schema of `response_format`" in words


def test_a_key_of_another_program_is_no_schema():
    with pytest.raises(RequestError):
        read_evidence(f"Traceback (most recent call last):\n{FRAME.format(package='pandas')}KeyError: 'schema'")


COMMAND = "vllm serve a/b --reasoning-parser qwen3 --port 8000"


def test_a_command_with_words_beside_it_says_what_is_needed():
    text = f"I started it so:\n\n{COMMAND}\n\nand the answer is empty now whenever the model thinks."

    assert any("paste the answer" in note for note in read_evidence(text).notes)


@pytest.mark.parametrize("text", [COMMAND, f"My command:\n\n{COMMAND}\n"])
def test_a_command_alone_needs_nothing(text):
    assert not any("paste the answer" in note for note in read_evidence(text).notes)


def test_a_template_error_without_its_words_arose_in_the_template():
    text = (
        "-" * 60 + "\nUndefinedError                  Traceback (most recent call last)\nCell In[3], line 1\n"
        "----> 1 texts = tokenizer.apply_chat_template(rows)\n\n"
        "File ~/env/lib/python3.12/site-packages/transformers/tokenization_utils_base.py:1640, in apply_chat_template"
    )

    assert "The chat template failed" in said(text)
    assert "The chat template failed" not in said(text.replace("UndefinedError ", "RuntimeError   "))


ABOVE = (
    "2026-01-02 10:00:00.100 | 10:00:00 - agent:ERROR: run.py:7 - [Agent 1] Error while running: "
    "litellm.BadRequestError: {words}. Traceback: Traceback (most recent call last):\n"
    '2026-01-02 10:00:00.100 |   File "/x/site-packages/litellm/a.py", line 7, in f\n'
    "2026-01-02 10:00:00.100 |     raise e\n"
)


def test_the_error_on_the_line_above_its_traceback_is_read():
    words = said(ABOVE.format(words="XException - Assistant message must have either content or tool_calls"))

    assert "An assistant message of the history is empty" in words


def test_a_traceback_of_a_request_handler_names_no_error():
    text = (
        'INFO:     127.0.0.1:41294 - "POST /v1/chat/completions HTTP/1.1" 500 Internal Server Error\n'
        "ERROR:    Exception in ASGI application\nTraceback (most recent call last):\n"
        '  File "/x/site-packages/starlette/applications.py", line 113, in __call__\n    await self.app(scope)\n'
    )
    evidence = read_evidence(text)

    assert evidence.error is None
    assert any("breaks off in applications.py line 113" in note for note in evidence.notes)
