"""Calls that a log, a script or a copied piece of a conversation shows: what is read of them, and what is not."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.diagnose.near_names import closest
from prompt_debugger.core.evidence import Part, read_evidence
from prompt_debugger.core.evidence.logs.partial_parse import drop_progress
from tests.core.evidence.pasted import said, shown


def codes(text: str) -> set[str]:
    return {one.code for one in shown(text).findings}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            '10:02:11 Unrepairable: {"mode": list_all"}  <- tool_calls, retried',
            "`list_all` has no opening quotation mark",
        ),
        ("WARN could not parse tool arguments: {'city': 'Oslo', 'days': 3}", "Python repr"),
        (
            'call 0 id="call_7" name="read" arguments="{\\"p\\":\\"a\\"}{\\"p\\":\\"b\\"}"',
            "call to `read` contain 2 JSON objects",
        ),
    ],
)
def test_arguments_that_a_line_quotes_are_read(line, says):
    assert says in said(f"agent started\n{line}\nagent stopped")


@pytest.mark.parametrize(
    "line",
    [
        'could not parse tool arguments: {"city": "Oslo", "text": "It ra',  # a log may have cut it
        'could not parse tool arguments: {"city": "Oslo", ...}',
        'invalid request: {"model": m, "messages": []}',
    ],
)
def test_what_a_log_may_have_cut_or_is_no_call_is_not_read_as_broken(line):
    try:
        found = codes(f"agent started\n{line}\nagent stopped")
    except RequestError:
        found = set()
    assert not found & {"PD450", "PD451", "PD506", "PD320"}


def test_the_words_of_the_line_are_no_error_of_the_request():
    text = 'Unrepairable: {"mode": list_all"} malformed JSON in tool_calls\n'

    assert "PD100" not in codes(text)


def test_an_output_that_is_a_field_of_a_log_is_read_without_its_escapes():
    call = "<tool_call>\\n<function=run>\\n<parameter=cmd>\\nls\\n</parameter>\\n</function>\\n</tool_call>"
    line = f'[stream] DEBUG: finish check | tid="1" generated_text="{call}" model_name="m" tool_calls_count=0'
    trace = shown(line)

    assert trace.raw is not None
    assert trace.raw.text.startswith("<tool_call>\n<function=run>")
    assert "PD401" in {one.code for one in trace.findings}


PARTIAL = """srv  update_chat_: Parsing chat message: {"tool_call": {"name": "snap", "arguments": {"to": "pa
Parsing input with format Generic: {"tool_call": {"name": "snap", "arguments": {"to": "pa
Failed to parse up to error: [json.exception.parse_error.101] parse error at line 1, column 60: missing closing quote
Parsed partial JSON: {"tool_call":{"name":"snap","arguments":{"to":"pa1234"}}} (json_healing_marker: "1234)
Partial parse: incomplete tool call
Parsed message: {"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"snap","arguments":"{\\"to\\":"}}]}
"""  # noqa: E501  # as llama.cpp logs it
CRASH = """terminate called after throwing an instance of 'std::runtime_error'
  what():  Invalid diff: '{"to":"pa' not found at start of '{"to":'
Aborted (core dumped)
"""


def test_half_an_output_of_a_stream_is_neither_cut_nor_answered():
    trace = shown(PARTIAL)

    assert trace.chat is None
    assert not trace.findings
    assert any("while it was streamed" in note for note in trace.notes)


def test_a_crash_below_half_an_output_is_the_error():
    assert "its reader of half a call is at fault" in said(PARTIAL + CRASH)
    assert codes(PARTIAL + CRASH) == {"PD445"}


def test_what_was_parsed_whole_stays():
    text = 'Parsing input with format Generic: {"tool_call": 1}\nParsed message: {"role":"assistant","content":"x"}\n'

    assert drop_progress(text) == text


RESULT = '{"role": "tool", "tool_call_id": "call_a1", "content": "ok"}'
FUNCTION = '{"name": "f", "arguments": "{}"}'
CALL = f'{{"id": "call_a1", "type": "function", "function": {FUNCTION}}}'
CALLS = f'{{"role": "assistant", "content": "", "tool_calls": [{CALL}]}}'
LAST = '{"role": "tool", "tool_call_id": "", "content": "no such tool"}'
EMPTY = '{"role": "assistant", "content": "done", "tool_calls": [{"id": "", "type": "function"}]}'


def test_messages_without_the_brackets_of_their_list_are_a_request():
    evidence = read_evidence(f"{CALLS},\n{RESULT},")

    assert evidence.holds == (Part.REQUEST,)
    assert not codes(f"{CALLS},\n{RESULT}")


def test_a_call_of_the_history_without_name_and_id_is_told():
    assert "messages[2].tool_calls[0]` of the history has neither a name nor an id" in said(
        f"{CALLS},\n{RESULT},\n{EMPTY},\n{LAST}"
    )


def test_a_result_of_which_the_call_was_not_copied_is_not_unpaired():
    assert not codes(f"{RESULT},\n" + '{"role": "user", "content": "thanks"}')


def test_a_joined_id_shows_in_a_piece_that_javascript_printed():
    piece = "{\n    role: 'tool',\n    content: 'ok',\n    tool_call_id: 'call_9zk1call_9zk1call_9zk1'\n},"

    assert "is `call_9zk1`, 3 times" in said(piece)


STREAM = "".join(
    f'data: {{"object":"chat.completion.chunk","choices":[{{"index":0,"delta":{delta},"finish_reason":{word}}}]}}\n\n'
    for delta, word in (('{"role":"assistant","content":"a"}', "EMPTY"), ('{"content":"b"}', "EMPTY"), ("{}", '"stop"'))
)


def test_an_empty_finish_reason_before_the_end_of_a_stream_is_a_note():
    assert "2 events of the stream have an empty string as finish_reason" in said(STREAM.replace("EMPTY", '""'))
    assert not codes(STREAM.replace("EMPTY", "null"))


def test_text_in_place_of_a_tools_name_is_told():
    call = "<tool_use>\n<name>look\n\nIt will rain in Oslo.</name>\n<arguments>{}</arguments>\n</tool_use>"

    assert "has other text where its tool's name belongs" in said(call)
    assert "other text where" not in said(call.replace("look\n\nIt will rain in Oslo.", "look"))


BARE = '{"name": "f", "arguments": {"a": 1}}'


def test_bare_json_of_an_unknown_model_asks_which_one():
    answer = json.dumps({"choices": [{"message": {"role": "assistant", "content": BARE}}]})

    assert "Find out which model wrote it" in said(answer)
    assert "find out which model wrote it" in said(BARE)


def test_bare_json_of_a_model_that_writes_markup_is_not_sent_to_llamas_parser():
    message = {"role": "assistant", "content": BARE}
    answer = json.dumps({"model": "Qwen/Qwen3-8B", "choices": [{"message": message, "finish_reason": "stop"}]})

    assert "llama3_json" not in said(answer)
    assert "`hermes`" in said(answer)


def test_the_closest_name_is_found_in_bounded_time():
    assert closest("get_wether", ["get_weather"]) == "get_weather"
    assert closest("x" * 100_000, ["x" * 100_000]) is None


FAULT = "1 validation error for {}\n{}\n  Input should be a valid {} [type={}_type, input_value={}, input_type={}]"


@pytest.mark.parametrize(
    "text",
    [
        FAULT.format("Message", "tool_calls.0.function.arguments", "dictionary", "dict", """'{"a": 1}'""", "str"),
        FAULT.format("ChatCompletionDeltaToolCall", "function.arguments", "string", "string", "None", "NoneType"),
    ],
)
def test_a_class_of_an_answer_that_does_not_fit_is_no_refusal_of_the_request(text):
    assert "refused the request" not in said(text)
    assert all(one.stage != "request" for one in shown(text).findings)


def test_a_class_of_a_request_that_does_not_fit_is_one():
    text = FAULT.format("ChatCompletionRequest", "messages.0.content", "string", "string", "1", "int")

    assert "`messages[0].content` of the request" in said(text)
