"""The types that the scripts are checked with say what Python sends: the same fields, in what is nested, too."""

import re

import pytest

from prompt_debugger.core.base.assets import assets_dir
from prompt_debugger.core.pipeline.recordings import load_recording
from prompt_debugger.ui.present import RunView, unpack_payload
from tests.ui.present.traces import dropped_call_trace

# By payload, where it and what it holds is typed.
SHAPES = {
    "header": {"": "HeaderPayload"},
    "verdict": {"": "VerdictPayload", "evidence": "Evidence"},
    "stages": {"": "StagesPayload", "cards": "StageCard"},
    "findings": {
        "": "FindingsPayload",
        "findings": "FindingCard",
        "findings.evidence": "Evidence",
        "findings.offered": "OfferedFix",
    },
    "ledger": {"": "LedgerPayload", "accounts": "LedgerAccount", "accounts.segments": "LedgerSegment"},
    "difference": {"": "DifferencePayload"},
    "template": {"": "TemplatePayload"},
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_payload_has_the_fields_of_its_type(name):
    types = _interfaces()
    packed = RunView().finish(dropped_call_trace())[name]
    assert packed
    header = unpack_payload(packed)[0]

    for place, type_name in SHAPES[name].items():
        found = _held(header, place.split(".") if place else [])
        assert found, f"the run has no {place} in {name}"
        for one in found:
            assert set(one) == types[type_name], f"{type_name}, for {name} {place}"


def test_the_card_of_a_request_at_fault_has_the_fields_of_its_type():
    refused = load_recording("tutorial-tool-types").trace
    card = unpack_payload(RunView().finish(refused)["stages"])[0]["request"]

    assert set(card) == _interfaces()["RequestCard"]
    assert set(card["evidence"]) <= _interfaces()["Evidence"]


def _interfaces():
    text = (assets_dir() / "js" / "types.d.ts").read_text("utf-8")
    found = re.findall(r"^interface (\w+)[^{]*\{\n(.*?)^\}", text, re.S | re.M)
    return {name: set(re.findall(r"^  (\w+)\??:", body, re.M)) for name, body in found}


def _held(value, path):
    if isinstance(value, list):
        return [found for one in value for found in _held(one, path)]
    if not path or value is None:
        return [value] if isinstance(value, dict) else []
    return _held(value[path[0]], path[1:])
