"""What someone left out of a paste proves nothing: neither that it is absent, nor how it ended."""

import asyncio
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence
from prompt_debugger.core.evidence.copying.gap_signs import has_gap, has_no_reason

CALL = {"id": "call_1", "type": "function", "function": {"name": "book", "arguments": '{"seat": "12A"}'}}


def answer(calls="[]", content="null", reason="tool_calls"):
    message = f'{{"role": "assistant", "content": {content}, "tool_calls": {calls}}}'
    return f'{{"choices": [{{"message": {message}, "finish_reason": "{reason}"}}]}}'


def codes_of(text):
    return {finding.code for finding in asyncio.run(show_evidence(read_evidence(text))).findings}


@pytest.mark.parametrize(
    "text",
    [
        answer("[...]", '"I book it."'),
        answer("[{...}]", '"I book it."'),
        answer('[{"id": "call_1", ...}]', '"I book it."'),
        answer('[{"id": "call_1", "function": {"name": "book", "arguments": ...}}]', '"I book it."'),
        answer("[\n...\n]", '"I book it."'),
        answer("[\n// ...\n]", '"I book it."'),
        answer("[<snip>]", '"I book it."'),
    ],
)
def test_calls_that_were_left_out_are_no_fault(text):
    assert not codes_of(text) & {"PD412", "PD416", "PD507", "PD320", "PD312"}


def test_a_call_that_is_there_whole_is_kept():
    evidence = read_evidence(answer(f"[{json.dumps(CALL)}, ...]"))

    assert evidence.chat is not None
    assert [call["function"]["name"] for call in evidence.chat.message["tool_calls"]] == ["book"]


def test_an_answer_of_which_nothing_is_left_says_so():
    with pytest.raises(RequestError) as refused:
        read_evidence(answer("[...]"))

    assert refused.value.hint


def test_a_stream_with_events_left_out_does_not_say_that_arguments_break_off():
    first = {"role": "assistant", "content": "Hi", "tool_calls": [{"index": 0, **CALL}]}
    first["tool_calls"][0]["function"] = {"name": "book", "arguments": '{"seat"'}
    head = json.dumps({"choices": [{"index": 0, "delta": first, "finish_reason": None}]})
    end = json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})

    assert "PD320" in codes_of(f"data: {head}\n\ndata: {end}\n\ndata: [DONE]\n\n")
    assert "PD320" not in codes_of(f"data: {head}\n\n...\n\ndata: {end}\n\ndata: [DONE]\n\n")


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ('{"content": "Wait... I see."}', False),
        ('{"content": "He wrote [...] so."}', False),
        ('{"content": "a", ...}', True),
        ('{"role": "assist…"}', True),
        ('data: {"a": "b..."}\n\ndata: [DONE]', False),
        ('data: {"a": "b…\n\ndata: [DONE]', True),
        ("ChatCompletion(id='x', content='a...')", False),
        ("ChatCompletion(id='x', choices=[...])", True),
        ("Function(arguments='{\"city\":<snip>et_weather')", True),
        ('Function(arguments=\'{"text": "a <snip> b"}\')', False),
    ],
)
def test_a_gap_is_told_from_three_dots_that_were_written(text, is_one):
    assert has_gap(text) is is_one


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "book", <snip>}\n</tool_call>',
        '<tool_call>\n{"name": "book", "arguments": {"city"…lo"}}\n</tool_call>',
        '<tool_call>\n{"name": "book", "arguments": {"ci…l>',
        '<tool_call>\n{"name": "book", "arguments": {"seat… "12A"}}\n</tool_call>',
    ],
)
def test_a_raw_output_that_was_shortened_is_not_read(text):
    with pytest.raises(RequestError, match="shortened by hand"):
        read_evidence(text)


def test_a_quotation_with_dots_behind_it_is_no_gap():
    evidence = read_evidence(
        '<tool_call>\n{"name": "say", "arguments": {"text": "\\"Oslo\\"...then Rome"}}\n</tool_call>'
    )

    assert evidence.raw is not None


def test_a_raw_output_that_begins_within_a_call_counts_as_part():
    text = 'ook:0<|tool_call_argument_begin|>{"seat": "12A"}<|tool_call_end|><|tool_calls_section_end|>'

    assert not codes_of(text)


@pytest.mark.parametrize(
    "text",
    [
        f'| version | output |\n| --- | --- |\n| 1 | {json.dumps(CALL)[:-1]},<br> "x": 1}} |',
        "$ " + json.dumps({"role": "assistant", "tool_calls": [CALL]}, indent=1).replace("\n", "\n> "),
        "See:\n\n" + json.dumps(answer(f"[{json.dumps(CALL)}]")) + "\n\nWhy?",
        json.dumps(answer(f"[{json.dumps(CALL)}]"))[1:-1],
    ],
)
def test_a_call_is_read_through_what_copying_put_around_it(text):
    evidence = read_evidence(text)

    shown = evidence.chat.message["tool_calls"] if evidence.chat is not None else evidence.raw
    assert "book" in str(shown)


def test_printed_events_below_a_label_are_a_stream():
    events = [
        {"type": "message_start", "message": {"id": "m", "content": [], "model": "x", "usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "content_block": {"type": "tool_use", "id": "t", "name": "book", "input": {}},
         "index": 0},
        {"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": "seat"}, "index": 0},
        {"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": '": 1}'}, "index": 0},
        {"type": "content_block_stop", "index": 0},
    ]  # fmt: skip
    evidence = read_evidence("\n".join(f"Processed chunk: {event!r}" for event in events))

    assert evidence.chat is not None
    assert evidence.chat.message["tool_calls"][0]["function"]["arguments"] == 'seat": 1}'


def test_a_long_content_without_blanks_is_read_at_once():
    tools = [{"type": "function", "function": {"name": "book", "parameters": {}}}]
    body = {"messages": [{"role": "user", "content": "Hi"}], "tools": tools}
    text = json.dumps(
        {"request": body, "response": json.loads(answer(content=json.dumps("x" * 400_000), reason="stop"))}
    )

    assert codes_of(text) <= {"PD415"}


PRINTED = (
    "ChatCompletionMessage(content='On it.', role='assistant', tool_calls=[ChatCompletionMessageToolCall(id='call_1', "
    "function=Function(arguments={}, name='book'), type='function')])"
)
LOG = "INFO 11-23 10:00:01 [logger.py:39] Generated response chatcmpl-1: output: 'Hello.', output_token_ids: None, "
EVENT = '{{"choices": [{{"index": 0, "delta": {{"tool_calls": [{{"index": 0, "function": {{"arguments": {}}}}}]}}}}]}}'


@pytest.mark.parametrize(
    ("text", "silent"),
    [
        # A name of the answer was cut across, and a comma is one too many, so that it is Python as well.
        (
            '{"choices": [{"message": {"content": "Booked.", "to(truncated)": [{}]}, "finish_reason": "tool_calls"},]}',
            {"PD412"},
        ),
        # The id may be what stood there, and the arguments show their fault all the same.
        (
            answer("""[{"id…tion", "function": {"name": "book", "arguments": "{'seat': '12A'}"}}]"""),
            {"PD507"},
        ),
        (LOG + "finish_reason: leng", {"PD323"}),
        (LOG + "finish_reason: too\nl_calls", {"PD323"}),
        ('<tool_call>\n{"name": "book", "arguments": {"seat"…}\n</tool_call><|im_end|>', {"PD308"}),
        ('"arguments": {"seat": "12A"}}\n</tool_call><|im_end|>', {"PD452"}),
        (PRINTED.format("""'{"seat"…2A'"""), {"PD466", "PD506"}),
        ("><|im_end|>", {"PD303"}),
        ("tions.book:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>", {"PD404"}),
        (
            "{'choices': [{'message': {'role': 'assistant', 'content': 'Hi.'}, 'finish_reason': 'st…n_tokens': 9}]}",
            {"PD323"},
        ),
    ],
)
def test_a_cut_or_a_gap_is_no_fault_of_the_run(text, silent):
    assert not codes_of(text) & silent


@pytest.mark.parametrize(
    "text",
    [
        LOG + "finish_reason: paused",
        PRINTED.format("""'{"seat" 12A'"""),
        '<tool_call>\n{"name": "book", "arguments": {"seat" 12}}\n</tool_call><|im_end|>',
        answer('[{"function": {"name": "book", "arguments": "{}"}}]'),
        answer("""[{"id…tion", "function": {"name": "book", "arguments": "{'seat': '12A'}"}}]"""),
    ],
)
def test_what_is_whole_says_its_fault(text):
    assert codes_of(text) & {"PD323", "PD308", "PD507", "PD450", "PD506"}


def test_an_end_token_alone_may_be_the_end_of_a_longer_output():
    assert codes_of("<|im_end|>") == set()


def test_a_raw_output_whose_arguments_lack_their_end_is_not_read():
    with pytest.raises(RequestError, match="shortened by hand"):
        read_evidence('<tool_call>{"name": "book", "arguments": {"seat": "12A"…</tool_call><|im_end|>')


def test_calls_without_their_beginning_are_left_out_where_events_lie_apart():
    with pytest.raises(RequestError, match="begins in the middle of a call"):
        read_evidence(
            "It then sends me these two:\n" + "\n\n".join(EVENT.format(part) for part in (r'"{\"a\""', '": 1}"'))
        )


@pytest.mark.parametrize(
    ("reason", "is_one"),
    [
        ("'[snip]'", True),
        ("<omitted>", True),
        ("(truncated)", True),
        ("'[...]'", True),
        ("[...]", True),
        ("'stop'", False),
    ],
)
def test_a_sign_in_place_of_a_finish_reason_is_told(reason, is_one):
    assert has_no_reason(f"Choice(finish_reason={reason}, index=0)") is is_one


def test_what_was_left_out_around_the_choices_leaves_them_whole():
    whole = answer('[{"id": "call_1"}]', '"I book it."', "stop")[1:-1]

    assert read_evidence(f"...\n{whole},\n...").finish_reason == "stop"
    inside = whole.replace('"call_1"', "...")
    assert read_evidence(f"...\n{inside},\n...").finish_reason is None
