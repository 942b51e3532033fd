"""LiteLLM's proxy before a real vLLM, by both of its routes: what is said of its runs is true."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import Basis
from tests.servers.running_servers import LITELLM_KEY
from tests.servers.scenarios import body_of, debug
from tests.servers.truth import EXPECTED_CALLS, assert_healthy, assert_loss_is_not_denied, errors_of, returned_calls

pytestmark = [pytest.mark.lab, pytest.mark.servers]


@pytest.fixture(params=["hosted", "openai"])
def route(request):
    """Model name of a route: `hosted_vllm/` or `openai/`."""
    return request.param


def run(litellm_url, lab_model_dir, scenario, route):
    return debug(litellm_url, body_of(scenario, model=route), tokenizer=lab_model_dir, api_key=LITELLM_KEY)


@pytest.mark.parametrize("scenario", ["healthy", "parallel", "prose"])
def test_healthy(litellm_url, lab_model_dir, scenario, route):
    trace = run(litellm_url, lab_model_dir, scenario, route)

    assert returned_calls(trace) == EXPECTED_CALLS[scenario]
    assert_healthy(trace)
    assert trace.evidence is Basis.SAME_RUN
    assert (trace.server.model, trace.server.served_models) == (route, ("hosted", "openai"))


def test_dropped(litellm_url, lab_model_dir, route):
    trace = run(litellm_url, lab_model_dir, "dropped", route)

    assert returned_calls(trace) == []
    assert_loss_is_not_denied(trace)
    assert trace.verdict.dropped_calls == 1


def test_cut(litellm_url, lab_model_dir, route):
    trace = run(litellm_url, lab_model_dir, "cut", route)

    assert "PD301 The tool call was cut by max_tokens and returned as complete." in errors_of(trace)


def test_refused(litellm_url, lab_model_dir, route):
    trace = run(litellm_url, lab_model_dir, "refused", route)

    assert trace.refusal is not None
    assert "Input should be a valid number" in trace.refusal.message


def test_a_model_that_no_route_has(litellm_url, lab_model_dir):
    trace = run(litellm_url, lab_model_dir, "prose", "nobody")

    assert trace.verdict.sentence.startswith("The server does not serve the model that the request names")
    assert "`hosted`, `openai`" in trace.findings[0].fix
