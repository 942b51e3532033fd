"""Servers that start in seconds: what is said of healthy, dropped, cut, prose, refused and parallel runs is true."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import Basis
from tests.servers.scenarios import body_of, debug
from tests.servers.truth import EXPECTED_CALLS, assert_healthy, assert_loss_is_not_denied, errors_of, returned_calls

pytestmark = pytest.mark.servers

HEALTHY = ["healthy", "parallel", "prose"]


@pytest.mark.parametrize("scenario", HEALTHY)
def test_llama_cpp_healthy(llama_cpp_url, lab_model_dir, scenario):
    trace = debug(llama_cpp_url, body_of(scenario), tokenizer=lab_model_dir)

    assert returned_calls(trace) == EXPECTED_CALLS[scenario]
    assert_healthy(trace)
    assert trace.evidence is Basis.SAME_RUN
    assert trace.verdict.sentence.startswith("Nothing lost")


@pytest.mark.parametrize("scenario", HEALTHY)
def test_llama_cpp_healthy_without_a_tokenizer(llama_cpp_url, scenario):
    trace = debug(llama_cpp_url, body_of(scenario))

    assert returned_calls(trace) == EXPECTED_CALLS[scenario]
    assert_healthy(trace)


def test_llama_cpp_s_grammar_chooses_the_call_and_nothing_is_called_lost(llama_cpp_url, lab_model_dir):
    """Its grammar knows no header without an index: the model writes another call, and that is what it wrote."""
    trace = debug(llama_cpp_url, body_of("dropped"), tokenizer=lab_model_dir)

    assert [name for name, _ in returned_calls(trace)] == ["search"]
    assert_healthy(trace)
    assert '"query"' in trace.raw.text


def test_llama_cpp_cut(llama_cpp_url, lab_model_dir):
    trace = debug(llama_cpp_url, body_of("cut"), tokenizer=lab_model_dir)

    assert trace.chat.finish_reason == "length"
    assert {finding.code for finding in trace.findings} == {"PD301"}
    assert "cut by max_tokens" in trace.verdict.sentence


def test_llama_cpp_cut_after_the_opening_marker(llama_cpp_url, lab_model_dir):
    """It puts what it cannot read yet into content: the limit is why, not a parser."""
    trace = debug(llama_cpp_url, body_of("healthy", max_tokens=1), tokenizer=lab_model_dir)

    assert trace.chat.message["content"] == trace.raw.text
    assert {finding.code for finding in trace.findings} == {"PD322"}
    assert trace.verdict.stage is None


def test_llama_cpp_refuses_a_schema_with_500(llama_cpp_url, lab_model_dir):
    body = body_of("healthy")
    body["tools"][0]["function"]["parameters"]["properties"]["city"]["type"] = "town"

    trace = debug(llama_cpp_url, body, tokenizer=lab_model_dir)

    assert trace.refusal is not None
    assert "unrecognized type" in trace.refusal.message.lower()
    assert trace.verdict.stage.value == "request"
    assert "broke off" not in trace.verdict.sentence


def test_llama_cpp_with_a_full_context(llama_cpp_url, lab_model_dir):
    body = body_of("healthy", max_tokens=None)
    body["messages"][-1]["content"] = "What's the weather in Paris? " * 300

    trace = debug(llama_cpp_url, body, tokenizer=lab_model_dir)

    assert trace.refusal is not None
    assert "context" in trace.refusal.message
    assert trace.verdict.sentence.startswith("The request does not fit the server's context")


def test_llama_cpp_under_a_name_it_does_not_list(llama_cpp_url, lab_model_dir):
    trace = debug(llama_cpp_url, body_of("prose", model="gpt-nobody"), tokenizer=lab_model_dir)

    assert_healthy(trace)
    assert any("lists no model named `gpt-nobody`" in note for note in trace.notes)


@pytest.mark.parametrize("scenario", HEALTHY)
def test_two_models_after_one_address(two_models_url, scenario):
    """Context length and tokenizer are those of the requested model; the first would not even hold the prompt."""
    trace = debug(two_models_url, body_of(scenario, model="lab"))

    assert (trace.server.model, trace.server.served_models) == ("lab", ("small", "lab"))
    assert trace.server.max_model_len == 2048
    assert returned_calls(trace) == EXPECTED_CALLS[scenario]
    assert_healthy(trace)
    assert "PD306" not in {finding.code for finding in trace.findings}


@pytest.mark.parametrize("scenario", ["healthy", "parallel", "dropped"])
def test_transformers_returns_no_calls_and_nothing_is_denied(transformers_url, lab_model_dir, scenario):
    """It has no parser for this model and strips the markers: each call is lost."""
    trace = debug(transformers_url, body_of(scenario, model=str(lab_model_dir)), tokenizer=lab_model_dir)

    assert returned_calls(trace) == []
    assert_loss_is_not_denied(trace)


def test_transformers_prose(transformers_url, lab_model_dir):
    trace = debug(transformers_url, body_of("prose", model=str(lab_model_dir)), tokenizer=lab_model_dir)

    assert_healthy(trace)


def test_transformers_cut(transformers_url, lab_model_dir):
    trace = debug(transformers_url, body_of("cut", model=str(lab_model_dir)), tokenizer=lab_model_dir)

    assert_loss_is_not_denied(trace)
    assert trace.chat.finish_reason == "length"


def test_transformers_refuses_another_model(transformers_url, lab_model_dir):
    trace = debug(transformers_url, body_of("prose", model="gpt-nobody"), tokenizer=lab_model_dir)

    assert errors_of(trace) == [
        "PD100 The server does not serve the model that the request names: "
        f"Server is pinned to '{lab_model_dir}'; requested 'gpt-nobody'."
    ]
