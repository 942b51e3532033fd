"""Refusals and broken streams as clients and gateways show them: what each is about, and near misses that are not."""

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.complete.backends.error_words import words_of_value
from prompt_debugger.core.complete.backends.listed_faults import faults_in
from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.evidence.values.printed_values import plain_of_rust
from prompt_debugger.core.known_errors import innermost, quoted_output
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import shown

FENCE = "```"


def findings_of(text):
    return {finding.code: finding for finding in shown(text).findings}


def test_what_the_sdk_for_java_adds_to_a_message_does_not_hide_its_words():
    text = (
        "2026-01-02 03:04:05,678 ERROR [a.b.Handler] (thread-1) HTTP Request to /v1/chat/completions failed, error id: "
        "1-2: x.InvalidRequestException: messages.5.content: Conversation blocks and tool use blocks cannot be "
        "provided "
        "in the same turn. (Service: BedrockRuntime, Status Code: 400, Request ID: 7) (SDK Attempt Count: 1)\n"
        "\tat x.y.Mapper.map(Mapper.java:71)"
    )

    found = findings_of(text)["PD100"]

    assert "Conversation blocks" in found.title
    assert "not shown" not in found.title
    assert found.stage.value == "request"


def test_a_status_of_a_client_alone_is_still_without_words():
    assert "not shown" in findings_of("openai: Request failed with status code 422")["PD100"].title


def test_a_sentence_without_its_code_marks_is_known_inside_a_fence():
    text = f"{FENCE}\nmessages.4: Did not find 2 tool_result block(s) at the beginning of this message.\n{FENCE}"

    assert "Did not find 2" in findings_of(text)["PD100"].title


@pytest.mark.parametrize(
    ("text", "is_bytes"),
    [
        ("API Error: 413 request body exceeds the configured payload limit", True),
        ("API Error: 400 prompt has 9000 tokens, which exceeds the maximum context length of 4096 tokens", False),
    ],
)
def test_a_limit_of_bytes_is_not_the_context(text, is_bytes):
    title = findings_of(text)["PD100"].title

    assert ("bytes" in title) is is_bytes
    assert ("context" in title.partition(":")[0]) is not is_bytes


def test_a_null_among_the_pieces_of_a_stream_is_no_empty_answer():
    text = (
        "LiteLLM:ERROR: x.py:5 - Exception occured - sequence item 3: expected str instance, NoneType found\n"
        'Traceback (most recent call last):\n  File "/a/site-packages/litellm/llms/x.py", line 7, in stream\n'
        '    text = first + "".join(pieces)\nTypeError: sequence item 3: expected str instance, NoneType found'
    )

    found = findings_of(text)

    assert "pieces" in next(iter(found.values())).title
    assert all("`content` is null" not in finding.detail for finding in found.values())


def test_what_the_model_wrote_is_read_where_dspy_quotes_it():
    text = (
        "> ERROR dspy: Adapter JSONAdapter failed to parse the LM response.\n>\n"
        '> LM Response: {"name": "json_tool_call", "parameters": {"a": "b"}}\n>\n'
        "> Expected to find output fields in the LM response: [a]\n"
    )

    quoted = quoted_output(text)
    found = findings_of(text)["PD445"]

    assert quoted.text == '{"name": "json_tool_call", "parameters": {"a": "b"}}'
    assert "does not quote" not in found.detail


@pytest.mark.parametrize(
    "text", ["Adapter JSONAdapter failed to parse the LM response.", "The LM Response: {} was fine."]
)
def test_without_the_response_nothing_is_quoted(text):
    assert quoted_output(text) is None


FAULTS = (
    "[{'type': 'literal_error', 'loc': ('body', 'messages', 1, 'typed-dict', 'role'), 'msg': \"Input should be "
    "'system'\", 'input': 'user'}, {'type': 'extra_forbidden', 'loc': ('body', 'messages', 1, 'typed-dict', 'sent_by'),"
    " 'msg': 'Extra inputs are not permitted', 'input': 'x'}, {'type': 'extra_forb"
)


def test_a_field_too_many_is_told_and_not_the_form_that_was_tried_first():
    words = words_of_value({"message": FAULTS})

    assert words.field == "messages[1].sent_by"
    assert "system" not in words.text


def test_a_role_that_no_form_has_is_told_where_no_field_is_too_many():
    one = FAULTS[: FAULTS.index(", {'type': 'extra")] + "]"

    assert words_of_value({"message": one}).field == "messages[1].role"


def test_a_list_that_was_cut_before_its_first_entry_ends_has_no_faults():
    assert faults_in(FAULTS[:60]) == []


def test_a_body_that_python_printed_and_a_terminal_broke_is_read():
    escaped = FAULTS.replace("'", "\\'").replace("not permitted", "not permitted")
    text = f"openai.BadRequestError: Error code: 400 - {{'object': 'error', 'message': '{escaped}"

    assert "`messages[1].sent_by`" in findings_of(text)["PD100"].title


def test_a_field_that_vllm_removed_is_not_said_to_be_ignored_by_a_server_that_refused_it():
    request = '{"model": "m", "messages": [{"role": "user", "content": "hi"}], "guided_json": {"type": "object"}}'
    refusal = '{"object": "error", "message": "GuidedDecoder is not setup.", "code": 400}'

    assert "PD127" in findings_of(request)
    assert "PD127" not in findings_of(
        f"I send this:\n{FENCE}\n{request}\n{FENCE}\nand get\n{FENCE}\n{refusal}\n{FENCE}"
    )


def test_words_of_minijinja_are_not_those_of_another_engine():
    found = findings_of("422 client error - Template error: unknown test: test odd_one is unknown (in <string>:9)")

    assert "minijinja" in found["PD221"].detail


def test_a_program_that_is_not_about_calls_may_print_an_object():
    with pytest.raises(RequestError):
        read_evidence('Uncaught SyntaxError: "[object Object]" is not valid JSON at cart.js:5:3')


@pytest.mark.parametrize("part", ["LM Response:", "> ", "sequence item 1", "body exceeds the ", "{'type': "])
def test_time_grows_linearly_with_hostile_words(part):
    start = "failed to parse the LM response. "

    assert grows_linearly(lambda size: quoted_output(start + part * size), first=50, tries=2, doublings=6)
    assert grows_linearly(lambda size: faults_in("[{'type': " + part * size), first=50, tries=2, doublings=6)


def test_an_empty_list_is_not_a_value_of_another_type():
    found = findings_of(
        "{“error”: {“message”: “Invalid ‘messages[4].tool_calls’: empty array. Expected an array with minimum length "
        "1, but got an empty array instead.”, “type”: “invalid_request_error”, “param”: “messages[4].tool_calls”}}"
    )["PD100"]

    assert "empty list" in found.title
    assert '""' not in found.fix


def test_arguments_that_a_server_cannot_decode_are_of_the_request():
    head = "ERROR 02-08 11:19:09 serving_chat.py:193]"
    frames = (
        f'{head}     raise JSONDecodeError("Expecting value", s, err.value) from None\n'
        f"{head} json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n"
    )
    made = shown(f"{frames}ERROR 02-08 11:19:12 serving_chat.py:193] Error in preprocessing prompt inputs")

    assert made.verdict.stage.value == "render"
    assert "in the messages" not in shown(frames).verdict.sentence


RUST = (
    'Server error: Some(Object {"error": Object {"code": Number(500), "message": String("do load request: Post '
    '\\"http://127.0.0.1:1/load\\": EOF"), "param": Null, "list": Array [Bool(true)]}})'
)


def test_a_body_that_rust_printed_is_read():
    assert "do load request" in findings_of(RUST)["PD100"].title
    assert plain_of_rust("fn f(x: Object) -> String(5)") == "fn f(x: Object) -> String(5)"


def test_a_quotation_mark_that_was_not_escaped_does_not_end_the_words():
    found = findings_of(
        'NonTransientAiException: 400 - {"object":"error","message":"can only concatenate str '
        '(not "dict") to str","type":"BadRequestError","param":null,"code":400}'
    )

    assert '(not "dict") to str' in found["PD221"].title


@pytest.mark.parametrize(
    "text",
    [
        '{"error": {"message": "No.", "note": "a \\"b\\" c"}}',
        "Error code: 400 - {'error': {'message': 'No.', 'x': 'y'}}",
    ],
)
def test_words_end_where_they_are_closed(text):
    assert innermost(text).words == "No."


def test_a_body_whose_lines_a_terminal_broke_is_read():
    found = findings_of(
        'API Error: 400 {"error":{"message":"Error from provider: {\\n\n    \\"error\\": {\\n    '
        '\\"message\\": \\"Invalid\n'
        '    JSON payload received. Unknown name \\\\\\"const\\\\\\" at\n    \'tools[0].function_declarations[3].para\n'
        "    meters.properties[1].value': Cannot find field.\\\",\\n"
    )["PD100"]

    assert "`const`" in found.fix
    assert "function_declarations[3].parameters" in found.detail


def test_prose_below_a_body_that_was_cut_is_not_part_of_its_words():
    text = 'Error code: 400 - {"error": {"message": "Unknown name of a field: const\n\nThis began with the new release.'

    assert "new release" not in findings_of(text)["PD100"].title


def test_a_key_that_was_meant_for_a_local_server_shows_who_answered():
    body = "{'error': {'message': 'Incorrect API key provided: lm-studio. You can find your API key at "
    found = findings_of(f"OpenAIException - Error code: 401 - {body}https://platform.openai.com/account/api-keys.'}}}}")

    assert "LM Studio" not in found["PD100"].detail
    assert "wrong address" in found["PD100"].fix


def test_the_line_of_a_frame_says_more_than_the_words_of_a_decoder():
    decoder = "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"
    found = findings_of(f"  tool_call = json.loads(tool_text.strip())\n  {decoder}")

    assert "mlx-lm" in found["PD445"].detail
    assert "mlx-lm" not in findings_of(f"  settings = json.loads(text)\n  {decoder}")["PD445"].detail


def test_words_on_an_approach_are_not_of_two_settings():
    with pytest.raises(RequestError):
        read_evidence(
            "System.Exception: The LLM is not compatible with this approach.\n   at A.B.RunAsync(String task)"
        )
    title = findings_of('{"error": {"message": "tools is not compatible with logprobs"}}')["PD100"].title

    assert "exclude each other" in title


def test_an_answer_that_a_server_refuses_itself_is_not_laid_to_the_request():
    text = (
        "fastapi.exceptions.ResponseValidationError: 1 validation errors:\n"
        "  {'type': 'missing', 'loc': ('response', 'Out', 'choices', 0, 'message', 'refusal'), 'msg': 'Field required'}"
    )
    made = shown(text)
    asked = shown(text.replace("ResponseValidationError", "RequestValidationError").replace("'response'", "'body'"))

    assert made.verdict.stage.value == "complete"
    assert asked.verdict.stage.value == "request"


CUT_IN_VALUE = (
    "Exception: [\n{'type': 'literal_error', 'loc': ('body', 'messages', 2, 'typed-dict', 'role'), 'msg': \"Input "
    "should "
    "be 'system'\", 'input': 'assistant'},\n{'type': 'missing', 'loc': ('body', 'messages', 2, 'typed-dict', "
    "'content'), "
    "'msg': 'Field required', 'input': {'role': 'assistant', 'function_call': {'arguments': '{\"a\": "
)


def test_a_fault_that_is_cut_within_its_value_is_kept():
    found = findings_of(CUT_IN_VALUE)["PD100"]

    assert "messages[2].content" in found.title
    assert "system" not in found.title


def test_a_missing_id_does_not_hide_a_role_that_no_form_has():
    other = CUT_IN_VALUE.removeprefix("Exception: ").replace("'content')", "'tool_call_id')")

    assert "messages[2].role" in words_of_value({"message": other}).text


def test_the_setting_that_is_named_after_the_words_is_told():
    words = "400 Bad Request: Argument not supported on this model: reasoningEffort"

    assert "`reasoningEffort`" in findings_of(f"POST https://api.x.ai/v1/chat/completions: {words}")["PD100"].fix


def test_a_method_of_a_server_that_does_not_fit_is_not_a_field_of_the_request():
    of_server = shown(
        "ERROR: TypeError: QuickContainer.stream_generate() got an unexpected keyword argument 'max_tokens'"
    )
    assert of_server.verdict.stage.value == "complete"


def test_the_program_that_says_404_page_not_found_is_not_called_a_proxy():
    found = findings_of("API Error: 404 404 page not found")["PD100"]

    assert "proxy in front" not in found.detail
    assert "Claude Code" in found.fix


def test_an_answer_in_another_form_that_an_agent_reports_below_its_line_is_told():
    log = (
        "INFO     [agent]\nERROR    [agent] Result failed 1/3 times:\n Could not parse response.\nINFO     [agent] next"
    )

    assert "browser-use" in findings_of(log)["PD445"].detail


def test_a_key_that_a_plug_in_of_dify_missed_is_not_laid_to_the_answer():
    kind = '[v] Error: PluginInvokeError: {"args":{},"error_type":"KeyError","message":"\'name\'"}'
    made, other = shown(f"Run failed: {kind}"), shown('{"error": "KeyError: \'name\'", "model": "m", "choices": []}')

    assert "Dify" in made.findings[0].detail
    assert all("Dify" not in finding.detail for finding in other.findings)


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("tools[0].function_declarations[1].parameters", "out of the schema"),
        ("tools[2]", "convert the tools"),
        ("generation_config.thinking", "the place that the API reference gives"),
    ],
)
def test_what_gemini_does_not_know_depends_on_where_it_is(place, says):
    words = f"Invalid JSON payload received. Unknown name \\\"lc\\\" at '{place}': Cannot find field."

    assert says in findings_of(f'{{"error": {{"code": 400, "message": "{words}"}}}}')["PD100"].fix
