"""A run in other programs' forms, each read as that program reads it."""

import json
import shlex

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Finding, FindingEvidence, Request, Severity, Span, Stage, Trace
from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.pipeline import render_case
from prompt_debugger.core.pipeline.recordings import load_recording
from prompt_debugger.core.tools.fixes.exports import EXPORTS, export_run, sarif, template_line
from prompt_debugger.ui.cli.main import main
from prompt_debugger.ui.report import share_trace


@pytest.fixture(scope="module")
def trace():
    recording = load_recording("dropped-call")
    assert recording is not None
    return recording.trace


def test_a_row_of_k2vv_has_its_fields_and_our_counts(trace):
    row = json.loads(export_run(trace, "k2vv"))

    assert (row["data_index"], row["status"], row["finish_reason"]) == (1, "success", trace.chat.finish_reason)
    assert (row["debugger"]["written"], row["debugger"]["dropped"]) == (1, 1)


def test_a_sample_for_vllms_replay_spells_the_output_and_expects_the_call(trace):
    sample = json.loads(export_run(trace, "vllm-replay"))

    assert "".join(text for _, text in sample["tokens"]) == trace.raw.text
    assert [call["name"] for call in sample["expected_tool_calls"]] == ["get_weather"]
    assert isinstance(sample["expected_tool_calls"][0]["arguments"], dict)
    assert sample["vocab"]
    assert {"id", "description", "source", "expected_reasoning", "expected_content", "tools"} <= set(sample)


def test_a_span_is_read_as_the_same_request_and_answer(trace):
    evidence = read_evidence(export_run(trace, "otel"))

    assert evidence.request is not None
    assert evidence.chat is not None
    assert evidence.request.body["tools"] == trace.request.body["tools"]
    assert evidence.request.messages[-1]["content"] == trace.request.messages[-1]["content"]
    assert (evidence.chat.message.get("content") or None) == (trace.chat.message.get("content") or None)


def test_a_test_is_a_program_that_names_the_parser(trace):
    source = export_run(trace, "pytest")

    compile(source, "test_run.py", "exec")
    assert "vllm:kimi_k2" in source


def test_the_request_as_a_command_and_as_a_program(trace):
    assert shlex.split(export_run(trace, "curl"))[0] == "curl"
    compile(export_run(trace, "openai-python"), "run.py", "exec")


def test_findings_are_at_the_line_of_the_template_that_wrote_the_text():
    case = {
        "request": {"messages": [{"role": "user", "content": "hi"}]},
        "chat_template": "a\n{{ messages[0].content }}",
    }
    prompt, _ = render_case(case)
    at = FindingEvidence("prompt", char_span=Span(2, 4))
    of = FindingEvidence("request", field="messages[0].content")
    finding = Finding("PD999", "a-fault", Severity.WARNING, Stage.RENDER, "A fault.", "It is here.", (at,))
    nowhere = Finding("PD998", "another", Severity.ERROR, Stage.RENDER, "Another.", "It is nowhere.")

    assert [
        template_line(Finding("", "", Severity.NOTE, Stage.RENDER, "", "", (one,)), prompt) for one in (at, of)
    ] == [2, 2]
    run = json.loads(sarif((finding, nowhere), file="my.jinja", prompt=prompt, version="1"))["runs"][0]
    places = [one["locations"][0]["physicalLocation"] for one in run["results"]]
    assert [place["region"]["startLine"] for place in places] == [2, 1]
    assert [one["properties"]["lineKnown"] for one in run["results"]] == [True, False]
    assert {place["artifactLocation"]["uri"] for place in places} == {"my.jinja"}
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["PD998", "PD999"]


def test_a_run_without_tokens_makes_no_sample_and_every_other_form():
    trace = Trace(Request({"messages": [{"role": "user", "content": "hi"}]}, ""))

    with pytest.raises(RequestError, match="The tokens of the raw output are not known"):
        export_run(trace, "vllm-replay")
    assert all(export_run(trace, form) for form in EXPORTS if form not in ("vllm-replay", "curl"))


def test_the_command_writes_a_form(trace, tmp_path, capfd):
    saved = tmp_path / "trace.json"
    saved.write_text(share_trace(trace).bundle, encoding="utf-8")

    assert main(["report", str(saved), "--as", "sarif", "--output", str(tmp_path / "out.sarif")]) == 0
    assert main(["report", str(saved), "--as", "k2vv", "--json"]) == 0

    document = json.loads(capfd.readouterr().out)
    assert json.loads((tmp_path / "out.sarif").read_text())["version"] == "2.1.0"
    assert json.loads(document["text"])["debugger"]["dropped"] == 1
