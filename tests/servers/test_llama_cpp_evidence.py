"""What llama.cpp's own server gives as evidence of its runs, with our tokenizer and without."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import Basis, Completeness, Severity
from tests.servers.scenarios import body_of, debug

pytestmark = pytest.mark.servers

CALL = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|><|im_end|>'
)


@pytest.mark.parametrize("has_tokenizer", [True, False])
@pytest.mark.parametrize("scenario", ["healthy", "parallel", "prose"])
def test_a_healthy_run_rests_on_the_ids_of_the_run_itself(llama_cpp_url, lab_model_dir, scenario, has_tokenizer):
    trace = debug(llama_cpp_url, body_of(scenario), tokenizer=lab_model_dir if has_tokenizer else None)

    assert (trace.evidence, trace.raw.completeness) == (Basis.SAME_RUN, Completeness.WHOLE)
    assert trace.raw.text.endswith("<|im_end|>")
    assert trace.raw.finish_reason == "stop"
    assert trace.raw.token_ids == trace.raw_again.token_ids
    assert trace.verdict.sentence.startswith("Nothing lost: ")
    assert [finding for finding in trace.findings if finding.severity is Severity.ERROR] == []


def test_the_markers_that_its_text_leaves_out_are_there(llama_cpp_url):
    trace = debug(llama_cpp_url, body_of("healthy"))

    assert trace.raw.text == CALL
    assert [call.name for call in trace.parse.parsed.calls] == ["get_weather"]
    assert "<|tool_call_begin|>" in trace.raw.constraint  # its grammar, told with the run


def test_a_cut_call_is_cut_in_the_words_of_its_sampler(llama_cpp_url, lab_model_dir):
    trace = debug(llama_cpp_url, body_of("cut"), tokenizer=lab_model_dir)

    assert trace.raw.finish_reason == "length"
    assert "PD301" in {finding.code for finding in trace.findings}


def test_log_probabilities_that_it_will_not_stream_are_a_note_about_evidence(llama_cpp_url, lab_model_dir):
    trace = debug(llama_cpp_url, body_of("healthy", logprobs=True), tokenizer=lab_model_dir)

    assert trace.evidence is Basis.SAME_RUN
    assert trace.chat_stream.error is None
    assert [note for note in trace.notes if note.startswith("The server refuses `logprobs` in a stream")]
    assert [finding for finding in trace.findings if finding.severity is Severity.ERROR] == []
    assert trace.verdict.stage is None


def test_it_tells_every_token_where_no_tokenizer_is_at_hand(llama_cpp_url, lab_model_dir):
    ours = debug(llama_cpp_url, body_of("healthy"), tokenizer=lab_model_dir)
    shown = debug(llama_cpp_url, body_of("healthy"))

    for name in ("raw", "prompt"):
        tokens = [[(one.id, one.text, one.char_span) for one in getattr(run, name).tokens] for run in (shown, ours)]
        assert tokens[0] == tokens[1]
    assert [call.token_span for call in shown.parse.parsed.calls] == [
        call.token_span for call in ours.parse.parsed.calls
    ]
