"""SGLang's gateway before a real vLLM: runs as without it, and its own refusals, each for its own reason."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import Basis
from prompt_debugger.core.tools.lab import LabSpec
from tests.servers.running_servers import smg, two_models
from tests.servers.scenarios import body_of, debug
from tests.servers.truth import EXPECTED_CALLS, assert_healthy, errors_of, returned_calls

pytestmark = [pytest.mark.lab, pytest.mark.servers]


@pytest.mark.parametrize("fields", [{}, {"stream": True}])
@pytest.mark.parametrize("scenario", ["healthy", "parallel", "prose"])
def test_a_healthy_run_passes_with_its_ids(smg_url, lab_model_dir, scenario, fields):
    trace = debug(smg_url, body_of(scenario, **fields), tokenizer=lab_model_dir)

    assert returned_calls(trace) == EXPECTED_CALLS[scenario]
    assert_healthy(trace)
    assert trace.evidence is Basis.SAME_RUN


@pytest.mark.parametrize("fields", [{}, {"stream": True}])
def test_a_dropped_call_is_found(smg_url, lab_model_dir, fields):
    trace = debug(smg_url, body_of("dropped", **fields), tokenizer=lab_model_dir)

    assert (returned_calls(trace), trace.verdict.dropped_calls) == ([], 1)
    assert "Guilty stage: parse." in trace.verdict.sentence


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"temperature": 3}, "A number in the request is outside the range"),
        ({"max_tokens": 0}, "A number in the request is outside the range"),
        ({"messages": []}, "The request contains an empty list"),
        ({"tools": [{"type": "function"}]}, "Something that the request must contain is missing or empty"),
        ({"top_logprobs": 3}, "The request has a field that needs another one"),
        ({"stream_options": {"include_usage": True}}, "The request has a field that needs another one"),
        ({"model": "gpt-nobody"}, "The server does not serve the model that the request names"),
    ],
)
def test_what_it_refuses_is_said_for_its_own_reason(smg_url, fields, said):
    trace = debug(smg_url, body_of("healthy", **fields))

    assert trace.refusal is not None
    assert any(said in title for title in errors_of(trace)), errors_of(trace)
    assert trace.verdict.stage.value == "request"
    assert "not in the tables" not in trace.findings[0].detail


def test_a_schema_that_leads_nowhere_is_the_request_s(smg_url):
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/gone"}}}
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    trace = debug(smg_url, body_of("prose", response_format=form))

    assert trace.verdict.stage.value == "request"
    assert "`$ref`" in trace.findings[0].detail


def test_a_worker_that_is_gone_is_not_the_request_s_fault(labs, smg_url, tmp_path):
    """The gateway says first that it reached nothing, then that no worker is left."""
    upstream = asyncio.run(labs.get(LabSpec())).base_url
    with ExitStack() as worker:
        address = worker.enter_context(two_models(upstream, [{"id": "lab-model", "object": "model"}]))
        with smg(tmp_path, address) as base_url:
            worker.close()
            trace = debug(base_url, body_of("prose"))
            said = [_words_of(base_url) for _ in range(12)]

    assert trace.verdict.sentence.startswith("The server did not reach another one that it needs")
    assert "port are right" in trace.findings[0].fix
    assert any("Check whether those servers run" in words for words in said), said


def _words_of(base_url: str) -> str:
    try:
        trace = debug(base_url, body_of("prose", model="lab-model"))
    except BackendError as error:
        return error.hint
    return "" if trace.verdict is None else trace.verdict.sentence
