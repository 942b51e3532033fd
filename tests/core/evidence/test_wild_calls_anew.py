"""What people paste about tool calls: HTTP heads above bodies, ids that change within a call, names of other tools."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.diagnose.calls.malformed_tags import malformed_call
from prompt_debugger.core.evidence import read_evidence
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import shown

ASKED = """curl http://localhost:9/v1/chat/completions -d '{"model":"m","messages":[{"role":"user","content":""}]}'\n"""


def said(text: str) -> str:
    trace = shown(text)
    return " ".join(f"{one.title} {one.detail} {one.fix}" for one in trace.findings)


@pytest.mark.parametrize("above", ["", ASKED])
@pytest.mark.parametrize("between", ["\n", "\nServer: small\nContent-Type: application/json\n\n"])
def test_the_body_below_a_status_says_what_is_wrong(above, between):
    body = '{"error": "the JSON object must be str, bytes or bytearray, not dict"}'
    text = f"{above}HTTP/1.0 404 Not Found{between}{body}\n"

    assert "wrong address" not in said(text)
    assert "send the `arguments` of the calls in the history as a text" in said(text)
    assert not any("another error, too" in note for note in read_evidence(text).notes)


@pytest.mark.parametrize("between", ["\n", "\nServer: small\n\n"])
def test_a_body_that_says_nothing_more_leaves_the_status(between):
    assert "wrong address" in said(f'{ASKED}HTTP/1.1 404 Not Found{between}{{"detail": "Not Found"}}\n')


def test_many_heads_are_read_once():
    assert shown("HTTP/1.1 404 Not Found\n" * 4_000 + '{"error": "no"}').findings


def test_a_tool_that_only_its_prefix_hides_is_named():
    text = "Model tried to call unavailable tool 'ProxyLook'. Available tools: invalid, look, look_up."

    assert "`ProxyLook` is the available tool `look`" in said(text)
    assert "is the available tool" not in said(text.replace("ProxyLook", "proxylooks"))


def test_the_wrapper_of_parallel_calls_is_no_tool_to_declare():
    text = said("Model tried to call unavailable tool 'multi_tool_use.parallel'. Available tools: look, run.")

    assert "`tool_uses`" in text
    assert "Declare the tool" not in text


QUOTED = '{"name": "save", "arguments": {"path": "a.html", "content": "<p class="x">\\n"}}'


@pytest.mark.parametrize("text", [QUOTED, f"It prints the JSON:\n```json\n{QUOTED}\n```\n"])
def test_a_quotation_mark_that_is_not_escaped_breaks_a_call_in_bare_json(text):
    assert "a call to `save` that is malformed: `x` is not allowed there" in said(text)
    assert "inside one it has to be escaped" in said(text)


@pytest.mark.parametrize("content", [QUOTED, f"```json\n{QUOTED}\n```"])
def test_content_with_such_a_call_is_no_parsers_fault(content):
    assert "Content is a call to `save` in JSON that is malformed" in said(_message(content))


@pytest.mark.parametrize(
    "content",
    [
        '{"name": "save", "arguments": {"path": "a.html"}} is the call, {x}',
        '{"name": "save", "arguments": {"path": "a\n.html"}}',
        '{"name": "Ann", "notes": {"path": "a.html", "said": "<p class="x">"}}',
    ],
)
def test_other_content_is_no_malformed_call(content):
    assert "malformed" not in said(_message(content))


def _message(content: str) -> str:
    return json.dumps({"role": "assistant", "content": content})


@pytest.mark.parametrize(
    "call", ['[TOOL_CALLS]save{"path": "a", "content": "b."}', '[TOOL_CALLS]save{"content": "b."}']
)
def test_an_argument_named_content_does_not_make_an_output_an_answer(call):
    assert "a call to `save`" in said(call)
    assert "a call to `save`" in said(f"It comes back like this:\n\n```\n{call}\n```\n")


@pytest.mark.parametrize("arguments", ['{"a" 1}', '{"a": 1}{"a": 2}'])
def test_the_calls_of_a_message_alone_are_whole(arguments):
    call = json.dumps([{"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}], indent=2)

    assert "The arguments of the call to `f`" in said(f'"tool_calls": {call},\n')
    shortened = call.replace(json.dumps(arguments), '"..."')
    with pytest.raises(RequestError, match="shortened"):
        read_evidence(f'"tool_calls": {shortened},\n')


def test_calls_alone_show_which_has_no_name():
    head = {"id": "c1", "function": {"name": "f", "arguments": ""}}
    rest = {"id": None, "function": {"name": None, "arguments": "{}"}}

    assert "both entries are one call" in said('"tool_calls": ' + json.dumps([head, rest]))


def test_healthy_calls_alone_have_no_fault():
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}

    assert not shown('"tool_calls": ' + json.dumps([call])).findings


HALF = '<tool_call>\n<function>look</function>\n{"at": "x"}\n</tool_call>'


def test_a_call_half_in_tags_and_half_in_json_is_malformed():
    assert "a call to `look` that is malformed: its name is in a tag" in said(HALF)
    assert "it is malformed: it begins with `look`" in said(_message(f"Let me see.\n{HALF}"))


def test_the_tags_of_such_a_call_in_a_sentence_are_no_call():
    assert "malformed" not in said(_message("A call is `<tool_call><function>NAME</function>`, then its JSON."))


def dsml(opened="tool_calls", invoke="invoke", parameter="parameter", closed="parameter"):
    mark = "｜DSML｜"
    inner = f'<{mark}{parameter} name="at" string="true">x</{mark}{closed}>'
    return f'<{mark}{opened}>\n<{mark}{invoke} name="look">\n{inner}\n</{mark}invoke>\n</{mark}tool_calls>'


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (dsml(invoke="invke"), "its tag `invke` is a misspelt `invoke`"),
        (dsml(parameter="paramter"), "its tag `paramter` is a misspelt `parameter`"),
        (dsml(closed="param"), "its tag `param` is a misspelt `parameter`"),
    ],
)
def test_a_misspelt_tag_of_dsml_is_named(call, problem):
    assert problem in said(call)
    assert "malformed" in said(_message(f"Let me see.\n{call}"))


@pytest.mark.parametrize(
    "text",
    [dsml(), dsml(parameter="value", closed="value"), "V4 writes `<｜DSML｜invke>` where `<｜DSML｜invoke>` belongs."],
)
def test_whole_calls_other_words_and_mentions_of_dsml_are_not_misspelt(text):
    assert malformed_call(text) is None


def test_misspelt_tags_are_looked_for_in_linear_time():
    assert grows_linearly(lambda size: malformed_call('<｜DSML｜invke name="a">' * size), first=2_000)


def test_a_command_with_its_path_ends_before_the_words_below_it():
    text = (
        "/opt/env/bin/vllm serve some/model \\\n  --port 8000 \n\nThis is what it writes:\n\n"
        '`[TOOL_CALLS]save[ARGS]{"path": "a"}`\n'
    )

    assert read_evidence(text).raw == '[TOOL_CALLS]save[ARGS]{"path": "a"}'


@pytest.mark.parametrize(
    ("inner", "says"),
    [
        ({"at": "x"}, "Take the object under"),
        ({"at": {"type": "string"}}, "Do not run this call"),
        ({}, "Call the tool without arguments"),
    ],
)
def test_arguments_in_the_form_of_a_schema_are_no_arguments(inner, says):
    arguments = {"type": "object", "properties": inner}

    assert "have the form of a schema" in said(_called(arguments))
    assert says in said(_called(arguments))
    assert "the form of a schema" in said(json.dumps({"name": "look", "parameters": arguments}))


@pytest.mark.parametrize(
    "arguments",
    [{"type": "box", "properties": {"a": 1}}, {"type": "object", "properties": []}, {"type": "object", "at": "x"}],
)
def test_parameters_that_are_called_so_are_no_schema(arguments):
    assert "form of a schema" not in said(_called(arguments))


def test_a_tool_may_have_a_parameter_that_is_called_properties():
    parameters = {"type": "object", "properties": {"type": {"type": "string"}, "properties": {"type": "object"}}}
    tool = {"type": "function", "function": {"name": "look", "parameters": parameters}}
    request = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Look."}], "tools": [tool]})

    assert "form of a schema" not in said(f"{request}\n\n{_called({'type': 'object', 'properties': {'a': 1}})}\n")


def _called(arguments: dict[str, object]) -> str:
    function = {"name": "look", "arguments": json.dumps(arguments)}
    call = {"id": "c1", "type": "function", "function": function}
    return json.dumps({"role": "assistant", "content": None, "tool_calls": [call]})


@pytest.mark.parametrize(
    ("content", "parser"),
    [
        ('Let me see.\n<tool_call>\n{"name', "hermes"),
        ("<tool_call>\n<function=lo", "qwen3_coder"),
        ("I look.\n\n<\uff5cDSML\uff5cfunction_calls", "deepseek_v32"),
    ],
)
def test_content_that_ends_where_a_call_begins_names_the_parser(content, parser):
    assert "A tool call begins in content" in said(_message(content))
    assert f"--tool-call-parser {parser}" in said(_message(content))


@pytest.mark.parametrize("content", ["A call begins with `<tool_call>{`", "It begins with <tool_call> and goes on."])
def test_a_marker_that_is_talked_about_begins_no_call(content):
    assert "begins in content" not in said(_message(content))


def test_groqs_reason_is_not_what_the_model_wrote():
    reason = "Tool use failed: JSON does not match the expected schema for tool calls"
    error = {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": reason}

    evidence = read_evidence(json.dumps({"error": error}))

    assert evidence.raw is None
    assert evidence.error is not None


def test_an_enumeration_that_python_prints_is_its_member():
    text = "finish_reason: FinishReason.stop\ntool_calls: []\ncontent: Here you are.\n"

    assert read_evidence(text).finish_reason == "stop"


def test_the_name_that_opencode_refused_ends_before_its_error():
    text = "invalid [tool=look<arg_key>at</arg_key>, error=Model tried to call unavailable tool 'x'. Available: y.]"

    assert "'look<arg_key>at</arg_key>'" in said(text)


PIECES = ("<tool_call>\\n{", '\\"name\\": \\"look\\", ', '\\"arguments\\": {}}\\n</tool_call>')
EVENTS = [f'{{"id": "c", "choices": [{{"index": 0, "delta": {{"content": "{piece}"}}}}]}}' for piece in PIECES]


@pytest.mark.parametrize(
    "lines",
    [
        json.dumps([f"data: {event}" for event in EVENTS] + ["data: [DONE]"]),
        str([part for event in EVENTS for part in (f"data: {event}", "")]),
        json.dumps([*EVENTS, "[DONE]"], indent=1),
    ],
)
def test_a_list_of_the_lines_of_a_stream_is_that_stream(lines):
    assert "A tool call to `look` is in content" in said(lines)


@pytest.mark.parametrize("lines", ['["data: a", "b"]', '["{\\"a\\": 1}", "{}"]', '["data: {\\"a\\": 1}"]'])
def test_other_lists_of_strings_are_no_stream(lines):
    with pytest.raises(RequestError):
        read_evidence(lines)


def test_a_flood_of_listed_lines_is_read_in_time():
    with pytest.raises(RequestError):
        read_evidence("[" + '"data: ' * 20_000)


def test_llama_index_asks_again_for_a_step_that_it_could_not_read():
    text = "Error: Could not parse output. Please follow the thought-action-input format. Try again."

    assert "could not read the model's last step" in said(text)


def test_a_name_next_to_the_function_of_a_tool_is_said_to_belong_inside():
    tool = {"type": "function", "name": "look", "function": {"parameters": {"type": "object"}}}

    with pytest.raises(RequestError) as caught:
        read_evidence(json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": [tool]}))

    assert caught.value.hint == "Move its `name` into `function`."


def test_an_error_that_a_terminal_broke_within_a_key_is_read():
    text = (
        'API Error: 400 {"type":"error","error":{"type":"invalid_request_error","mess\n'
        '    age":"tools.2.custom.sample: Extra inputs are not \n    permitted"},"request_id":"r1"}\n'
    )

    assert "Leave `tools[2].sample` out" in said(text)


def test_a_tool_that_lacks_its_parameters_is_no_refused_request():
    text = said(
        "InputValidationError: Save failed due to the following issues:\nThe required parameter path is missing\n"
        "An unexpected parameter raw_arguments was provided"
    )

    assert "did not decode or join them" in text
    assert "The request has a field" not in text


def test_clients_words_of_pieces_and_tools_are_known():
    assert "the empty `tool_calls`" in said("additional_kwargs[tool_calls] already exists in this message chunk.")
    assert "Spring AI" in said("java.lang.IllegalStateException: No ToolCallback found for tool name: finish")


def test_headers_of_openais_models_in_content_are_no_calls():
    content = "null to=functions.edit  words json\nto=functions.edit {more\nto=functions.edit  json"

    assert "Content consists of headers of calls to `edit`" in said(_message(content))


@pytest.mark.parametrize(
    "content",
    [
        "The header is to=functions.edit there.\nto=functions.edit comes again.",
        "```\nto=functions.edit\nto=functions.edit\n```",
        "to=functions.edit is how it begins.",
    ],
)
def test_words_about_such_headers_are_an_answer(content):
    assert "headers of calls" not in said(_message(content))


def test_a_call_that_a_limit_cut_needs_more_tokens_first():
    message = {"role": "assistant", "content": '<tool_call>\n{"na'}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "length"}]}

    assert "Raise `max_tokens`: the limit ended the output within the call." in said(json.dumps(body))
    assert "Raise `max_tokens`: the limit" not in said(json.dumps(message))
