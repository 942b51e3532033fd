"""Calls as reports show them: in several fences, as placeholders, one a line, streamed and whole, as a conversation."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.diagnose.fields import returned_calls
from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.recognise import recognise
from tests.core.evidence.pasted import shown

CALL = '<tool_call>\n{"name": "find_book", "arguments": {"isbn": "7"}}\n</tool_call>'


def found(text: str) -> set[str]:
    return {finding.code for finding in shown(text).findings}


def call_of(arguments: str, **fields: object) -> dict[str, object]:
    return {"id": "a", "type": "function", "function": {"name": "find_book", "arguments": arguments}, **fields}


def test_of_outputs_in_several_fences_one_is_read_without_the_words_of_the_report():
    text = (
        f"One delta holds it:\n\n```text\n{CALL}\n```\n\nthe parser drops it. Later:\n\n```text\nSure.\n{CALL}\n```\n"
    )

    evidence = read_evidence(text)

    assert evidence.raw.strip() == CALL
    assert any("2 raw outputs" in note for note in evidence.notes)


def test_fences_that_a_model_wrote_stay_in_its_output():
    text = f"{CALL}\n```json\n{{}}\n```\nand\n```text\n{CALL}\n```"

    assert read_evidence(text).raw == text


def test_how_calls_look_in_general_is_no_output():
    answer = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant"}, "finish_reason": "stop"}]})

    assert (
        read_evidence(f"It writes `[TOOL_CALLS]name[ARGS]{{json}}`, and I get this:\n\n```\n{answer}\n```\n").raw
        is None
    )


def test_an_answer_with_something_left_out_is_read_between_sentences():
    choice = '{"message": {"role": "assistant", "content": "%s"}}'
    answer = '{\n  "response": {\n    "choices": [' + choice + '],\n    "usage": { ... }\n  }\n}'
    text = (
        "This is what comes back, with a call in it.\n\n" + answer % json.dumps(CALL)[1:-1] + "\n\nIt should be a call."
    )

    assert "PD426" in found(text)


def test_calls_one_a_line_are_the_calls_of_one_message():
    lines = "\n".join(json.dumps(one) for one in (call_of('{"isbn": "7"}'), call_of('{"isbn": "8"')))

    assert [call.arguments for call in returned_calls(shown(lines))] == ['{"isbn": "7"}', '{"isbn": "8"']


def test_calls_in_bare_json_one_a_line_are_one_output():
    lines = '{"name": "find_book", "arguments": {"isbn": "7"}}\n{"name": "find_book", "arguments": {"isbn": "8"}}'

    assert len(shown(lines).parse.parsed.calls) == 2


def test_pieces_without_an_index_go_on_with_the_call_before_them():
    pieces = [call_of(""), {"function": {"arguments": '{"isbn": '}}, {"function": {"arguments": '"7"}'}}]

    trace = shown("\n".join(map(json.dumps, pieces)))

    assert [call.arguments for call in returned_calls(trace)] == ['{"isbn": "7"}']
    assert "PD416" not in {finding.code for finding in trace.findings}


def test_a_line_that_is_no_call_is_none_of_a_message():
    lines = "\n".join(json.dumps(one) for one in (call_of("{}"), {"level": "info", "msg": "done"}))

    assert len(returned_calls(shown(lines))) < 2


def whole_and_stream(whole: str, streamed: str) -> str:
    def chunk(delta: dict[str, object], reason: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return f"data: {json.dumps({'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"

    message = {"role": "assistant", "content": None, "tool_calls": [call_of(whole)]}
    answer = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
    stream = chunk({"role": "assistant", "tool_calls": [call_of(streamed, index=0)]}) + chunk({}, "tool_calls")
    return f"With stream=true it returns\n\n{stream}data: [DONE]\n\nand with stream=false\n\n{answer}\n"


def test_a_streamed_call_that_lacks_arguments_of_the_whole_answer():
    trace = shown(whole_and_stream('{"isbn": "7", "page": 2}', '{"page": 2}'))

    assert "lacks `isbn`, which the whole answer has" in trace.verdict.sentence


@pytest.mark.parametrize("streamed", ['{"isbn": "7", "page": 2}', '{"page": 3}', '{"page": 2, "isbn": "8"}'])
def test_streams_of_another_run_are_not_compared_further(streamed):
    assert "PD411" not in found(whole_and_stream('{"isbn": "7", "page": 2}', streamed))


def test_the_assistants_last_message_of_a_copied_conversation_is_the_answer():
    asked = {"role": "user", "content": "Find 7."}
    said = {"role": "assistant", "content": json.dumps({"name": "find_book", "arguments": {"isbn": "7"}})}
    text = f'The tool call below is never parsed.\n\n```\n"messages": [{json.dumps(asked)}, {json.dumps(said)}]\n```\n'

    trace = shown(text)

    assert [(finding.code, finding.severity.value) for finding in trace.findings] == [("PD426", "warning")]


def test_a_conversation_that_ends_with_the_user_is_a_request():
    assert read_evidence('"messages": [{"role": "user", "content": "Find 7."}]').chat is None


def test_pieces_of_two_requests_in_a_log_stay_apart():
    def log(name: str, *pieces: str) -> str:
        return f"INFO 08-14 [async_llm.py:269] Added request {name}.\n" + "".join(
            f"DELTA TEXT: {one}\n" for one in pieces
        )

    text = (
        "vLLM with the `llama4_pythonic` parser. It works:\n\n```\n"
        + log("a1", "[find_", "book()]")
        + "```\n\nand it does not:\n\n```\n"
        + log("a2", "I will call ", "[find_book(isbn=", '"7")]')
        + "```\n"
    )

    trace = shown(text)

    assert trace.raw.text == 'I will call [find_book(isbn="7")]'
    assert "ends with a call to `find_book` as a Python list" in trace.findings[0].title


def test_pieces_that_a_parser_logs_are_the_output():
    pieces = ("<tool_call>", "", '{"name": ', '"f", "arguments": {}}', "", "</tool_call>")
    text = "".join(f"DEBUG 12-25 13:14:26 hermes_tool_parser.py:124] delta_text: {one}\n" for one in pieces)

    assert read_evidence(text).raw == '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'


def test_a_stream_of_nothing_behind_a_parser_that_does_not_stream():
    empty = (
        'data: {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {%s}, "finish_reason": %s}]}\n\n'
    )
    stream = empty % ('"role": "assistant", "content": ""', "null") + empty % ("", '"stop"') + "data: [DONE]\n"

    trace = shown(
        f"Started with `--enable-auto-tool-choice --tool-call-parser phi4_mini_json`, I get:\n\n```\n{stream}```\n"
    )

    assert "there this parser reads calls" in trace.findings[0].fix


def test_a_model_response_of_litellm_is_no_message_of_pydantic_ai():
    message = f"Message(content={CALL!r}, role='assistant', tool_calls=None)"
    text = f"ModelResponse(id='c', choices=[Choices(finish_reason='stop', index=0, message={message})])"

    assert "PD426" in found(text)


@pytest.mark.parametrize(
    "words",
    [
        "LM Studio returns it in `message.content`, and `tool_calls` is empty, such as:",
        "The server gives it back as content instead of a call:",
    ],
)
def test_an_output_of_which_the_words_say_that_it_is_content_is_content(words):
    trace = shown(f"{words}\n\n{CALL}\n\nAny idea?")

    assert [(finding.code, finding.severity.value) for finding in trace.findings] == [("PD426", "error")]


def test_an_output_of_which_the_words_say_less_is_an_output():
    assert read_evidence(f"The parser drops this raw output:\n\n{CALL}\n\nAny idea?").chat is None


def test_an_answer_with_remarks_beside_its_fields_is_read_between_sentences():
    answer = '{\n  "choices": [{\n    "message": {\n      "role": "assistant",\n      "content": %s,\n'
    answer += '      "tool_calls": []  # always there\n    }\n  }]\n}'

    assert "PD426" in found("This is what comes back.\n\n" + answer % json.dumps(CALL) + "\n\nIt should be a call.")


@pytest.mark.parametrize(
    "code",
    [
        "<tool_call>read<arg_key>path</arg_key><arg_value>/a.md</arg_value></tool_call>",
        '<tool_call>{"name": "read", "arguments": {"path": "a.md"}}</tool_call>',
    ],
)
def test_a_call_in_code_within_a_sentence_is_the_output(code):
    text = f"I asked it to read a file, and it printed some thoughts and then `{code}`, and that was it."

    assert read_evidence(text).raw == code


def test_a_placeholder_in_code_within_a_sentence_is_none():
    text = "The model writes its calls like `<tool_call>{...}</tool_call>`, as far as anybody here knows about it."

    with pytest.raises(RequestError, match="shortened by hand"):
        read_evidence(text)


def test_a_call_from_control_token_to_control_token_is_no_end_token():
    call = '<|tool_call>call:find_book{isbn:<|"|>7<|"|>}<tool_call|>'

    trace = shown(f"Instead of executing the tool call, it prints the markup:\n\n```text\n{call}\n```\n\nAny idea?")

    assert [finding.code for finding in trace.findings] == ["PD426"]


def test_words_of_an_output_say_nothing_of_it():
    text = f"I put it in the content field of the form.\n\n{CALL}"

    assert read_evidence(text).raw == text


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('[find_book(isbn="7")]', ["find_book"]),
        ('[todays_date(), find_book(isbn="7", tags=["a", {"b": None}])]', ["todays_date", "find_book"]),
        ('[library.find_book(isbn="7")]\n', ["library.find_book"]),
    ],
)
def test_a_list_of_calls_in_python_is_an_output(text, names):
    trace = shown(text)

    assert [call.name for call in trace.parse.parsed.calls] == names
    assert "in Python." in trace.verdict.sentence or any("in Python." in one.title for one in trace.findings)


@pytest.mark.parametrize(
    "text",
    [
        '[Message(role="user", content="hi")]',
        '[find_book(isbn="7"), Message(role="user")]',
        '[dict(role="user", content="hi")]',
        '[book(author=person(name="x"))]',
        '[find_book("7")]',
        '[find_book(isbn="7"), {"role": "user"}]',
        "[" + "f(" * 5_000,
    ],
)
def test_what_python_prints_is_no_list_of_calls(text):
    assert recognise(text) is not Form.OUTPUT
