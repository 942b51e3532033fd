"""What a person tells of an error is not its words; paths with arrows are paths of the request."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.evidence import read_evidence, trace_of

TOLD = "The agent → the adapter (`/v1/messages`) → vLLM → 400 Bad Request. The user types `hi` and sees no response."
LOG = "2026-05-06 10:48:53.405 [Error] (StreamingProxy) Backend returned error: 400\n"


def test_what_a_person_tells_is_no_error() -> None:
    with pytest.raises(RequestError):
        read_evidence(TOLD)


def test_the_log_below_it_is_one() -> None:
    evidence = read_evidence(f"{TOLD}\n\n```\n{LOG}```\n")

    assert evidence.error is not None
    assert evidence.error.message == "Backend returned error: 400"


def test_an_error_that_a_program_joins_with_arrows_is_one() -> None:
    text = '{"error": {"message": "body -> messages -> 3 -> tool_calls -> 0 -> function -> arguments: Value error, '
    text += 'arguments must be a JSON object, got str", "type": "invalid_request_error"}}'

    finding = diagnose_trace(trace_of(read_evidence(text)))[0]

    assert "oMLX" in finding.detail
    assert "the request is right" in finding.fix


def test_a_sentence_of_a_server_with_two_sentences_is_one() -> None:
    evidence = read_evidence("400 The model does not support tools. Use another model for vLLM.")

    assert evidence.error is not None
