"""Errors and what is beside them: a name in prose, an answer above, a comment, a title, another entry of the log."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Finding
from prompt_debugger.core.evidence import Evidence, gather_evidence, show_evidence
from prompt_debugger.core.evidence.answers.joined_events import join_events
from prompt_debugger.core.evidence.errors.tracebacks import cut_traceback
from prompt_debugger.core.evidence.readers import Paste
from prompt_debugger.core.evidence.readers.fragment import READER as FRAGMENT
from prompt_debugger.core.evidence.reports.split import split
from tests.attacks.growth import grows_linearly


def read(text: str) -> Evidence:
    return gather_evidence([text])


def found_in(text: str) -> dict[str, Finding]:
    return {one.code: one for one in asyncio.run(show_evidence(read(text))).findings}


REQUEST = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
CURL = f"$ curl -s http://h:8000/v1/chat/completions -d '{REQUEST}'\n\n"
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "sea"}'}}
ANSWER = json.dumps(
    {
        "id": "a",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"content": None, "tool_calls": [CALL]}, "finish_reason": "tool_calls"}],
    }
)


def test_an_error_that_several_servers_say_is_not_laid_to_one_of_them():
    said = "ValueError: This model's maximum context length is 512 tokens. However, you requested 600 tokens"
    found = found_in(f"ERROR 01-02 03:04:05 [serving_chat.py:9] {said}\n")["PD100"]

    assert "is known from OpenAI" in found.detail
    assert "comes from" not in found.detail


def test_a_server_that_a_client_is_usually_used_with_is_not_the_one_that_ran():
    text = "I tried it on my own server (the app is usually used with Ollama).\nThe request:\n\n" + REQUEST

    assert read(text).server is None


def test_a_server_that_is_named_as_the_one_that_ran():
    server = read("I tried it on Ollama.\nThe request:\n\n" + REQUEST).server

    assert server is not None
    assert server.kind == "ollama"


def test_the_error_below_an_answer_in_a_log_of_lm_studio():
    log = (
        " [m] Generated prediction:  " + json.dumps(json.loads(ANSWER), indent=2) + "\n2025-01-02 03:04:05 [DEBUG]\n"
        ' 1 Error predicting: Error: Error rendering prompt with jinja template: "Unknown StringValue filter: loud".\n'
    )
    found = found_in(f"# It fails on a jinja template error\n\n```\n{log}```\n")["PD221"]

    assert "Unknown StringValue filter: loud" in found.title


def test_an_answer_in_a_log_with_nothing_below_it_has_no_error():
    log = " [m] Generated prediction:  " + json.dumps(json.loads(ANSWER), indent=2) + "\n2025-01-02 03:04:05 [DEBUG]\n"

    assert read(f"```\n{log}```\n").error is None


@pytest.mark.parametrize("role", ["system", "user"])
def test_a_message_with_a_variable_in_it_that_was_sent_is_no_answer(role):
    assert not FRAGMENT.finds(Paste(f'{{"role": "{role}", "content": [{{"type": "text", "text": RULES}}]}},'))


def test_a_message_with_a_variable_in_it_that_is_the_assistant_s_is_read():
    assert FRAGMENT.finds(Paste('{"role": "assistant", "content": [{"type": "text", "text": RULES}]},'))


def test_a_conversation_that_ends_with_two_answers_has_no_last_answer():
    turns = [("user", "A"), ("user", "B"), ("assistant", "C"), ("assistant", "D")]
    messages = json.dumps([{"role": role, "content": content} for role, content in turns])
    text = f"This request gives a broken prompt:\n\n{messages}\n\nThe server does not refuse it, which is wrong.\n"

    assert read(text).chat is None
    assert "PD120" in found_in(text)


def test_an_answer_that_was_cut_is_read_below_its_command():
    shown = read(CURL + ANSWER[:-20])

    assert shown.request is not None
    assert shown.chat is not None
    assert any("closed" in note for note in shown.notes)


def test_an_answer_that_was_cut_before_anything_in_it_is_named():
    shown = read(CURL + ANSWER[: ANSWER.index('"tool_calls"') + 4])

    assert shown.chat is None
    assert any(note.startswith("The answer below the command was not read") for note in shown.notes)


def test_an_answer_that_was_cut_is_named_where_a_sentence_is_between_it_and_the_command():
    text = f"I start it:\n\n```\nvllm serve m --port 8000\n```\n\nand ask:\n\n```\n{CURL}```\n\nand this comes:\n\n"
    begun = ANSWER[: ANSWER.index("null")] + '"The sum is'

    assert any("An answer in the text is not complete" in note for note in read(text + begun).notes)
    assert not any("An answer in the text" in note for note in read(text + ANSWER).notes)


def test_fields_of_llama_cpp_may_be_read_where_no_server_is_named():
    body = {**json.loads(REQUEST), "dynatemp_range": 0, "timings_per_token": True}

    assert "PD105" not in found_in(json.dumps(body))
    assert "PD105" in found_in(json.dumps({**body, "dynamic_range": 0}))


def test_a_gateway_s_error_gives_the_reason_of_the_server_above_it():
    kept = {
        "raw": json.dumps({"message": "Unrecognized request argument supplied: seed", "type": "invalid_request_error"})
    }
    body = {"error": {"message": "All target providers failed.", "attempts": [{"details": {"metadata": kept}}]}}

    assert "seed" in found_in(json.dumps(body))["PD100"].title


def test_a_command_without_an_answer_says_nothing_of_one():
    assert not any("below the command" in note for note in read(CURL).notes)


def test_an_entry_of_a_log_is_no_part_of_the_exception_above_it():
    text = (
        '  File "<template>", line 3, in top-level template code\n'
        'TypeError: can only concatenate str (not "list") to str\n'
        "ERROR 01-02 03:04:05 [core_client.py:9] Engine core proc EngineCore_DP0 died unexpectedly.\n"
    )

    assert "died" not in found_in(text)["PD221"].title


def test_an_exception_of_several_lines_that_all_have_heads_stays_whole():
    head = "ERROR 01-02 03:04:05 [core.py:9] "
    lines = [
        "Traceback (most recent call last):",
        '  File "/x/vllm/a.py", line 3, in f',
        "    g()",
        "ValueError: first",
    ]
    text = "".join(f"{head}{line}\n" for line in [*lines, "second line of it"])
    error = read(text).error

    assert error is not None
    assert "second line" in error.message


def test_one_record_of_a_server_s_access_log_has_a_status():
    where = {"function": "log_server_request", "line": 9, "remote_addr": "127.0.0.1", "remote_port": 9}
    sent = {"status": 500, "method": "POST", "path": "/v1/chat/completions", "params": {}}
    record = {"timestamp": 1700000000, "level": "INFO", **where, "message": "request", **sent}
    notes = read(json.dumps(record, separators=(",", ":"))).notes

    assert any("answered with 500" in note for note in notes)


def test_a_record_of_something_else_is_no_log():
    with pytest.raises(RequestError):
        read(json.dumps({"level": "INFO", "message": "request", "status": 500}))


def event(text, end="null"):
    return (
        '{"id": "a", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "'
        + text
        + f'"}}, "finish_reason": {end}}}]}}'
    )


def test_a_stream_with_a_remark_in_it_is_one_stream():
    text = (
        f"{event('He')}\ndata: {event('l')}\n\n// now the end\n\n"
        f"data: {event('lo')}\ndata: {event('', chr(34) + 'stop' + chr(34))}\ndata: [DONE]\n"
    )
    shown = read(text)

    assert not any("only one was read" in note for note in shown.notes)
    assert shown.chat is not None
    assert shown.chat.message["content"] == "Hello"
    assert "PD310" not in found_in(text)


def test_two_streams_with_a_remark_between_them_are_not_joined():
    other = event("Hi").replace('"a"', '"b"')
    blocks = split(f"data: {event('He')}\n\n// the other run\n\ndata: {other}\n")

    assert join_events(blocks) == tuple(blocks)


def test_a_fence_that_is_not_closed_is_read_to_the_end_of_the_text():
    text = f"# It never stops\n\n```\n...\ndata: {event('He')}\n\ndata: {event('l')}\n"
    shown = read(text)

    assert shown.chat is not None
    assert shown.chat.message["content"] == "Hel"


def test_a_fence_with_a_language_that_is_not_closed_is_read_too():
    text = f"# It never stops\n\n```json\n{ANSWER}\n"

    assert read(text).chat is not None


def test_a_traceback_that_ends_with_a_plain_exception_is_not_cut():
    frame = 'Traceback (most recent call last):\n  File "/x/a.py", line 3, in f\n    raise Exception(words)\n'

    assert cut_traceback(frame + "Exception: it went wrong\n") is None
    assert cut_traceback(frame) is not None


def test_a_log_below_the_command_that_started_the_server_says_how_it_answered():
    log = '[2026-01-02 03:04:05] INFO:     127.0.0.1:9 - "POST /v1/chat/completions HTTP/1.1" 400 Bad Request'
    command = "python3 -m sglang.launch_server --model a/b --tp 2"
    notes = read(f"I start it:\n\n```\n{command}\n```\n\nand this comes:\n\n```\n{log}\n```\n").notes

    assert any("answered with 400" in note for note in notes)


def test_an_exception_of_java_in_another_class_is_read_by_its_words():
    name = "org.springframework.web.reactive.function.client.WebClientResponseException$BadRequest"
    found = found_in(f"{name}: 400 Bad Request from POST http://h:8000/v1/chat/completions\n\tat a.B.c(B.java:3)\n")

    assert "the server's words are in its body" in found["PD100"].detail


def test_a_time_in_brackets_is_no_data():
    said = "Number of tokens in multimodal embedding does not match those in the input text. Got 7 tokens in the text"
    found = found_in(f"[03:04:05 TP0] {said} but 0 tokens from multimodal embeddings.")["PD100"]

    assert found.title.startswith("The prompt has placeholders for more media")


def test_a_limit_by_which_an_answer_was_cut_was_not_ignored():
    log = "WARNING 01-02 03:04:05 [protocol.py:9] The following fields were present in the request but ignored: {'%s'}"
    body = {**json.loads(REQUEST), "max_completion_tokens": 3, "colour": "red"}
    answer = {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "One two"}, "finish_reason": "length"}]
    }
    shown = "The log:\n\n```\n{}\n```\n\nI ask\n\n```json\n{}\n```\n\nand get\n\n```json\n{}\n```\n"

    def titles(field):
        text = shown.format(log % field, json.dumps(body), json.dumps(answer))
        return [one.title for one in asyncio.run(show_evidence(read(text))).findings]

    assert "The server ignored `max_completion_tokens`." not in titles("max_completion_tokens")
    assert "The server ignored `colour`." in titles("colour")


CUT_PLUGIN_ERROR = (
    '[a] Error: PluginInvokeError: {"args":{"description":"[models] Error: API request failed with status code 400: '
    '{\\"error\\":{\\"message\\":\\"m does not support successive user or assistant messages\\"}}"},"message":"[mod'
)


def test_a_title_that_mentions_an_error_gives_way_to_the_line_in_the_box():
    title = "# got an error when sending the second message (error comes from m)"
    text = f"{title}\n\nIt says:\n```\n{CUT_PLUGIN_ERROR}\n```\n"

    assert "roles of the messages, or their order" in found_in(text)["PD100"].title


def test_a_line_in_a_box_that_no_table_knows_leaves_the_title():
    text = "# got an error when sending the second message\n\nIt says:\n```\nthe wheel is loose {\n```\n"

    assert "got an error when sending" in found_in(text)["PD100"].title


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_the_message_of_pydantic_is_read_over_an_empty_line(gap):
    said = f"1 validation error for LLMNodeData{gap}model.mode\nField required [type=missing, input_value={{'a': 1}}]"

    assert "settings of an LLM node" in found_in(f"It fails with:\nRun failed: {said}\n")["PD100"].title


SCRIPT = "import json\nresp = c.chat.completions.create(model='m')\nprint(json.dumps(resp.choices[0].message))\n"


def test_what_a_script_printed_is_no_part_of_it():
    kinds = [one.kind.value for one in split(SCRIPT + '{\n  "content": "a b",\n  "role": "assistant"\n}\n')]

    assert kinds == ["interactive Python", "JSON"]


def test_a_dict_that_is_an_argument_stays_in_its_script():
    kinds = [one.kind.value for one in split(SCRIPT + "show(\n{\n  'a': 1,\n}\n)\n")]

    assert kinds == ["interactive Python"]


def test_the_route_of_a_web_application_is_not_ollama_s():
    line = "400 This response_format type is unavailable now\n    at h (.next/server/app/api/chat/route.js:1:12737)"
    found = read(f"```\nunhandledRejection:  Error: {line}\n```\n")

    assert found.server is None


def test_reading_below_a_command_and_names_in_prose_grows_linearly():
    assert grows_linearly(lambda size: _try(CURL + '{"id":\n' * size), first=500)
    assert grows_linearly(lambda size: _try("usually " * size + "Ollama\n" + REQUEST), first=500)
    assert grows_linearly(lambda size: _try(f"data: {event('x')}\n\n// next\n\n" * size), first=20)
    assert grows_linearly(lambda size: _try(" validation error\n\n" + "a\n\n" * size), first=500)
    assert grows_linearly(lambda size: _try("ERROR 01-02 03:04:05 [a.py:1] x\ny\n" * size), first=200)


def _try(text: str) -> None:
    with suppress(RequestError):
        read(text)
