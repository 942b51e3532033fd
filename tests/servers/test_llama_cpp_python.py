"""llama-cpp-python's own server: it shows no control tokens, reads no calls of this model, and forces one by name."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import Basis, Completeness
from tests.servers.scenarios import body_of, debug
from tests.servers.truth import assert_healthy, assert_loss_is_not_denied, errors_of, returned_calls

pytestmark = pytest.mark.servers

SEARCH = {"type": "function", "function": {"name": "search"}}


@pytest.mark.parametrize("fields", [{}, {"stream": True}])
@pytest.mark.parametrize("scenario", ["healthy", "parallel"])
def test_a_call_without_its_markers_is_not_denied(llama_cpp_python_url, lab_model_dir, scenario, fields):
    trace = debug(llama_cpp_python_url, body_of(scenario, **fields), tokenizer=lab_model_dir)

    assert returned_calls(trace) == []
    assert_loss_is_not_denied(trace)
    assert trace.raw.completeness is Completeness.STRIPPED
    assert "PD426" in {finding.code for finding in trace.findings}


def test_prose(llama_cpp_python_url, lab_model_dir):
    trace = debug(llama_cpp_python_url, body_of("prose"), tokenizer=lab_model_dir)

    assert_healthy(trace)
    assert trace.verdict.sentence.startswith("Nothing lost")


def test_of_a_forced_call_the_model_writes_the_arguments_alone(llama_cpp_python_url, lab_model_dir):
    """Its grammar is that of the tool's parameters; the server adds the name, and nothing was invented."""
    trace = debug(llama_cpp_python_url, body_of("healthy", tool_choice=SEARCH), tokenizer=lab_model_dir)

    assert [name for name, _ in returned_calls(trace)] == ["search"]
    assert_healthy(trace)
    assert (trace.evidence, trace.raw.text.lstrip()[:1]) == (Basis.SAME_RUN, "{")


def test_a_forced_call_that_was_cut_is_said_to_be(llama_cpp_python_url, lab_model_dir):
    body = body_of("healthy", tool_choice=SEARCH, max_tokens=6)
    trace = debug(llama_cpp_python_url, body, tokenizer=lab_model_dir)

    assert (trace.verdict.invented_calls, trace.verdict.dropped_calls) == (0, 0)
    assert "PD301" in {finding.code for finding in trace.findings}


def test_a_call_that_is_required_and_not_returned(llama_cpp_python_url, lab_model_dir):
    trace = debug(llama_cpp_python_url, body_of("healthy", tool_choice="required"), tokenizer=lab_model_dir)

    assert returned_calls(trace) == []
    assert any(title.startswith("PD504") for title in errors_of(trace))


def test_a_history_without_a_text_is_refused_in_its_words(llama_cpp_python_url, lab_model_dir):
    trace = debug(llama_cpp_python_url, body_of("dropped"), tokenizer=lab_model_dir)

    assert "`messages[2].content`: Input should be a valid string" in trace.verdict.sentence
    assert trace.verdict.stage.value == "request"
