"""mlx-lm's own server on the processor: its ids are believed, and what it lists in their place is not."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import Basis, Completeness, Severity
from tests.servers.scenarios import body_of, debug
from tests.servers.truth import EXPECTED_CALLS, assert_healthy, returned_calls

pytestmark = pytest.mark.servers

MODEL = "default_model"


@pytest.mark.parametrize("scenario", ["healthy", "parallel", "prose"])
def test_a_healthy_run_rests_on_its_own_ids(mlx_url, lab_model_dir, scenario):
    trace = debug(mlx_url, body_of(scenario, model=MODEL), tokenizer=lab_model_dir)

    assert returned_calls(trace) == EXPECTED_CALLS[scenario]
    assert_healthy(trace)
    assert (trace.evidence, trace.raw.completeness) == (Basis.SAME_RUN, Completeness.WHOLE)
    assert trace.verdict.sentence.startswith("Nothing lost")


def test_a_request_that_names_no_model_goes_out_without_one(mlx_url, lab_model_dir):
    """It lists no models and refuses `model: null`."""
    body = {name: value for name, value in body_of("healthy", model=MODEL).items() if name != "model"}
    trace = debug(mlx_url, body, tokenizer=lab_model_dir)

    assert trace.refusal is None
    assert returned_calls(trace) == EXPECTED_CALLS["healthy"]
    assert "model" not in (trace.sent or {})


@pytest.mark.parametrize("fields", [{}, {"temperature": 0.7, "seed": 1}])
def test_any_of_the_likeliest_tokens_is_not_what_was_sampled(mlx_url, lab_model_dir, fields):
    """With `top_logprobs` above 1 it lists any of them as the token: no call was invented for that."""
    body = body_of("healthy", model=MODEL, logprobs=True, top_logprobs=3, **fields)
    trace = debug(mlx_url, body, tokenizer=lab_model_dir)

    assert returned_calls(trace) == EXPECTED_CALLS["healthy"]
    assert_healthy(trace)
    assert trace.evidence is not Basis.SAME_RUN
    assert any("not used" in note for note in trace.notes)
    assert trace.chat.logprobs is None


def test_at_temperature_0_it_is_asked_once_more_without_alternatives(mlx_url, lab_model_dir):
    body = body_of("healthy", model=MODEL, logprobs=True, top_logprobs=3)
    trace = debug(mlx_url, body, tokenizer=lab_model_dir)

    assert trace.raw is not None
    assert "functions.get_weather:0" in trace.raw.text
    assert trace.verdict.sentence.startswith("Nothing lost")


@pytest.mark.parametrize("fields", [{}, {"stream": True}])
def test_a_call_that_its_parser_refuses_is_lost(mlx_url, lab_model_dir, fields):
    trace = debug(mlx_url, body_of("dropped", model=MODEL, **fields), tokenizer=lab_model_dir)

    assert returned_calls(trace) == []
    assert (trace.verdict.dropped_calls, trace.verdict.invented_calls) == (1, 0)
    assert "Guilty stage: parse." in trace.verdict.sentence


def test_asked_once_it_shows_the_same(mlx_url, lab_model_dir):
    trace = debug(mlx_url, body_of("healthy", model=MODEL), tokenizer=lab_model_dir, asks_once=True)

    assert_healthy(trace)
    assert (trace.evidence, trace.chat_stream, trace.raw_again) == (Basis.SAME_RUN, None, None)


def test_a_header_that_it_writes_against_the_request_is_not_called_missing(mlx_url, lab_model_dir):
    """It ignores `add_generation_prompt: false`; its count shows that its prompt is not our render."""
    body = body_of("healthy", model=MODEL, add_generation_prompt=False)
    trace = debug(mlx_url, body, tokenizer=lab_model_dir)

    assert {finding.code for finding in trace.findings} == {"PD219"}
    assert "may ignore `add_generation_prompt: false`" in trace.findings[0].detail


@pytest.mark.parametrize("fields", [{}, {"stream": True}])
def test_half_a_call_that_it_returns_is_the_limit_s_doing(mlx_url, lab_model_dir, fields):
    """Its parser takes the half for a call, marker and all: no parser that runs already is advised for that."""
    trace = debug(mlx_url, body_of("cut", model=MODEL, **fields), tokenizer=lab_model_dir)
    cut, left = trace.findings

    assert returned_calls(trace)[0][0] == "<|tool_call_begin|>functions.get_weather"
    assert (trace.verdict.dropped_calls, trace.verdict.invented_calls, trace.verdict.altered_calls) == (0, 0, 0)
    assert (cut.code, left.code, left.severity) == ("PD301", "PD406", Severity.WARNING)
    assert "returned the half of it" in left.detail
    assert "--tool-call-parser" not in left.fix


def test_a_healthy_stream_is_judged_as_healthy(mlx_url, lab_model_dir):
    trace = debug(mlx_url, body_of("healthy", model=MODEL, stream=True), tokenizer=lab_model_dir)

    assert returned_calls(trace) == EXPECTED_CALLS["healthy"]
    assert_healthy(trace)
