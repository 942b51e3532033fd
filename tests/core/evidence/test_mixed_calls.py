"""Calls that mix two notations, and fields of calls that a script printed with labels of any kind."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.diagnose.calls.client_markup import Notation, find_client_call
from tests.core.evidence.pasted import shown

CALL = "{'id': 'c1', 'type': 'function', 'function': {'name': 'f', 'arguments': '{\"a\": 1}'}}"
REFUSED = "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details."


def titles(text: str) -> dict[str, str]:
    return {one.code: one.title for one in shown(text).findings}


def refused(output: str) -> str:
    return json.dumps({"error": {"message": REFUSED, "code": "tool_use_failed", "failed_generation": output}})


def answer(content: str) -> str:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]})


@pytest.mark.parametrize(
    "content",
    [
        '<function=read={"path": "a.md"}</function>',
        '<function=read {"path": "a.md"}</function>',
        '<function=read({"path": "a.md"})</function>',
        'read{"path": "a.md"}</function>',
        '{"function=read", "parameters": {"path": "a.md"}}',
        'read(parameters={"path": "a.md"})',
        "<name>read\n</parameter>\n<parameter=path>\na.md\n</parameter>\n</function>",
    ],
)
def test_half_of_each_of_two_notations_is_named(content):
    found = titles(answer(content))

    assert found["PD426"] == "A tool call to `read` is in content as a mixture of notations that no server parses."


@pytest.mark.parametrize(
    "content",
    [
        "read(path='a.md')",
        'See `read{"path": "a.md"}` for more.',
        "<name>read</name>\n<path>a.md</path>",
        '{"function": "read", "parameters": {"path": "a.md"}} ',
        "The tag <function=read> opens a call.",
    ],
)
def test_other_texts_are_no_mixture(content):
    found = find_client_call(content)

    assert found is None or found.notation is not Notation.MIXED


def test_a_call_that_a_client_ran_is_no_mixture_in_content():
    body = json.loads(answer("read(parameters={})"))
    body["choices"][0]["message"]["tool_calls"] = [
        {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    ]

    assert "mixture" not in titles(json.dumps(body)).get("PD426", "")


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ('<function=read={"path": "a.md"}</function>', "the model wrote a call to `read` as a mixture of notations"),
        ('<function=read>{"path": "a.md"}</function>', "the model wrote a call to `read` as text, `<function=read>"),
        (
            '<tool-use>\n{"tool_calls": [{"id": "x", "function": {"name": "read"}}]}\n</tool-use>',
            "the model wrote a call to `read` as XML",
        ),
    ],
)
def test_the_call_that_a_vendor_refused_is_in_the_title(output, says):
    assert says in titles(refused(output))["PD445"]


def test_a_refused_output_without_a_call_keeps_the_vendors_words():
    assert "Failed to call a function" in titles(refused("I do not know."))["PD445"]


def test_a_body_that_was_wrapped_within_a_key_is_read_with_its_output():
    text = refused('read{"a": 1}</function>').replace('"failed_generation"', '"failed_genera\ntion"')

    found = titles(f"litellm.BadRequestError: GroqException - {text}")

    assert "`read`" in found["PD445"]


KIMI = "<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:0<|tool_call_argument_begin|>{}<|tool_call_end|>"


def quoted_by_mail(raw):
    """Return a run as a mail quotes it, wrapped at 64 before: the blank of an indent goes with its sign."""
    lines = json.dumps({"raw": raw, "message": {"role": "assistant", "content": ""}}, indent=1).split("\n")
    return "\n".join(f">{line[at : at + 64]}" for line in lines for at in range(0, len(line), 64))


def test_a_break_within_a_marker_is_of_a_width_though_quote_marks_changed_it():
    trace = shown(quoted_by_mail(f"{KIMI}<|tool_calls_section_end|>"))

    assert trace.raw is not None
    assert trace.raw.text == f"{KIMI}<|tool_calls_section_end|>"


def test_a_break_between_words_stays_a_blank():
    words = "the tide tables of every harbour from here to the cape and back again, one after the other, in metres"
    trace = shown(json.dumps({"raw": f"{words}{KIMI}", "message": {"content": words}}).replace("again, ", "again,\n"))

    assert trace.raw is not None
    assert trace.raw.text == f"{words}{KIMI}"


@pytest.mark.parametrize("sign", [":", ":::: ", " = "])
def test_calls_under_a_label_are_read_whatever_follows_it(sign):
    trace = shown(f"role{sign}assistant\nraw_tool_call{sign}{CALL}\nfinish_reason{sign}tool_calls\n")

    assert trace.chat is not None
    assert trace.chat.message["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    ]


def test_the_last_label_counts_but_a_raw_call_before_others():
    later = shown(f"# works\ntool_calls: [{CALL}]\n# broken\ntool_calls: None\ncontent: Hi.\n")
    raw = shown(f"raw_tool_call: {CALL}\ntool_calls: []\ncontent: \n")

    assert later.chat is not None
    assert "tool_calls" not in later.chat.message
    assert raw.chat is not None
    assert raw.chat.message["tool_calls"]


def test_a_label_of_what_was_wanted_is_no_answer():
    with pytest.raises(RequestError):
        shown(f"expected tool_calls: [{CALL}]")


def test_values_of_calls_under_a_label_are_no_error():
    line = "invalid_tool_calls:::: [{'name': 'F', 'args': \"{'message': '*****', 'type': 'invalid_tool_call'}]"

    with pytest.raises(RequestError):
        shown(line)


def test_a_value_that_was_left_out_whole_leaves_the_call_readable():
    call = "<tool_call>\n<function=f>\n<parameter=a>\n...\n</parameter>\n</function>\n</tool_call>"

    assert "PD463" in titles(call)
    with pytest.raises(RequestError, match=r"shortened|left out"):
        shown("<name>read\n</parameter>\n<parameter=path>\n...\n")


CHUNK = 'data: {"id":"a","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"}}]}'


@pytest.mark.parametrize("cut", ['data: {"id":"a","object":"chat.comp', 'data: {"id":"a"'])
def test_a_last_event_that_was_not_copied_whole_hides_no_other(cut):
    trace = shown(f"   {CHUNK}\n   {CHUNK}\n   {cut}\n")

    assert trace.chat is not None
    assert trace.chat.message["content"] == "HiHi"
    assert "not fully copied" in titles(f"   {CHUNK}\n   {CHUNK}\n   {cut}\n")["PD310"]


def test_an_event_in_the_middle_that_is_no_json_is_no_cut_of_a_copy():
    with pytest.raises(RequestError):
        shown(f"{CHUNK}\ndata: {{half\n{CHUNK}\n")


def _piece(text: str) -> JSONObject:
    return {"type": "response.output_text.delta", "output_index": 1, "delta": text}


def _stream(*events: JSONObject) -> str:
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events)


def test_the_event_that_ends_a_text_shows_what_came_before_the_copy():
    call = "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
    done: JSONObject = {"type": "response.output_text.done", "output_index": 1, "text": call}
    text = _stream(_piece("</function>\n"), _piece("</tool_call>"), done)

    assert "PD426" in titles(text)
    other: JSONObject = {**done, "text": "So."}
    kept = shown(_stream(_piece("Well"), other)).chat
    assert kept is not None
    assert kept.message["content"] == "Well"


def test_a_stream_with_its_beginning_is_taken_as_it_came():
    done: JSONObject = {"type": "response.output_text.done", "output_index": 1, "text": "So: hi"}
    created: JSONObject = {"type": "response.created", "response": {"id": "r", "object": "response", "output": []}}
    trace = shown(_stream(created, _piece("hi"), done))

    assert trace.chat is not None
    assert trace.chat.message["content"] == "hi"


def test_what_a_program_printed_is_not_what_a_person_says():
    piece = (
        "AIMessageChunk message = AIMessageChunk(content='', tool_calls=[], id='a', tool_call_chunks=[{'name': None, "
    )
    piece += "'args': ' =', 'id': None, 'index': 0, 'type': 'tool_call_chunk'}])"

    with pytest.raises(RequestError, match="begins in the middle"):
        shown(f"{piece}\n\n{piece}\n")
    assert "PD445" in titles("The answer has tool_calls=[] and content is empty, though the model wrote a call.")


def test_lines_of_a_stream_of_which_the_last_was_cut_are_one_stream():
    lines = [
        f'{{"model":"m","created_at":"t","message":{{"role":"assistant","content":"{word}"}},"done":false}}'
        for word in ("a", "b", "c")
    ]

    trace = shown("\n".join([*lines, '{"model":"m","created_a']))

    assert trace.chat is not None
    assert trace.chat.message["content"] == "abc"
    assert "not fully copied" in {one.code: one.title for one in trace.findings}["PD310"]


def test_an_error_that_was_cut_within_the_output_that_it_quotes_quotes_one():
    error = f"Error code: 400 - {{'error': {{'message': \"{REFUSED}\", 'failed_generation': '### Top Stories"
    details = {one.code: one.detail for one in shown(error).findings}
    bare = {one.code: one.detail for one in shown(f"Error code: 400 - {REFUSED}").findings}

    assert "breaks off inside the output" in details["PD445"]
    assert "breaks off inside the output" not in bare["PD445"]
