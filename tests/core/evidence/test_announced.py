"""Answers that a report announces below a request for a document, and texts that a script prints as content."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.evidence import Evidence, Part, read_evidence, trace_of
from tests.attacks.growth import grows_linearly

FENCE = "```"
SCHEMA = {"type": "object", "properties": {"towns": {"type": "array"}}, "required": ["towns"]}
BODY = {
    "model": "m",
    "messages": [{"role": "user", "content": "Name two towns as JSON."}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "t", "schema": SCHEMA}},
}
PLAIN = {name: value for name, value in BODY.items() if name != "response_format"}


def report(lead: str, shown: str, body: object = BODY) -> str:
    return f"{FENCE}json\n{json.dumps(body)}\n{FENCE}\n\n{lead}\n\n{FENCE}\n{shown}\n{FENCE}\n"


def codes(evidence: Evidence) -> list[str]:
    return [finding.code for finding in diagnose_trace(trace_of(evidence))]


@pytest.mark.parametrize(
    ("lead", "shown"),
    [
        ("Response:", "Here you are: Oslo and Bergen."),
        ("The model answered:", '{"cities": ["Oslo"]}'),
        ("**Actual response (text):**", "Oslo, Bergen"),
        ("I get", "- Oslo\n- Bergen"),
        ("返回结果：", "Oslo, Bergen"),
        ("", "Actual output:\nOslo, Bergen"),
    ],
)
def test_an_announced_text_below_a_request_for_a_document_is_its_content(lead: str, shown: str) -> None:
    evidence = read_evidence(report(lead, shown))

    assert evidence.chat is not None
    assert any("was taken for the content" in note for note in evidence.notes)
    assert "PD505" in codes(evidence)


def test_a_document_as_promised_is_left_alone() -> None:
    evidence = read_evidence(report("Response:", '{"towns": ["Oslo", "Bergen"]}'))

    assert evidence.chat is not None
    assert "PD505" not in codes(evidence)


@pytest.mark.parametrize(
    ("lead", "shown"),
    [
        ("Expected response:", "Oslo, Bergen"),
        ("Response schema:", "towns and counties"),
        ("This is the file with the towns", "Oslo, Bergen"),
        ("Response:", "Oslo,\n...\nBergen"),
        ("Output:", "INFO: 127.0.0.1 - POST /v1/chat/completions"),
    ],
)
def test_other_texts_are_not(lead: str, shown: str) -> None:
    assert Part.MESSAGE not in read_evidence(report(lead, shown)).holds


def test_without_a_form_that_the_request_asks_for_a_text_is_left_out() -> None:
    assert Part.MESSAGE not in read_evidence(report("Response:", "Oslo, Bergen", PLAIN)).holds


@pytest.mark.parametrize("call", ["print(response.content)", 'print("Answer:", result.content)'])
def test_what_a_script_prints_as_content_is_that(call: str) -> None:
    script = f"from some_client import Chat\nmodel = Chat(think=False)\nresponse = model.ask('Hello')\n{call}\n"
    text = f"{FENCE}python\n{script}{FENCE}\n\nOutput:\n\n{FENCE}\n<think>\nA greeting.\n</think>\n\nHello!\n{FENCE}\n"
    evidence = read_evidence(text)

    assert evidence.chat is not None
    assert "PD409" in codes(evidence)


def test_what_a_script_prints_otherwise_stays_a_raw_output() -> None:
    script = "out = tokenizer.decode(ids)\nprint(out)\n"
    text = f"{FENCE}python\n{script}{FENCE}\n\nOutput:\n\n{FENCE}\n<think>\nA greeting.\n</think>\n\nHello!\n{FENCE}\n"

    assert read_evidence(text).chat is None


def test_a_flood_of_labels_takes_no_longer() -> None:
    assert grows_linearly(lambda size: read_evidence(report("Response " * size, "returned " * size)), first=250)
