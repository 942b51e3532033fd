"""Pieces of one run in several texts, and the same from Python."""

import json

import pytest

from prompt_debugger import diagnose, diagnose_async
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Form, Part, gather_evidence

BODY = {"model": "m", "messages": [{"role": "user", "content": "Weather?"}]}
MESSAGE = {"role": "assistant", "content": "<tool_call>"}
ANSWER = {"choices": [{"message": MESSAGE, "finish_reason": "stop"}]}


def test_request_and_answer_in_two_texts_are_one_exchange():
    evidence = gather_evidence([json.dumps(BODY), json.dumps(ANSWER)])

    assert evidence.form is Form.EXCHANGE
    assert (evidence.request.body, evidence.chat.message) == (BODY, MESSAGE)


def test_what_is_given_next_to_the_texts_wins():
    pair = json.dumps({"request": {**BODY, "model": "other"}, "response": ANSWER})

    evidence = gather_evidence([pair], request=json.dumps(BODY), prompt="<|im_start|>user")

    assert evidence.request.body == BODY
    assert evidence.holds == (Part.REQUEST, Part.PROMPT, Part.MESSAGE)


def test_of_two_answers_the_first_counts_and_that_is_reported():
    evidence = gather_evidence([json.dumps(ANSWER), json.dumps({"role": "assistant", "content": "Hi"})])

    assert evidence.chat.message == MESSAGE
    assert any("2 of the texts contain the part `message`" in note for note in evidence.notes)


class Printed:
    def model_dump_json(self):
        return json.dumps(ANSWER)


@pytest.mark.parametrize("evidence", [ANSWER, json.dumps(ANSWER), Printed(), MESSAGE])
def test_python_diagnoses_text_values_and_objects(evidence):
    trace = diagnose(evidence, request=BODY)

    assert trace.request.body == BODY
    assert "PD406" in [finding.code for finding in trace.findings]


async def test_the_twin_does_the_same():
    assert (await diagnose_async(ANSWER)).findings == diagnose(ANSWER).findings


def test_what_is_not_json_is_refused():
    with pytest.raises(RequestError, match="cannot be written as JSON"):
        diagnose([object()])
