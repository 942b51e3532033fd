"""The recorded worked cases are real, whole, and judged by today's rules: what holds of a live run holds of them."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

from prompt_debugger.core.pipeline import EXAMPLE_NAMES, find_example, load_recording
from prompt_debugger.core.pipeline.recordings import FACTS_NAME, judge_again, pack_recording, recordings_dir
from prompt_debugger.core.report import read_bundle, trace_to_json, write_bundle
from tests.test_worked_cases import (  # noqa: F401  # the same statements, asked of the recordings
    test_a_healthy_run_has_no_fault_and_no_finding_above_a_note,
    test_answer_swallowed_as_reasoning,
    test_dropped_call,
    test_every_prompt_is_traced_to_the_last_character,
    test_every_run_rests_on_ids_of_the_same_run,
    test_missing_generation_prompt,
    test_polluted_content,
    test_truncated_call,
    test_tutorial_tool_types,
    test_wrong_parser,
)

AGAIN = "record them anew: python scripts/record_worked_cases.py"


@pytest.fixture(scope="module")
def recordings():
    found = {name: load_recording(name) for name in EXAMPLE_NAMES}
    assert all(found.values()), AGAIN
    return found


@pytest.fixture(scope="module")
def documents(recordings):
    """What `run --json` would print of the recorded runs, by worked case."""
    return {name: json.loads(json.dumps(trace_to_json(found.trace))) for name, found in recordings.items()}


@pytest.mark.parametrize("name", EXAMPLE_NAMES)
def test_a_recording_is_of_the_case_as_it_stands(recordings, name):
    trace, example = recordings[name].trace, find_example(name)

    assert trace.request.body == json.loads(example.request_text), AGAIN
    server = trace.server
    assert (server.kind, server.is_lab, server.model) == ("vllm", True, "lab-model")
    assert (server.tool_parser, server.reasoning_parser) == (example.lab.tool_parser, example.lab.reasoning_parser)
    assert server.version.startswith("0.32.0")


@pytest.mark.parametrize("name", EXAMPLE_NAMES)
def test_a_recording_is_a_bundle_that_no_one_edited(name):
    text = gzip.decompress((recordings_dir() / f"{name}.json.gz").read_bytes()).decode()
    bundle = read_bundle(text)

    assert not bundle.is_edited, AGAIN
    assert read_bundle(write_bundle(bundle.trace)).trace == bundle.trace
    assert "/home/" not in text


def test_the_recordings_are_small(recordings):
    assert sum(path.stat().st_size for path in recordings_dir().iterdir()) < 600_000


def test_what_was_made_of_a_run_then_does_not_count(recordings):
    whole = recordings["dropped-call"].trace
    stale = replace(whole, findings=(), verdict=None, parse=replace(whole.parse, ledger=None))

    again = judge_again(stale)

    assert again.verdict == whole.verdict
    assert again.findings == whole.findings
    assert again.parse.ledger == whole.parse.ledger
    assert again.parse.parsers.keys() == whole.parse.parsers.keys()
    assert len(whole.parse.parsers) > 40


def test_where_there_is_no_recording_there_is_none(tmp_path):
    assert load_recording("healthy-call", tmp_path) is None


def test_a_file_from_another_format_is_refused_and_not_shown_as_something_else(tmp_path):
    (tmp_path / "healthy-call.json.gz").write_bytes(pack_recording('{"schema_version": 1, "bundle": {"version": 0}}'))
    (tmp_path / FACTS_NAME).write_text('{"recorded_on": "2026-01-01"}')

    with pytest.raises(Exception, match="bundle"):
        load_recording("healthy-call", tmp_path)
