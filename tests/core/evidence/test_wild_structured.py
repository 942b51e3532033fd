"""Structured output, reasoning, templates and streams, in the forms in which reports bring them."""

from __future__ import annotations

import json

from prompt_debugger.core.base.types import Finding
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.evidence import read_evidence, trace_of

FENCE = "```"


def found_in(text: str) -> dict[str, Finding]:
    return {finding.code: finding for finding in diagnose_trace(trace_of(read_evidence(text)))}


def test_an_argument_of_the_client_in_a_body_is_explained_where_the_server_names_it() -> None:
    log = "WARNING 11-02 [protocol.py:99] The following fields were present in the request but ignored: {'extra_body'}"
    found = found_in(f"{log}\nINFO 11-02 [async_llm.py:1] Added request chatcmpl-1.\n")

    assert "top level of the body" in found["PD105"].fix


def test_another_field_that_the_server_ignored_keeps_its_advice() -> None:
    log = "WARNING 11-02 [protocol.py:99] The following fields were present in the request but ignored: {'thinking'}"

    assert "top level of the body" not in found_in(log)["PD105"].fix


def test_a_budget_for_thoughts_out_of_range_is_known() -> None:
    body = {"error": {"code": 400, "message": "The thinking budget (99999) is invalid.", "status": "INVALID_ARGUMENT"}}
    found = found_in(json.dumps(body))

    assert "thinkingBudget" in found["PD100"].fix
