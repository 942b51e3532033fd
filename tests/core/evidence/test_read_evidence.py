"""Whatever is pasted: recognised, read for its evidence, and shown as far as that goes."""

import base64
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Completeness, Conclusion
from prompt_debugger.core.evidence import Form, read_evidence, show_evidence
from prompt_debugger.core.evidence.after_command import answer_after_command
from prompt_debugger.core.report import write_bundle
from tests.attacks.growth import grows_linearly
from tests.ui.present.traces import dropped_call_trace

BODY = {"model": "m", "messages": [{"role": "user", "content": "Weather in Paris?"}]}
RAW = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call><|im_end|>'
CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
MESSAGE = {"role": "assistant", "content": None, "tool_calls": [CALL]}
ANSWER = {"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}], "usage": None}
STREAM = "".join(
    f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta, 'finish_reason': reason}]})}\n\n"
    for delta, reason in (({"role": "assistant", "content": "Hel"}, None), ({"content": "lo"}, "stop"))
)
STREAM += "data: [DONE]\n\n"
CURL = f"curl http://localhost:8000/v1/chat/completions -d '{json.dumps(BODY)}'"


def har(*entries):
    return json.dumps({"log": {"entries": list(entries)}})


def entry(body, answer, *, encoding=None):
    content = {"text": answer, "mimeType": "application/json"} | ({"encoding": encoding} if encoding else {})
    return {"request": {"method": "POST", "postData": {"text": json.dumps(body)}}, "response": {"content": content}}


PASTES = {
    "a body": (json.dumps(BODY), Form.REQUEST),
    "a list of messages": (json.dumps(BODY["messages"]), Form.REQUEST),
    "a body with slips": ("{'messages': [{'role': 'user', 'content': 'hi'}],}", Form.REQUEST),
    "curl": (CURL, Form.REQUEST),
    "python": (
        'client.chat.completions.create(model="m", messages=[{"role": "user", "content": "<think>"}])',
        Form.REQUEST,
    ),
    "python that posts": (f"requests.post('http://h.example/v1/chat/completions', json={BODY})", Form.REQUEST),
    "python that only calls": (f"await litellm.acompletion(**{BODY})", Form.REQUEST),
    "javascript": (f"fetch('/v1/chat/completions', {{ body: JSON.stringify({json.dumps(BODY)}) }})", Form.REQUEST),
    "a batch line": (json.dumps({"custom_id": "1", "body": BODY}), Form.REQUEST),
    "tool markup": (RAW, Form.OUTPUT),
    "reasoning": ("<think>Hm.</think>It is 3.", Form.OUTPUT),
    "Mistral's calls": ('[TOOL_CALLS][{"name": "f", "arguments": {}}]', Form.OUTPUT),
    "a bare call": ('{"name": "f", "parameters": {"x": 1}}', Form.OUTPUT),
    "a case": (json.dumps({"raw": RAW, "message": MESSAGE}), Form.OUTPUT),
    "an answer": (json.dumps(ANSWER), Form.ANSWER),
    "a message": (json.dumps(MESSAGE), Form.ANSWER),
    "a batch's answer": (json.dumps({"custom_id": "1", "response": {"body": ANSWER}}), Form.ANSWER),
    "a stream": (STREAM, Form.STREAM),
    "an exchange": (json.dumps({"request": BODY, "response": ANSWER}), Form.EXCHANGE),
    "curl and its answer": (f"$ {CURL}\n{json.dumps(ANSWER)}", Form.EXCHANGE),
    "curl -i and its answer": (f"{CURL}\nHTTP/1.1 200 OK\nServer: x\n\n{json.dumps(ANSWER)}", Form.EXCHANGE),
    "a HAR": (har(entry(BODY, json.dumps(ANSWER))), Form.HAR),
    "lines": (f"{json.dumps(BODY)}\n{json.dumps(BODY)}", Form.LINES),
}


@pytest.mark.parametrize("name", PASTES)
def test_every_form_is_recognised(name):
    text, form = PASTES[name]

    intake = read_evidence(text)

    assert intake.form is form
    assert intake.is_evidence is (form not in (Form.REQUEST, Form.LINES))


def test_a_example_stays_a_request():
    assert read_evidence(json.dumps({"request": BODY, "story": "x"})).form is Form.REQUEST


def test_what_was_taken_for_one_thing_can_be_taken_for_another():
    text = json.dumps({"request": BODY, "response": ANSWER})

    assert read_evidence(text, Form.REQUEST).request.body == BODY
    assert not read_evidence(text, Form.REQUEST).is_evidence
    assert read_evidence(text, Form.OUTPUT).raw == text


def test_a_command_above_its_answer_can_be_run_again():
    intake = read_evidence(f"{CURL}\n{json.dumps(ANSWER)}", Form.REQUEST)

    assert intake.request.body == BODY


def test_a_row_is_chosen():
    text = f"{json.dumps(BODY)}\n{json.dumps(ANSWER)}"

    second = read_evidence(text, row=2)

    assert (second.row, second.rows, second.chat.message) == (2, 2, MESSAGE)
    assert second.words.startswith("line 2 of 2")
    with pytest.raises(RequestError, match="no entry 3"):
        read_evidence(text, row=3)


def test_a_har_gives_the_calls_alone_and_reads_what_is_encoded():
    answer = base64.b64encode(json.dumps(ANSWER).encode()).decode()
    other = entry({"event": "page view"}, "ok")

    intake = read_evidence(har(other, entry(BODY, answer, encoding="base64")))

    assert (intake.row, intake.rows) == (1, 1)
    assert (intake.request.body, intake.chat.message) == (BODY, MESSAGE)
    with pytest.raises(RequestError, match="contains no request"):
        read_evidence(har(other))


def test_a_stream_is_put_together():
    intake = read_evidence(STREAM)

    assert intake.chat.message["content"] == "Hello"
    assert (intake.finish_reason, len(intake.chat.deltas)) == ("stop", 2)


def test_a_stream_of_plain_completions_is_a_raw_output():
    lines = "".join(f"data: {json.dumps({'choices': [{'text': text}]})}\n\n" for text in ("<think>", "Hm"))

    assert read_evidence(lines).raw == "<think>Hm"


def test_a_stream_of_another_api_is_refused_by_name():
    with pytest.raises(RequestError, match=r"thread\.run\.step"):
        read_evidence('event: x\ndata: {"type": "thread.run.step"}\n\n')


def test_answers_of_other_apis_are_read_as_messages():
    responses = {
        "object": "response",
        "output": [
            {"type": "reasoning", "summary": [{"text": "Hm"}]},
            {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city": "Paris"}'},
        ],
    }
    blocks = [{"type": "tool_use", "id": "c1", "name": "get_weather", "input": {"city": "Paris"}}]
    anthropic = {"type": "message", "role": "assistant", "content": blocks, "stop_reason": "tool_use"}

    assert read_evidence(json.dumps(responses)).chat.message == {**MESSAGE, "reasoning": "Hm"}
    assert read_evidence(json.dumps(anthropic)).chat.message == MESSAGE
    assert read_evidence(json.dumps(anthropic)).finish_reason == "tool_calls"


async def test_a_raw_output_alone_is_read_and_nothing_is_reported_to_be_lost():
    trace = await show_evidence(read_evidence(RAW))

    assert [call.name for call in trace.parse.parsed.calls] == ["get_weather"]
    assert trace.raw.completeness is Completeness.WHOLE
    assert trace.verdict.conclusion in (Conclusion.UNKNOWN, Conclusion.UNCHECKED)
    assert "lost" not in trace.verdict.sentence or "is unknown" in trace.verdict.sentence


async def test_a_raw_output_next_to_its_message_is_accounted_for():
    lost = {"role": "assistant", "content": "", "tool_calls": []}

    trace = await show_evidence(read_evidence(json.dumps({"raw": RAW, "message": lost})))

    assert trace.verdict.dropped_calls == 1


async def test_text_without_control_tokens_proves_no_loss():
    trace = await show_evidence(read_evidence("It is sunny.", Form.OUTPUT))

    assert trace.raw.completeness is Completeness.UNKNOWN
    assert trace.verdict.conclusion is Conclusion.UNKNOWN


async def test_an_answer_alone_shows_what_a_message_proves():
    leaked = {"choices": [{"message": {"role": "assistant", "content": RAW}, "finish_reason": "stop"}]}

    trace = await show_evidence(read_evidence(json.dumps(leaked)))

    assert trace.raw is None
    assert trace.prompt is None
    assert "PD426" in [finding.code for finding in trace.findings]


async def test_a_saved_run_is_shown_as_it_was():
    trace = dropped_call_trace()

    intake = read_evidence(write_bundle(trace))

    assert intake.form is Form.RUN
    assert (await show_evidence(intake)).verdict == trace.verdict


def test_the_answer_below_a_command_is_the_object_that_ends_the_text():
    pretty = json.dumps(BODY, indent=1).replace("[\n", "[").replace("{", "\n{\n")
    command = f"curl http://localhost:8000/v1/chat/completions -d '{pretty}'\n"
    answer = json.dumps(ANSWER, indent=1)

    assert answer_after_command(command) is None
    assert answer_after_command(command + answer) == len(command)
    assert answer_after_command(command + answer + "\n$ exit") is None
    assert answer_after_command(f'{command}{{"a": \n{{"b"\n{answer}') is not None


def test_the_answer_below_a_head_begins_after_its_blank_line_whatever_the_head_holds():
    head = "curl http://localhost:8000\nHTTP/1.1 200 OK\nx-odd: {}\n"

    assert answer_after_command(f"{head}\n{{}}") == len(head) + 1
    assert answer_after_command(f"{head}\n  \n") is None


@pytest.mark.slow
@pytest.mark.parametrize("line", ["{", "HTTP/1.1", '{"a":', '{"a": "x', '{"a": [1, 2, 3,'])
def test_whether_an_answer_stands_below_a_command_is_seen_in_linear_time(line):
    """9,000 lines of `{`, or of heads, took most of a minute."""
    command = "curl http://localhost:8000\n" + '{"a": [' * 100 + "\n"

    assert grows_linearly(lambda size: answer_after_command(command + f"{line}\n" * size), first=4_000, doublings=5)
