"""The JSON Schemas in docs/schema are those of what the program writes, and what it writes keeps to them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from prompt_debugger.core.base import errors
from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.report import parse_to_json, prompt_to_json, trace_to_json, write_bundle
from prompt_debugger.core.report.wire import write_json
from prompt_debugger.core.tools.experiments.documents import ANSWERS
from scripts.json_schemas import DOCUMENTS, json_schema_of, schema_of_class, stale_files
from tests.core.report.strategies import instances
from tests.ui.present.traces import dropped_call_trace

VALIDATORS = {name: Draft202012Validator(json_schema_of(name)) for name in DOCUMENTS}
ERRORS = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.DebuggerError)]


def problems(name, document):
    return [f"{error.json_path}: {error.message}" for error in VALIDATORS[name].iter_errors(document)]


def test_the_files_are_up_to_date():
    assert stale_files() == [], "run `make docs`"


@pytest.mark.parametrize("name", [*DOCUMENTS, *ANSWERS])
def test_a_schema_is_one_and_describes_every_field(name):
    schema = schema_of_class({**DOCUMENTS, **ANSWERS}[name])

    Draft202012Validator.check_schema(schema)
    records = [schema, *(one for one in schema["$defs"].values() if "properties" in one)] if "$defs" in schema else []
    assert [
        (one["title"], field)
        for one in records
        for field, shown in one["properties"].items()
        if not shown.get("description")
    ] == []


def test_a_example_keeps_to_all_of_them():
    trace = dropped_call_trace()

    assert problems("run", json.loads(json.dumps(trace_to_json(trace)))) == []
    assert problems("run", json.loads(write_bundle(trace))) == []
    assert problems("render", json.loads(json.dumps(prompt_to_json(trace.prompt, findings=trace.findings)))) == []
    assert problems("parse", json.loads(json.dumps(parse_to_json(trace.parse, case_id=[1])))) == []


@given(instances(Trace))
def test_every_run_keeps_to_its_schema(trace):
    trace = replace(trace, request=replace(trace.request, body={}), sent={})

    found = problems("run", json.loads(write_json(trace_to_json(trace))))

    assert [one for one in found if "$json" not in one] == []


def test_a_document_of_another_shape_does_not():
    document = json.loads(json.dumps(trace_to_json(dropped_call_trace())))
    document["findings"][0]["severity"] = "grave"
    del document["verdict"]["sentence"]

    severity, verdict = problems("run", document)
    assert severity == "$.findings[0].severity: 'grave' is not one of ['error', 'warning', 'note']"
    assert verdict.startswith("$.verdict: ")


def test_what_is_empty_is_left_out_where_the_contract_says_so():
    document = trace_to_json(dropped_call_trace())

    assert all("in" in one and None not in one.values() for item in document["findings"] for one in item["evidence"])
    assert not {"body", "prompt_logprobs"} & {*document["chat"], *document["raw"]}
    assert "template" not in document["prompt"]


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_error_keeps_to_its_schema(kind):
    error = kind("it broke", "Mend it.")

    assert problems("error", error.to_json()) == []
    assert error.to_json().keys() <= json_schema_of("error")["properties"].keys()
