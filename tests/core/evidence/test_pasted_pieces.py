"""Pieces of JSON, several values in one paste, and transcripts of what went over the wire."""

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Form, read_evidence, show_evidence
from prompt_debugger.core.evidence.values.json_fragment import recover
from tests.attacks.growth import grows_linearly

BODY = {"model": "m", "messages": [{"role": "user", "content": "Weather in Oslo?"}]}
CALL = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
MESSAGE = {"role": "assistant", "content": None, "tool_calls": [CALL]}
ANSWER = {"choices": [{"message": MESSAGE, "finish_reason": "stop"}]}


def names_of(evidence):
    return [call["function"]["name"] for call in evidence.chat.message["tool_calls"]]


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        (f'"tool_calls": [{json.dumps(CALL)}],\n"finish_reason": "stop"', ["begins in the middle"]),
        (
            f'...\n"tool_calls": [{json.dumps(CALL)}\n...',
            ["begins in the middle", "left out", "ends inside"],
        ),
        (f'"message": {{"content": null, "tool_calls": [{json.dumps(CALL)}, ...]}}\n}}]', ["Something was left ou"]),
        (f'{{"choices": [{{"message": {{"role": "assistant", "tool_calls": [{json.dumps(CALL)}', ["ends inside"]),
    ],
)
def test_a_fragment_of_an_answer_is_read_and_said_to_be_one(text, notes):
    evidence = read_evidence(text)

    assert evidence.form is Form.FRAGMENT
    assert names_of(evidence) == ["weather"]
    for note in notes:
        assert any(note in said for said in evidence.notes)


async def test_of_a_fragment_nothing_absent_is_a_fault():
    trace = await show_evidence(read_evidence('"delta": {"reasoning": "Here"}\n"delta": {"reasoning": " it is"}'))

    assert trace.chat.message["reasoning"] == "Here it is"
    assert [(one.code, one.severity.value) for one in trace.findings] == [("PD459", "note")]  # the field's newer name


def test_a_request_with_a_slip_keeps_the_place_of_its_error():
    with pytest.raises(RequestError) as caught:
        read_evidence('{"model": "m", "messages": [{"role": "user", "content": "hi}]}')

    assert caught.value.line == 1


def test_a_cut_text_is_kept_as_far_as_it_came():
    found = recover('{"choices": [{"message": {"content": "Hel')

    assert found.value == {"choices": [{"message": {"content": "Hel"}}]}


@pytest.mark.parametrize("text", ["role: user\ncontent: hi", "A sentence, and more.", "key: value"])
def test_prose_is_not_a_fragment(text):
    with pytest.raises(RequestError):
        read_evidence(text)


@pytest.mark.slow
@pytest.mark.parametrize("part", ['"', '"a": ', "{", "]", '"a": {', "... ", '"a", ', "\\", "}]"])
def test_fragments_are_read_in_linear_time(part):
    assert grows_linearly(lambda size: recover('"a": ' + part * size), first=1_000, doublings=4)


def test_a_request_above_its_answer_is_an_exchange():
    evidence = read_evidence(f"{json.dumps(BODY, indent=1)}\n\n{json.dumps(ANSWER, indent=1)}")

    assert evidence.form is Form.EXCHANGE
    assert (evidence.request.body, names_of(evidence)) == (BODY, ["weather"])


def test_two_requests_are_compared():
    longer = {**BODY, "messages": [*BODY["messages"], {"role": "assistant", "content": "Sunny."}]}
    other = {**BODY, "messages": [{"role": "user", "content": "Weather in Rome?"}]}

    first = read_evidence(f"{json.dumps(BODY, indent=1)}\n{json.dumps(longer, indent=1)}")
    second = read_evidence(f"{json.dumps(BODY)}\n{json.dumps(other)}")

    assert any("share their first 1 message and differ from `messages[1]` on" in note for note in first.notes)
    assert any("`messages[0].content`, character 11, on" in note for note in second.notes)


def test_of_two_answers_the_first_is_read_and_the_other_named():
    evidence = read_evidence(f"{json.dumps(ANSWER, indent=1)}\n{json.dumps(ANSWER, indent=1)}")

    assert names_of(evidence) == ["weather"]
    assert any("2 responses" in note for note in evidence.notes)


ASKED = f"POST /v1/chat/completions HTTP/1.1\nHost: h\nAuthorization: Bearer k\n\n{json.dumps(BODY)}\n\n"


def test_a_transcript_has_request_and_response():
    evidence = read_evidence(f"{ASKED}HTTP/1.1 200 OK\nContent-Type: application/json\n\n{json.dumps(ANSWER)}\n")

    assert evidence.form is Form.HTTP
    assert (evidence.request.body, names_of(evidence)) == (BODY, ["weather"])


def test_a_transcript_of_a_refusal_keeps_its_status():
    evidence = read_evidence(f'{ASKED}HTTP/1.1 422 Unprocessable\n\n{{"error": {{"message": "No tools here."}}}}\n')

    assert (evidence.error.status, evidence.error.message) == (422, "No tools here.")


def test_a_body_in_chunks_is_put_together():
    body = json.dumps(ANSWER)
    chunked = f"{len(body):x}\r\n{body}\r\n0\r\n"

    evidence = read_evidence(f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}")

    assert names_of(evidence) == ["weather"]


def test_what_an_unknown_object_holds_is_reported():
    with pytest.raises(RequestError, match="it has `alpha`, `beta`") as caught:
        read_evidence('{"alpha": 1, "beta": [2]}')

    assert "Paste a request" in caught.value.hint


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}, "a choice of a chat response"),
        ({"choices": {"message": {"role": "assistant", "content": "Hi"}}}, "a chat response"),
        ({"choices": [{"content": "Hi", "finish_reason": "stop"}]}, "a chat response"),
        ({"content": "Hi", "tool_calls": []}, "a message without its `role`"),
        ({"content": "Hi", "finish_reason": "stop"}, "a message without its `role`"),
        ([{"role": "assistant", "content": ""}, {"content": "H"}, {"content": "i"}], "a streamed response"),
    ],
)
def test_flattened_answers_are_read(value, words):
    evidence = read_evidence(json.dumps(value))

    assert evidence.words == words
    assert evidence.chat.message["content"] == "Hi"


@pytest.mark.parametrize(
    ("asked", "answered"),
    [("request", "response"), ("payload", "result"), ("request_body", "response_body"), ("kwargs", "completion")],
)
def test_a_pair_is_known_under_many_names(asked, answered):
    evidence = read_evidence(json.dumps({asked: BODY, answered: ANSWER}))

    assert evidence.form is Form.EXCHANGE
    assert (evidence.request.body, names_of(evidence)) == (BODY, ["weather"])


def test_a_log_of_input_and_output_is_a_pair():
    message = ANSWER["choices"][0]["message"]

    evidence = read_evidence(json.dumps({"input": BODY["messages"], "output": message}))

    assert (evidence.form, names_of(evidence)) == (Form.EXCHANGE, ["weather"])


def test_a_responses_body_with_tools_stays_a_request():
    body = {"model": "m", "input": [{"role": "user", "content": "hi"}], "tools": []}

    assert read_evidence(json.dumps(body)).form is Form.REQUEST


def test_a_body_of_plain_completions_shows_its_prompt():
    evidence = read_evidence(json.dumps({"model": "m", "prompt": "<s>[INST] hi [/INST]", "max_tokens": 5}))

    assert evidence.prompt == "<s>[INST] hi [/INST]"
    assert evidence.words == "a request for plain completions"


def test_json_with_comments_is_read():
    evidence = read_evidence('{"choices": [{"message": {"role": "assistant", "content": "Hi"}, // the first\n}]}')

    assert (evidence.form, evidence.chat.message["content"]) == (Form.ANSWER, "Hi")
    assert any("comment" in note for note in evidence.notes)


def chunk(delta, reason=None):
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def part(call_id, name, arguments):
    return {"tool_calls": [{"index": 0, "id": call_id, "function": {"name": name, "arguments": arguments}}]}


def sse(*chunks, end="data: [DONE]\n"):
    return "".join(f"data: {json.dumps(one)}\n\n" for one in chunks) + end


ADD, WEATHER = part("a", "add_numbers", '{"a": 1}'), part("b", "get_weather", '{"city": "Oslo"}')


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (sse(chunk(ADD), chunk(WEATHER), chunk({}, "tool_calls")), ["PD417"]),
        (sse(chunk(ADD), chunk({}, "tool_calls"), chunk({}, "stop")), ["PD412"]),
        (sse(chunk(ADD), chunk({}, "stop")), ["PD412"]),
        (sse(chunk(ADD), chunk({}, "tool_calls")), []),
        (sse(chunk({"content": "Hi"}), {"error": {"message": "Overloaded"}}), ["PD310"]),
        (sse(chunk({"content": "Hi"}), end=""), ["PD310"]),
        (sse(chunk({"content": "Hi"}), chunk({}, "stop"), end=""), []),
        (sse({"object": "chat.completion.chunk", "choices": [], "usage": {"prompt_tokens": 4}}), ["PD310"]),
    ],
)
async def test_what_a_stream_shows_is_found_in_a_pasted_one(text, codes):
    trace = await show_evidence(read_evidence(text))

    assert [finding.code for finding in trace.findings] == codes


def test_two_calls_on_one_index_are_not_joined_into_one_that_no_one_made():
    evidence = read_evidence(sse(chunk(ADD), chunk(WEATHER), chunk({}, "tool_calls")))

    assert names_of(evidence) == ["add_numbers", "get_weather"]


async def test_stop_next_to_a_named_tool_is_the_protocols_word():
    tool = {"type": "function", "function": {"name": "add_numbers", "parameters": {"type": "object"}}}
    body = {**BODY, "tools": [tool], "tool_choice": {"type": "function", "function": {"name": "add_numbers"}}}

    trace = await show_evidence(read_evidence(json.dumps({"request": body, "response": sse(chunk(ADD, "stop"))})))

    assert trace.findings == ()
    assert any("which is what the protocol requires if" in note for note in trace.notes)


def test_lines_of_events_without_empty_lines_are_events():
    text = "".join(f"data: {json.dumps(chunk({'content': letter}))}\n" for letter in "abc")

    assert read_evidence(text).chat.message["content"] == "abc"


def test_a_prompt_and_its_output_are_both_kept():
    evidence = read_evidence(json.dumps({"prompt": "<s>[INST] hi [/INST]", "completion": "[TOOL_CALLS][]</s>"}))

    assert (evidence.prompt, evidence.raw) == ("<s>[INST] hi [/INST]", "[TOOL_CALLS][]</s>")


def test_items_of_a_response_alone_are_an_answer():
    item = {"type": "function_call", "call_id": "c", "name": "weather", "arguments": "{}"}

    assert names_of(read_evidence(json.dumps([item]))) == ["weather"]


def test_a_batch_that_was_refused_is_an_error():
    line = {"custom_id": "1", "response": {"status_code": 400, "body": {"error": {"message": "No such tool."}}}}

    assert read_evidence(json.dumps(line)).error.message == "No such tool."


def test_the_events_below_a_command_are_read_from_the_first_on():
    events = [
        {"model": "m", "created_at": "t", "message": {"role": "assistant", "content": "Hel"}, "done": False},
        {"model": "m", "created_at": "t", "message": {"content": "lo"}, "done": True, "done_reason": "stop"},
    ]
    command = f"curl http://localhost:11434/api/chat -d '{json.dumps(BODY)}'\n"

    evidence = read_evidence(command + "\n".join(map(json.dumps, events)))

    assert (evidence.form, evidence.chat.message["content"]) == (Form.EXCHANGE, "Hello")


async def test_an_error_in_a_choice_is_found():
    choice = {"message": {"role": "assistant", "content": ""}, "finish_reason": None, "error": {"message": "boom"}}

    trace = await show_evidence(read_evidence(json.dumps({"id": "x", "choices": [choice]})))

    assert [finding.code for finding in trace.findings] == ["PD310"]
    assert "boom" in trace.findings[0].detail


def test_of_lines_that_are_exchanges_no_prefix_is_reported():
    pair = json.dumps({"request": BODY, "response": ANSWER})

    assert not any("two requests" in note for note in read_evidence(f"{pair}\n{pair}\n{pair}").notes)


def test_blocks_of_a_message_alone_are_an_answer():
    blocks = [{"type": "text", "text": "Hi"}, {"type": "tool_use", "id": "t", "name": "weather", "input": {}}]

    assert names_of(read_evidence(json.dumps(blocks))) == ["weather"]


def test_a_tool_message_alone_is_not_a_conversation_without_its_call():
    with pytest.raises(RequestError, match="`tool_call_id`"):
        read_evidence(json.dumps({"role": "tool", "tool_call_id": "a", "content": "x"}))


def test_a_request_above_its_answer_is_one_exchange():
    evidence = read_evidence(f"{json.dumps(BODY)}\n{json.dumps(ANSWER)}\n")

    assert evidence.form is Form.EXCHANGE
    assert (evidence.request.body, names_of(evidence)) == (BODY, ["weather"])


def test_two_requests_one_a_line_stay_lines():
    evidence = read_evidence(f"{json.dumps(BODY)}\n{json.dumps(BODY)}\n")

    assert (evidence.form, evidence.rows) == (Form.LINES, 2)


PRINTED = "# ChatCompletionMessage(content='Sunny.', role='assistant', tool_calls=None)"


def test_what_a_program_printed_is_read_where_the_program_is_not():
    evidence = read_evidence(f'client.chat.completions.create(model="m", messages=build(), tools=tools)\n{PRINTED}\n')

    assert evidence.chat.message["content"] == "Sunny."
    assert any("code above the answer was not read" in note for note in evidence.notes)


def test_comments_that_only_mention_markup_are_no_answer():
    with pytest.raises(RequestError, match="does not assign"):
        read_evidence("# <tool_call> is read by the server\nclient.chat.completions.create(messages=build(x))\n")


async def test_of_a_request_that_is_not_known_no_limit_is_denied():
    answer = {"choices": [{"message": {"role": "assistant", "content": "It was"}, "finish_reason": "length"}]}

    trace = await show_evidence(read_evidence(json.dumps(answer)))

    assert [finding.title for finding in trace.findings] == ["The answer was cut by a limit on its tokens."]


@pytest.mark.parametrize(
    "label",
    ["assistant: ", "Response: ", "message = ", "2025-01-02 10:11:12 INFO response: ", "DEBUG:root:Got: "],
)
def test_an_answer_below_a_label_on_its_line_is_read(label):
    assert names_of(read_evidence(f"It prints this.\n{label}{json.dumps(MESSAGE)}\nand then stops.")) == ["weather"]


CALL_AS_TEXT = "```\n<tool_call>\n<function=weather>\n</function>\n</tool_call>\n```"


@pytest.mark.parametrize(
    ("lead", "came"),
    [
        ("The model prints the call instead of calling the tool:", True),
        ("Tool calling never works, it gets this:", True),
        ("It should return this:", False),
        ("It answers in prose instead of this:", False),
    ],
)
def test_a_fence_shows_what_came_or_what_ought_to_have_come(lead, came):
    evidence = read_evidence(f"{lead}\n\n{CALL_AS_TEXT}\n\nCommand:\nllama-server -m model.gguf --port 8080")

    assert evidence.server.kind == "llama.cpp"
    assert (evidence.raw is not None or evidence.chat is not None) == came


def test_of_two_commands_the_one_with_a_parser_is_read_and_said_to_be_one_of_two():
    evidence = read_evidence("vllm serve first-model\nvllm serve second-model --tool-call-parser hermes")

    assert (evidence.server.model, evidence.server.tool_parser) == ("second-model", "hermes")
    assert "The text contains 2 commands; only one was read." in evidence.notes


def test_of_a_program_with_many_comments_a_bounded_number_is_looked_at():
    comments = "# a\nx = 1\n" * 1_000

    evidence = read_evidence(f"client.chat.completions.create(messages=build(x))\n{comments}{PRINTED}\n")

    assert evidence.chat.message["content"] == "Sunny."
