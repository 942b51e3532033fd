"""What a copy took half of, or glued together: a stream's end, a body in a transcript, a code box and its language."""

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.evidence.copying.clean import clean
from tests.attacks.growth import grows_linearly

ASKED = """POST /v1/chat/completions HTTP/1.1
Content-Type: application/json

{"model": "m", "messages": [{"role": "user", "content": "Which tides?"}]}

HTTP/1.1 200 OK
Content-Type: application/json

"""


def pieces(*arguments):
    events = [{"choices": [{"index": 0, "delta": {"tool_calls": [one]}}]} for one in arguments]
    return "\n\n".join(f"data: {json.dumps(event)}" for event in events)


def piece(arguments, index=0):
    return {"index": index, "function": {"arguments": arguments}}


def test_the_end_of_a_stream_whose_last_piece_repeats_all_arguments_is_named():
    with pytest.raises(RequestError, match="its last piece repeats all arguments"):
        read_evidence(pieces(piece('ide"'), piece('{"port": "north", "kind": "tide"}')))


@pytest.mark.parametrize(
    "stream",
    [
        pieces(piece('ide"'), piece("}")),
        pieces(piece("tide"), piece('{"x": 1}')),
        pieces(piece('ide"'), piece('{"kind": "tide"}', index=1)),
        pieces(piece('ide"}'), piece('{"kind": "tide"}')),
    ],
)
def test_the_end_of_a_stream_with_another_last_piece_is_not_said_to_repeat(stream):
    with pytest.raises(RequestError) as raised:
        read_evidence(stream)

    assert "repeats" not in str(raised.value)


def test_a_body_of_a_transcript_that_is_no_json_is_not_a_raw_output():
    evidence = read_evidence(ASKED + '{"created": 7, "message": {"content": "{\\"{\\"a": "b", "c": "It is low\n')

    assert evidence.raw is None
    assert any("was not read" in note for note in evidence.notes)


def test_a_body_of_a_transcript_that_is_cut_is_read_as_far_as_it_goes():
    body = '{"choices": [{"message": {"role": "assistant", "content": "Low at six.", "tool_calls": [{"id": "c1",'
    evidence = read_evidence(ASKED + body)

    assert evidence.raw is None
    assert evidence.chat.message["content"] == "Low at six."


def test_a_body_of_a_transcript_that_is_a_models_text_is_its_raw_output():
    assert read_evidence(ASKED + "{it is low at six}").raw == "{it is low at six}"


def test_the_language_of_a_code_box_that_is_glued_to_its_json_is_taken_off():
    block = '{\n  "type": "tool_use",\n  "id": "c1",\n  "name": "look_up",\n  "input": {"port": "north"}\n}\n'

    assert clean(f"The block:\njson{block}").text == f"The block:\n{block}"


@pytest.mark.parametrize("text", ['Use json{"a": 1} here', 'x = json[\n"a"]\n', "json{a}\n"])
def test_a_word_that_only_begins_so_is_kept(text):
    assert clean(text).text == text


def test_glued_languages_are_found_in_linear_time():
    assert grows_linearly(lambda count: clean("json[ " * count + "\n" + " " * count + "json{"), first=1_000)


def test_numbers_before_the_pieces_of_a_stream_are_taken_off():
    lines = [
        'Chunk 1: {"id": "c1", "function": {"name": "look_up", "arguments": ""}}',
        'Chunk 2: {"id": "", "function": {"arguments": "{\\"a\\": "}}',
        'Chunk 3: {"id": "", "function": {"arguments": "1}"}}',
    ]
    evidence = read_evidence("\n".join(lines))

    assert [call["function"]["name"] for call in evidence.stream.message["tool_calls"]] == ["look_up"]


@pytest.mark.parametrize(
    "text",
    [
        'Chunk 1: {"a": 1}\nChunk 3: {"a": 2}',
        'Case 1: {"a": 1}\nCase 2: {"a": 2}',
        'Chunk 4: {"a": 1}\nChunk 5: {"a": 2}',
        "Chunk 1: the first one\nChunk 2: the second one",
    ],
)
def test_other_numbers_before_lines_are_kept(text):
    assert clean(text).text == text


def test_numbered_lines_are_read_in_linear_time():
    assert grows_linearly(lambda count: clean("Chunk 1: {}\n" + "chunk 1" * count), first=1_000)


def test_a_call_as_a_database_stores_it_is_one():
    text = '{"_id": "c7", "name": "look_up", "arguments": "{}"}'
    printed = read_evidence("{\n\t_id: 'c7',\n\tname: 'look_up',\n\targuments: '{\"port\": \"north\"}'\n}")

    assert printed.chat.message["tool_calls"][0]["function"]["name"] == "look_up"
    assert read_evidence(text).chat.message["tool_calls"][0]["id"] == "c7"


def test_a_record_of_a_database_with_other_fields_is_no_call():
    with pytest.raises(RequestError, match="was not recognized"):
        read_evidence('{"_id": "c7", "name": "look_up", "arguments": "{}", "created": 7}')
