"""Which line of a log or traceback is the cause, where several speak of errors; near misses say nothing."""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence
from prompt_debugger.core.evidence.errors.in_strings import error_in_string
from prompt_debugger.core.known_errors import cause_of_words, classes_of, field_in, innermost
from tests.attacks.growth import grows_linearly


def said(text):
    trace = asyncio.run(show_evidence(read_evidence(text)))
    return " ".join(f"{one.code} {one.title} {one.detail} {one.fix}" for one in trace.findings)


def refused(text):
    with pytest.raises(RequestError) as raised:
        read_evidence(text)
    return raised.value.message


FLAGS = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
NO_BODY = (
    "[app] error [Chat.run] Error: 400 status code (no body)\n    at Function.generate (/a/openai/src/error.ts:72:14)"
)


def test_a_list_of_accepted_values_is_not_the_cause():
    words = "failed to deserialize api response: unknown variant `x`, expected one of `stop`, `content_filter`, `tools`"

    assert "content-policy" not in [found.error.name for found in classes_of(words)]
    assert cause_of_words(words) is None
    assert field_in("unknown variant, one of `tool_calls`, `content_filter`") is None


def test_a_filter_that_stopped_an_answer_stays_one():
    assert next(classes_of("The answer was cut by `content_filter`")).error.name == "content-policy"


def chunk(reason):
    delta = {"index": 0, "delta": {"content": "Hi"}, "finish_reason": reason}
    return json.dumps({"id": "c", "object": "chat.completion.chunk", "choices": [delta]})


def test_the_error_between_the_events_that_a_client_quotes_is_read_with_them():
    text = (
        f"2025-01-02T10:00:00.1Z ERROR client::error: failed deserialization of: {chunk('')}\n"
        "2025-01-02T10:00:00.2Z ERROR app: failed to deserialize api response: unknown variant ``, expected one of "
        "`stop`, `length`, `tool_calls`, `content_filter` at line 1 column 90\n"
        f"2025-01-02T10:00:00.3Z ERROR client::error: failed deserialization of: {chunk('')}\n"
    )

    words = said(text)

    assert "The server's answer has a value that the client does not accept" in words
    assert "content filter" not in words


def test_events_between_lines_without_an_error_have_none():
    text = f"first event of the stream here: {chunk(None)}\nand then the last of them: {chunk('stop')}\n"

    assert read_evidence(text).error is None


def test_the_reason_beside_an_error_without_one_counts():
    shown = json.dumps({"object": "error", "message": FLAGS, "type": "BadRequestError"}).replace('\\"', '\\\\"')
    text = f"`{NO_BODY}`\n\nThe body that the debugger shows is\n`'{shown}'`"

    words = said(text)

    assert "--enable-auto-tool-choice" in words
    assert "does not contain the reason" not in words


def test_an_error_without_a_reason_stays_one_where_nothing_gives_it():
    assert "400 status code (no body)" in said(NO_BODY)


def test_a_body_in_a_string_of_a_log_is_read():
    body = json.dumps(json.dumps({"object": "error", "message": FLAGS, "code": 400}))
    text = f'2025/01/02 10:00:00.1 chat.go:15: grpc: "level"=0 "msg"="Got an error response" "code"=400 "body"={body}'

    words = said(text)

    assert 'HTTP 400: "auto" tool choice requires' in words


def test_a_string_with_another_object_is_no_error():
    assert error_in_string(r'level=info body="{\"type\":\"text\",\"text\":\"hello\"}"') is None


def test_the_field_of_a_log_with_the_error_is_its_innermost_words():
    line = 'ERR Server error error="rpc error: code = Unavailable desc = error reading from server: EOF" ip=::1'

    assert innermost(line).words == "rpc error: code = Unavailable desc = error reading from server: EOF"
    assert "The process that runs the model ended" in said(f"7:23PM {line} method=POST url=/v1/chat/completions")


def test_what_is_raised_while_an_error_is_handled_is_no_part_of_its_words():
    text = (
        '  File "<template>", line 12, in top-level template code\n'
        "jinja2.exceptions.UndefinedError: 'str object' has no attribute 'items'\n"
        "During handling of the above exception, another exception occurred:\n"
        'Traceback (most recent call last):\n  File "<frozen runpy>", line 198, in _run_module_as_main\n'
    )

    assert "During handling" not in said(text)


@pytest.mark.parametrize("stamp", ["[2026-07-01 11:16:40 CST]", "[11:16:40]", "[01/Jul/2026:11:16:40 +0000]"])
def test_a_log_that_begins_with_a_time_in_brackets_is_no_broken_json(stamp):
    text = f'{stamp} [uvicorn.access] [INFO] 1.2.3.4:5 - "POST /api/threads HTTP/1.1" 409\n' * 3

    assert "is missing here" not in refused(text)


def test_a_broken_list_of_numbers_stays_json():
    assert "is missing here" in refused('[2026, 7 "a"]')


def test_what_axios_keeps_beside_its_own_words_is_the_error():
    value = {
        "level": "error",
        "message": "Failed to fetch models. Request failed with status code 401",
        "data": {"error": {"code": "03", "message": "Gateway Error: Invalid API Key."}},
        "status": 401,
    }

    assert "HTTP 401: Gateway Error: Invalid API Key" in said(json.dumps(value))


def test_a_warning_of_pydantic_is_no_error_and_no_answer():
    text = (
        "web-1  | /app/pydantic/main.py:464: UserWarning: Pydantic serializer warnings:\n"
        "web-1  |   PydanticSerializationUnexpectedValue(Expected 9 fields but got 5: Expected `Message` - serialized "
        "value may not be as expected [field_name='choices', input_value=Message(content=None, rol...=None), "
        "input_type=Message])\n"
        "web-1  |   return self.__pydantic_serializer__.to_python(\n"
    )

    assert "the program goes on" in refused(text)


def test_an_answer_that_vllm_logs_of_the_messages_api_is_read():
    text = (
        "(APIServer pid=7) DEBUG 02-18 10:06:35 [api_server.py:472] Anthropic Messages Response: {'id': 'c', 'type': "
        "'message', 'role': 'assistant', 'content': [{'type': 'tool_use', 'id': 't', 'name': 'run', 'input': "
        "{'command': 'uptime'}}], 'model': 'm', 'stop_reason': 'tool_use'}\n"
        '(APIServer pid=7) INFO:     127.0.0.1:34198 - "POST /v1/messages HTTP/1.1" 200 OK\n'
    )

    chat = read_evidence(text).chat

    assert chat is not None
    assert chat.message["tool_calls"][0]["function"]["name"] == "run"
    assert not said(text)


def test_the_request_that_litellm_logs_is_read():
    text = (
        "16:42:23 - LiteLLM:DEBUG: utils.py:479 - Request to litellm:\n"
        "16:42:23 - LiteLLM:DEBUG: utils.py:479 - litellm.acompletion(model='a/b', messages=[{'role': 'user', "
        "'content': 'Hi'}], tool_choice='required')\n"
    )

    request = read_evidence(text).request

    assert request is not None
    assert request.messages[0]["content"] == "Hi"


@pytest.mark.parametrize(
    ("messages", "shown"),
    [([None], "`messages[0]` must be an object, not null."), ([[{"role": "user"}]], "`messages[0]` must be an object")],
)
def test_an_entry_that_is_no_message_is_named_by_its_place(messages, shown):
    assert shown in refused(json.dumps({"model": "m", "messages": messages}))


RAY = (
    "Message: it is no iterator None (Request ID: 4c), \nInternal exception: ray.OpenAIHTTPException (Request ID: 4c), "
    "original exception:"
)


def test_what_a_person_did_about_an_error_is_not_its_words():
    text = (
        f"The following error appears:\n\n```yaml\n{RAY}\n```\n\nTo investigate this error, I checked the logs under "
        "/tmp/ray, and found the following:\n\n```bash\nINFO 2026-01-19 16:27:00,125 default_Ingress 9c -- Started.\n"
        "INFO 2026-01-19 16:27:48,527 default_Ingress 9c -- Got replicas.\n```\n"
    )

    words = said(text)

    assert "Ray Serve passes on" in words
    assert "I checked" not in words


@pytest.mark.parametrize("part", ['"{\\"error\\":\\"a', '\'{"error":', 'error="x\\"', "unknown variant, one of `a`, "])
def test_time_grows_linearly_with_hostile_strings(part):
    assert grows_linearly(lambda size: error_in_string(part * size), first=200, tries=2, doublings=5)
    assert grows_linearly(lambda size: innermost(part * size), first=200, tries=2, doublings=5)


RETRIED = (
    'Traceback (most recent call last):\n  File "C:\\dev\\camel\\agents\\chat_agent.py", line 239, in step\n'
    "    response = self.model_backend.run(messages=openai_messages)\n"
    "AttributeError: 'NoneType' object has no attribute 'usage'\n\n"
    "The above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n"
    '  File "C:\\dev\\run.py", line 134, in <module>\n    chat_chain.execute_chain()\n'
)
FUTURE = "tenacity.RetryError: RetryError[<Future at 0x1d0e0c state=finished raised AttributeError>]"


def test_the_exception_that_was_tried_again_is_the_cause():
    words = said(f"{RETRIED}{FUTURE}\n")

    assert "'NoneType' object has no attribute 'usage'" in words
    assert "is not shown" not in words


def test_an_exception_that_was_tried_again_and_is_not_shown_is_asked_for():
    assert "its message is not shown" in said(FUTURE)


def test_words_below_a_status_are_shown():
    rest = (
        "Failed to deserialize the JSON body into the target type: messages[3]: missing field `tool_call_id` at line 1"
    )

    words = said(f"An error occurred: agent loop failed: API returned unexpected status code: 400: {rest}")

    assert "whose words are not shown" not in words
    assert "`messages[3].tool_call_id`" in words


def test_a_status_alone_has_no_words():
    assert "whose words are not shown" in said("An error occurred: the LLM API returned unexpected status code: 400")


@pytest.mark.parametrize("head", ["(.venv) root@host:/workspace# ", "(ProxyActor pid=28085) "])
def test_a_log_that_begins_with_a_word_in_parentheses_is_no_python(head):
    text = f"{head}serve run config.yaml\n2026-08-19 17:55:35,019 INFO scripts.py:480 -- Running config file.\n" * 2

    assert "Python" not in refused(text)


def test_a_messages_list_in_parentheses_stays_python():
    assert read_evidence('([{"role": "user", "content": "Hi"}])').request is not None


def test_a_file_that_is_named_after_a_server_says_nothing_of_who_raised():
    text = (
        'Traceback (most recent call last):\n  File "C:\\AI\\vLLM_Tool.py", line 63, in <module>\n    run()\n'
        '  File "C:\\Python312\\Lib\\site-packages\\openai\\_base_client.py", line 954, in request\n    return x(\n'
    )

    assert "a traceback of the OpenAI client" in refused(text)


def test_the_words_of_an_exception_end_where_the_servers_log_goes_on():
    trace = (
        "Traceback (most recent call last):\n"
        '  File "/a/sglang/srt/multimodal/processors/base_processor.py", line 9, in load\n'
        "    raise RuntimeError(\n"
        "RuntimeError: An exception occurred while loading multimodal data: {}\n"
        '[2026-01-02 03:04:05 TP0] INFO:     127.0.0.1:9 - "POST /v1/chat/completions HTTP/1.1" 500 Internal\n'
    )
    empty, broken = said(trace.format("")), said(trace.format("[2026] is no picture"))

    assert "more placeholders than the request has media" in empty
    assert "POST" not in empty
    assert "[2026] is no picture" in broken
    assert "POST" not in broken


def test_a_log_of_a_server_with_a_longer_name_is_not_of_vllm():
    words = "ERROR:{}.models.mllm:Failed to process image: 404 Client Error: NOT FOUND for url: https://a.example/b"

    def target(name):
        trace = asyncio.run(show_evidence(read_evidence(words.format(name))))
        return trace.server_kind

    assert target("vllm") == "vllm"
    assert target("vllm_mlx") == ""


def test_the_flags_that_a_log_prints_above_its_error_are_those_of_the_server():
    flags = "{'model_tag': 'acme/Quill-9B', 'model': 'acme/Quill-9B', 'reasoning_parser': 'gemma4', 'max_model_len': 9}"
    log = (
        f"(APIServer pid=9) INFO 01-02 03:04:05 [utils.py:278] non-default args: {flags}\n"
        "(APIServer pid=9) Traceback (most recent call last):\n"
        '(APIServer pid=9)   File "/a/vllm/reasoning/basic_parsers.py", line 60, in __init__\n'
        "(APIServer pid=9)     raise RuntimeError(\n"
        "(APIServer pid=9) RuntimeError: Gemma4ReasoningParser reasoning parser could not locate think start/end "
        "tokens in the tokenizer!\n"
    )
    trace = asyncio.run(show_evidence(read_evidence(log)))

    assert trace.server.model == "acme/Quill-9B"
    assert trace.server.max_model_len == 9
    assert [one.code for one in trace.findings] == ["PD100"]
    bare = asyncio.run(show_evidence(read_evidence(log.partition("\n")[2])))
    assert not (bare.server and bare.server.model)
