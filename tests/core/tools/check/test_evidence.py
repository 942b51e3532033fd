"""A cell of the matrix as a run: what was sent, given and returned is what the page shows and can be pasted again."""

import json
from dataclasses import replace

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import ParserOutcome
from prompt_debugger.core.evidence import Form, read_evidence
from prompt_debugger.core.pipeline.diagnosis import read_trace
from prompt_debugger.core.tools.check import cell_trace, check_without_parsers, ideal_of, pasted_text
from prompt_debugger.core.tools.check.model import CheckedModel
from tests.core.tools.check.checks import RIGHT, WRONG, check_of
from tests.core.tools.check.templates import HERMES

CALL = {"type": "function", "function": {"name": "get_weather", "arguments": '{"city": "zqOslo"}'}}


def checked(outcome, answer="one-call"):
    return check_of(cells={answer: replace(WRONG, outcome=outcome)})


async def test_a_cell_shows_where_the_parser_and_the_output_part():
    check = checked(ParserOutcome(None, None, (CALL,)))

    trace = await read_trace(cell_trace(check, "vllm:hermes", "one-call"))

    assert trace.raw.text == ideal_of(check, "one-call").raw
    assert [match.outcome.value for match in trace.parse.ledger.matches] == ["altered"]
    assert trace.chat.finish_reason == "tool_calls"
    assert "PD402" in [finding.code for finding in trace.findings]


async def test_a_cell_that_comes_back_has_no_finding():
    call = {"type": "function", "function": {"name": "get_weather", "arguments": '{"city": "zqParis"}'}}
    check = checked(ParserOutcome(None, None, (call,)))

    trace = await read_trace(cell_trace(check, "vllm:hermes", "one-call"))

    assert [match.outcome.value for match in trace.parse.ledger.matches] == ["kept"]
    assert trace.findings == ()


def test_a_parser_that_failed_returned_no_message():
    trace = cell_trace(checked(ParserOutcome(None, None, (), error="it raised")), "vllm:hermes", "one-call")

    assert trace.chat is None
    assert trace.raw is not None


@pytest.mark.parametrize("cell", [("vllm:hermes", "no such answer"), ("vllm:other", "one-call")])
def test_a_cell_that_was_not_asked_is_refused(cell):
    with pytest.raises(RequestError):
        cell_trace(check_of(cells={"one-call": RIGHT}), *cell)


def test_the_text_of_a_cell_is_read_for_what_it_holds_when_it_is_pasted():
    trace = cell_trace(checked(ParserOutcome(None, "left", ())), "vllm:hermes", "one-call")

    pasted = read_evidence(pasted_text(trace))

    assert pasted.form is Form.OUTPUT
    assert pasted.raw == trace.raw.text
    assert pasted.chat.message["content"] == "left"
    assert json.loads(pasted_text(trace))["tools"] == list(trace.request.tools)


def test_without_parsers_the_template_is_still_looked_at():
    check = check_without_parsers(CheckedModel("ours", HERMES))

    assert check.cells == {}
    assert check.template.supports["tools"] is True or check.template.supports
    assert [ideal.answer.name for ideal in check.ideals][:2] == ["text", "one-call"]
