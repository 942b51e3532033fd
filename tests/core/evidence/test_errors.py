"""Errors as people copy them: recognised in every dress, and left to other readers where they are none."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path

import pytest

from prompt_debugger import diagnose
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Completeness, Conclusion, Stage
from prompt_debugger.core.evidence import Form, Part, read_evidence, show_evidence
from prompt_debugger.core.evidence.errors.copied import error_of_text
from prompt_debugger.core.evidence.errors.values import error_of_value
from tests.attacks.growth import grows_linearly

WORDS = "Tool names must be unique across request and message tools."
BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}

BODIES = {
    "MiniMax": ({"base_resp": {"status_code": 2013, "status_msg": WORDS}}, None),
    "OpenAI": ({"error": {"message": WORDS, "type": "invalid_request_error", "param": "tools", "code": None}}, None),
    "vLLM": ({"object": "error", "message": WORDS, "type": "BadRequestError", "param": None, "code": 400}, 400),
    "vLLM, newer": ({"error": {"message": WORDS, "type": "BadRequestError", "param": None, "code": 400}}, 400),
    "llama.cpp": ({"error": {"code": 500, "message": WORDS, "type": "server_error"}}, 500),
    "Ollama": ({"error": WORDS}, None),
    "Anthropic": ({"type": "error", "error": {"type": "invalid_request_error", "message": WORDS}}, None),
    "Google": ([{"error": {"code": 400, "message": WORDS, "status": "INVALID_ARGUMENT"}}], 400),
    "FastAPI": ({"detail": WORDS}, None),
    "FastAPI, an error within": ({"detail": {"error": WORDS}}, None),
    "FastAPI's validation": ({"detail": [{"loc": ["body", "tools"], "msg": WORDS}]}, None),
    "Cloudflare": ({"success": False, "errors": [{"code": 7009, "message": WORDS}], "messages": []}, None),
    "Mistral": ({"object": "error", "message": WORDS, "type": "invalid_request_error", "code": "3230"}, None),
    "code and message": ({"code": 422, "message": WORDS}, 422),
    "message and param": ({"message": WORDS, "param": "tools"}, None),
    "the AI SDK's": ({"name": "AI_APICallError", "statusCode": 400, "responseBody": json.dumps({"error": WORDS})}, 400),
    "LiteLLM's proxy": ({"error": {"message": f"litellm.BadRequestError: {WORDS}", "code": "400"}}, 400),
}

PYTHON = str({"object": "error", "message": WORDS, "type": "BadRequestError", "param": None, "code": 400})
TEXTS = {
    "openai's exception": (f"BadRequestError: Error code: 400 - {PYTHON}", 400),
    "with its module": (f"openai.BadRequestError: Error code: 400 - {PYTHON}", 400),
    "broken by a terminal": (
        f"a.BadRequestError: Error code: 400 - {PYTHON.replace('across ', 'across ' + chr(10))}", 400
    ),
    "at the end of a traceback": (
        f'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\nValueError: {WORDS}\n', None
    ),
    "litellm's": (f"litellm.exceptions.BadRequestError: litellm.BadRequestError: {WORDS}", 400),
    "jinja's": (f"jinja2.exceptions.TemplateError: {WORDS}", None),
    "JavaScript's, with its stack": (f"APICallError [AI_APICallError]: {WORDS}\n    at file:///app/x.js:1:2", None),
    "continue's": (f"400 {WORDS}", 400),
    "words before a body": (f'API request failed with status 500: {{"error": {{"message": "{WORDS}"}}}}', 500),
    "a status line": (f'HTTP/1.1 422 Unprocessable Entity\ncontent-type: a\n\n{{"detail": "{WORDS}"}}', 422),
    "a status line with CRLF": (f'HTTP/1.1 400 Bad Request\r\na: b\r\n\r\n{{"error": "{WORDS}"}}', 400),
    "a line of a log": (
        f"2026-01-01 10:00:00 [INFO] x\n2026-01-01 10:00:01 [ERROR] {WORDS}\n2026-01-01 10:00:02 [INFO] y", None
    ),
    "a stream": (f'event: error\ndata: {{"error": {{"message": "{WORDS}"}}}}\n\ndata: [DONE]\n', None),
    "nothing but the sentence": (WORDS, None),
    "escaped in a log, then plain": (
        f'x body="{{\\"error\\":1}}"\nerror: 400 Bad Request - {{"error":{{"message":"{WORDS}"}}}}', 400
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "status"), BODIES.values(), ids=BODIES.keys())
def test_bodies_of_all_vendors_are_errors(body, status):
    evidence = read_evidence(json.dumps(body, indent=1))

    assert evidence.form is Form.ERROR
    assert evidence.error is not None
    assert WORDS in evidence.error.message
    assert (evidence.error.status, evidence.holds) == (status, (Part.ERROR,))


@pytest.mark.parametrize(("text", "status"), TEXTS.values(), ids=TEXTS.keys())
def test_errors_in_other_texts_are_found(text, status):
    evidence = read_evidence(text)

    assert evidence.form is Form.ERROR
    assert evidence.error is not None
    assert WORDS in " ".join(evidence.error.message.split())
    assert evidence.error.status == status
    assert "at file" not in evidence.error.message


NOT_ERRORS = {
    "a request": json.dumps(BODY),
    "an answer with an empty error": json.dumps({"choices": [], "error": None}),
    "a message": json.dumps({"role": "assistant", "content": "error"}),
    "a tool result": json.dumps({"role": "tool", "content": "x", "message": "a", "code": 400}),
    "a call of a tool named error": json.dumps({"name": "error", "arguments": {"message": "x"}}),
    "a schema": json.dumps({"type": "object", "message": "x"}),
    "details of something": json.dumps({"detail": "a", "b": 1, "c": 2, "d": 3}),
    "an empty list": "[]",
    "a script that raises": "import openai\ntry:\n    f()\nexcept ValueError as error:\n    print('Error: no')\n",
    "a raw output that quotes an error": "<tool_call>\nValueError: bad\n</tool_call>",
    "a raw output about errors": "<think>The user got a ValueError: bad.</think>Try again.",
    "a statement that raises": 'raise ValueError("Model does not support function calling")',
    "a statement that throws": 'throw new Error("System messages are only permitted as the first passed message.")',
    "a condition on an error": 'if "context_length_exceeded" in str(error):\n    shorten(messages)',
    "a log's line on a retry that succeeded": "Retry succeeded after 2 attempts (previous: 429 Too Many Requests).",
    "MiniMax's answer without an error": json.dumps({"base_resp": {"status_code": 0, "status_msg": "success"}}),
    "prose": "Exception handling is useful. Try to catch errors.",
    "a stream that has begun": 'data: {"choices": [{"delta": {}}]}\n\ndata: {"error": {"message": "x"}}\n',
}


@pytest.mark.parametrize("text", NOT_ERRORS.values(), ids=NOT_ERRORS.keys())
def test_what_is_not_an_error_is_left_to_others(text):
    form = None
    with suppress(RequestError):
        form = read_evidence(text).form

    assert form is not Form.ERROR


def test_a_request_with_its_error_is_a_run_that_was_refused():
    pair = {"request": {**BODY, "tools": []}, "response": {"error": {"message": WORDS, "code": 400}}}

    evidence = read_evidence(json.dumps(pair))
    trace = asyncio.run(show_evidence(evidence))

    assert (evidence.form, evidence.holds) == (Form.EXCHANGE, (Part.REQUEST, Part.ERROR))
    assert trace.verdict is not None
    assert trace.verdict.sentence.startswith(
        f"One tool name is declared twice, in the request and in a message: {WORDS}"
    )


@pytest.mark.parametrize(
    "pair",
    [
        {"request": BODY, "error": {"message": WORDS}},
        {"request": BODY, "response": {"status_code": 400, "body": {"error": WORDS}}},
        {"body": BODY, "response": json.dumps({"error": WORDS}), "status": 400},
        {"request": BODY, "response": f"BadRequestError: Error code: 400 - {PYTHON}"},
    ],
)
def test_the_error_may_be_in_other_places(pair):
    evidence = read_evidence(json.dumps(pair))

    assert evidence.form is Form.EXCHANGE
    assert evidence.error is not None
    assert evidence.error.message == WORDS


def test_a_request_that_cannot_be_read_does_not_hide_its_error():
    pair = {"request": {"messages": 5}, "response": {"error": WORDS}}

    evidence = read_evidence(json.dumps(pair))

    assert evidence.error is not None
    assert evidence.request is None or evidence.request.body


def test_the_quoted_output_is_the_raw_output_and_the_stage_is_parse():
    text = json.dumps({"error": "error parsing tool call: raw='{\"a\": 1}]', err=invalid character ']'"})

    evidence = read_evidence(text)
    trace = asyncio.run(show_evidence(evidence))

    assert evidence.holds == (Part.RAW, Part.ERROR)
    assert trace.raw is not None
    assert (trace.raw.text, trace.raw.completeness) == ('{"a": 1}]', Completeness.UNKNOWN)
    assert trace.verdict is not None
    assert trace.verdict.stage is Stage.PARSE
    assert [finding.code for finding in trace.findings] == ["PD445"]


def test_a_failed_generation_is_the_raw_output():
    error = {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": "<function=f{}>"}

    trace = asyncio.run(show_evidence(read_evidence(json.dumps({"error": error}))))

    assert trace.raw is not None
    assert trace.raw.text == "<function=f{}>"
    assert [finding.stage for finding in trace.findings if finding.code == "PD445"] == [Stage.PARSE]


def test_a_quoted_output_without_its_middle_is_not_read():
    text = "Invalid JSON: EOF [type=json_invalid, input_value='<tool_call> {...}', input_type=str]"

    evidence = read_evidence(text)

    assert evidence.raw is None
    assert any("omits a part" in note for note in evidence.notes)


def test_a_markdown_status_is_not_a_status_of_http():
    assert error_of_text("HTTP/1.1 200 OK\n\n{}") is None
    assert error_of_value({"choices": [{}], "error": {"message": "x"}}) is None


def test_a_web_page_has_its_title():
    found = error_of_text("HTTP/1.1 502 Bad Gateway\n\n<html><title>502 Bad Gateway</title></html>")

    assert found is not None
    assert (found.refusal.status, found.refusal.message) == (502, "a web page titled '502 Bad Gateway'")


SHAPES = {
    "errors of Python": ("", "ValueError: a\n"),
    "one long exception": ("ValueError: ", "a"),
    "dotted names": ("", "a."),
    "bodies that break off": ("x ", '{"error": {"message": '),
    "bodies of Python": ("x ", "{'error': "),
    "lines of a log": ("", "2026-01-01 10:00:00 [ERROR] failed\n"),
    "words of a log": ("2026-01-01 10:00:00 x ", "error "),
    "a status for ever": ("", "HTTP/1.1 400 a\n"),
    "events": ("", 'data: {"error": {"message": "a"}}\n\n'),
    "a stack": ("ValueError: Messages cannot be empty.", "\n    "),
}


@pytest.mark.slow
def test_faults_that_fastapi_lists_are_read_below_a_label_and_where_the_copy_ends():
    whole = (
        "EXCEPTION: [{'type': 'string_type', 'loc': ('body', 'messages', 0), 'msg': 'Input should be a valid string',"
    )
    cut = whole + " 'input': ['a', {'b': [{"

    found = error_of_text(cut)

    assert found is not None
    assert (found.refusal.field, "should be a valid string" in found.refusal.message) == ("messages[0]", True)
    assert error_of_text("SETTINGS: [{'type': 'string_type', 'default': 'a'}]") is None


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_errors_are_found_in_linear_time(shape):
    head, part = shape

    assert grows_linearly(lambda size: error_of_text(head + part * size), first=200, tries=2, doublings=6)


CORPUS = Path(__file__).resolve().parents[3].parent / "shared" / "corpus"
SEEN = {
    "wild/19/error.json": ("parse", "`]` follows the end of the JSON"),
    "wild/21/log.txt": ("parse", "`get_ecs_instructions` is truncated"),
    "wild/23/log.txt": ("parse", "`functions_Bash_2`"),
    "wild/25/error.txt": ("parse", "expected value at line 1 column 1"),
    "wild/25/pair.json": ("parse", "expected value at line 1 column 1"),
    "wild2/03/error.txt": ("render", "roles must alternate"),
    "wild2/27/error.txt": ("render", "Value is not callable"),
    "wild2/30/stream.txt": ("render", "roles must alternate"),
    "wild2/33/error.json": ("request", "No tool call found"),
    "wild2/42/log.txt": ("complete", "does not support tools"),
    "wild2/45/log.txt": ("render", "number of media markers"),
    "wild2/51/error.txt": ("request", "arguments"),
    "wild2/54/error.json": ("request", "thought_signature"),
}


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not there")
@pytest.mark.parametrize("name", SEEN)
def test_errors_of_real_reports_name_their_stage(name):
    stage, says = SEEN[name]

    trace = asyncio.run(show_evidence(read_evidence((CORPUS / name).read_text(encoding="utf-8"))))

    assert trace.verdict is not None
    assert trace.verdict.stage == stage
    assert says in trace.verdict.sentence


@pytest.mark.parametrize(
    ("text", "is_error"),
    [
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: invalid literal for int(): 'x'",
            False,
        ),
        ('Traceback (most recent call last):\n  File "a.py", line 1\njinja2.exceptions.TemplateError: Not so.', True),
        ("openai_harmony.HarmonyError: something is left over", True),
        ("KeyError: 'city'", False),
    ],
)
def test_an_exception_of_a_program_of_ones_own_is_left_to_others(text, *, is_error):
    assert (error_of_text(text) is not None) == is_error


def test_an_error_that_no_one_knows_is_shown_whole_and_no_stage_is_named():
    trace = asyncio.run(show_evidence(read_evidence(json.dumps({"error": "The flux is out of phase."}))))

    assert trace.verdict is not None
    assert trace.verdict.sentence == (
        "An error was reported: The flux is out of phase. The message does not say at which stage of a run it occurred."
    )
    assert (trace.verdict.stage, trace.verdict.conclusion) == (None, Conclusion.FAULT)
    finding = next(finding for finding in trace.findings if finding.code == "PD100")
    assert finding.fix.startswith("Find out which program printed it")


@pytest.mark.parametrize(
    "text",
    [
        '{"error": {"message": "The flux is out of phase.", "param": "flux"}}',
        "BadRequestError: Error code: 400 - {'error': {'message': 'The flux is out of phase.'}}",
    ],
    ids=["its field", "its status"],
)
def test_an_error_that_says_where_it_arose_keeps_its_stage(text):
    trace = asyncio.run(show_evidence(read_evidence(text)))

    assert trace.verdict is not None
    assert trace.verdict.stage is Stage.REQUEST


def test_a_report_with_request_and_error_names_the_messages_by_index():
    messages = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    request = json.dumps({"model": "m", "messages": messages}, indent=1)
    words = "Conversation roles must alternate user/assistant/user/assistant/..."
    error = f"BadRequestError: Error code: 400 - {{'message': '{words}', 'code': 400}}"
    report = f"I send this:\n\n```json\n{request}\n```\n\nand get\n\n```\n{error}\n```\n"

    trace = asyncio.run(show_evidence(read_evidence(report)))

    finding = next(finding for finding in trace.findings if finding.code == "PD221")
    assert "`messages[0]` and `messages[1]` both have the role `user`" in finding.detail
    assert finding.evidence[0].field == "messages[1].role"


@pytest.mark.parametrize("above", ["", 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n'])
def test_a_script_with_its_error_below_is_a_refused_request(above):
    script = f"import openai\nclient.chat.completions.create(model='m', messages={BODY['messages']})\n"

    evidence = read_evidence(f"{script}\n{above}openai.BadRequestError: Error code: 400 - {PYTHON}\n")

    assert (evidence.form, evidence.holds) == (Form.EXCHANGE, (Part.REQUEST, Part.ERROR))


def test_a_script_that_cannot_be_read_leaves_its_error():
    evidence = read_evidence(f"client.create(messages=f(x))\n\nopenai.BadRequestError: Error code: 400 - {PYTHON}\n")

    assert evidence.error is not None


PAGES = {
    "nginx": "<html>\r\n<head><title>504 Gateway Time-out</title></head>\r\n<body><hr>nginx</body></html>",
    "with a document type": "<!DOCTYPE html>\n<html lang=en><head><title> 504 Gateway Time-out</title></head></html>",
}


@pytest.mark.parametrize("page", PAGES.values(), ids=[*PAGES])
def test_the_page_of_a_proxy_is_the_error_that_its_title_names(page: str) -> None:
    found = error_of_text(page)

    assert found is not None
    assert (found.refusal.status, found.refusal.message) == (504, "504 Gateway Time-out")


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("502 Bad Gateway", (502, "Bad Gateway")),
        ("404: Not Found\n", (404, "Not Found")),
        ("HTTP 502", (502, "Bad Gateway")),
        ("status code: 404", (404, "Not Found")),
        ("422 unprocessable entity.", (422, "unprocessable entity")),
        ("422 Unprocessable Content", (422, "Unprocessable Content")),
        ("413 Payload Too Large", (413, "Payload Too Large")),
    ],
)
def test_a_status_that_stands_alone_is_an_error(text, refusal):
    found = error_of_text(text)

    assert found is not None
    assert (found.refusal.status, found.refusal.message) == refusal


@pytest.mark.parametrize(
    "text", ["500", "404 cats found", "500 tokens", "HTTP 404 page", "499 Bad Luck", "404 Not Found in it"]
)
def test_a_number_with_other_words_is_no_status(text):
    assert error_of_text(text) is None


@pytest.mark.parametrize("title", ["My 404 days", "Docs", "5040 words", "200 OK"])
def test_another_page_is_no_error(title: str) -> None:
    with pytest.raises(RequestError, match="HTML page"):
        read_evidence(f"<html><head><title>{title}</title></head><body>504</body></html>")


@pytest.mark.parametrize(
    "words",
    [
        "Budget has been exceeded! Current cost: 10.2, Max budget: 10.0",
        "Access to model org/m is restricted and you are not in the authorized list.",
        "No models loaded. Please load a model in the developer page or use the `lms load` command.",
        "Value for 'tool_choice' is enabled only for api versions 2024-06-01 and later",
        "error code: 1020",
        "RBAC: access denied",
    ],
)
def test_what_an_account_a_setting_or_a_proxy_refuses_is_not_the_requests_fault(words: str) -> None:
    verdict = diagnose(json.dumps({"error": {"message": words, "type": "invalid_request_error"}})).verdict

    assert verdict is not None
    assert verdict.stage is Stage.COMPLETE


def test_an_exception_ends_where_the_next_entry_of_the_log_begins():
    head = "ERROR 11-20 10:02:11 [serving_chat.py:201] "
    text = f'{head}jinja2.exceptions.UndefinedError: no such field\nINFO:     127.0.0.1:52110 - "POST /v1 HTTP/1.1" 400'

    found = error_of_text(text)

    assert found is not None
    assert found.refusal.message == "no such field"


def test_a_text_next_to_the_name_of_an_exception_is_its_words():
    body = {"error": "HomeAssistantError", "error_text": 'Tool "lamp.on" not found'}

    assert diagnose(json.dumps(body)).findings[0].title.startswith("A tool was called by a name")
    assert error_of_value({"error_text": "fine"}) is None


STACK = """System.ArgumentNullException: Value cannot be null. (Parameter 'bytes')
   at System.Text.Encoding.GetString(Byte* bytes, Int32 byteCount)
   at System.BinaryData.ToString()
   at Shop.OpenAI.ChatClient.GetStreamingMessagesAsync()"""


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        (STACK, "A piece of a streamed call has no arguments"),
        (STACK.replace("'bytes'", "'modelId'"), "A method of the program does not accept what it was passed"),
        (
            "Error code: 400 - messages.2.content: text cannot be null",
            "Something that the request must contain is missing or empty",
        ),
    ],
    ids=["piece of a call", "argument of a method", "field"],
)
def test_an_argument_of_a_method_is_no_field_of_the_request(text, subject):
    assert diagnose(text).findings[0].title.startswith(subject)


def test_an_answer_in_a_line_of_a_log_that_breaks_off_is_read():
    call = {"type": "function", "function": {"name": "look", "arguments": "{}"}}
    answer = {"choices": [{"message": {"role": "assistant", "tool_calls": [call]}}], "usage": {"a": 1}}
    cut = json.dumps(answer)[:-4]

    for line in ("INFO:agent.events:", "2026-01-02 03:04:05.678 DEBUG (Main) [chat_log] Answer "):
        read = read_evidence(f"{line}{cut}")
        assert read.words == "a fragment of an answer, 1 tool call"
    with pytest.raises(RequestError):
        read_evidence(f"It is a note of mine: {cut[:30]}")
