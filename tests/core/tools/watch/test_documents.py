"""What `watch --json` prints line by line, and a webhook gets, keeps to its schema."""

import json
from dataclasses import asdict
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from prompt_debugger.core.tools.watch.alarms import alarm_of
from prompt_debugger.core.tools.watch.canary import CanaryResult
from prompt_debugger.ui.cli.lab_environment import LabRemoved
from prompt_debugger.ui.cli.watch import WatchStarted
from tests.conftest import ROOT

FAULTY: Any = {
    "data_index": 3,
    "last_run_at": "2026-11-24T10:00:00.000+00:00",
    "request": {"model": "m"},
    "debugger": {"codes": ["PD401"], "stage": "parse", "verdict": "A call was lost.", "dropped": 1, "returned": 0},
}
STARTED = WatchStarted(base_url="http://127.0.0.1:1/v1", upstream="http://u/v1", pid=1, store="s", metrics=None)
DOCUMENTS = [
    ("watch-alarm", alarm_of(FAULTY, "client").to_json()),
    ("watch-alarm", alarm_of({"data_index": 3, "debugger": {"grammar": "never"}}, "").to_json()),
    ("watch-canary", CanaryResult(canary=1, before=None, after={"calls": 1}, changed=False).to_json()),
    ("watch-started", asdict(STARTED)),
    ("lab-removed", asdict(LabRemoved(home="h", removed=True, freed_bytes=1))),
]


@pytest.mark.parametrize(("name", "document"), DOCUMENTS, ids=[name for name, _ in DOCUMENTS])
def test_a_line_keeps_to_its_schema(name, document):
    schema = json.loads((ROOT / "docs" / "schema" / f"{name}.json").read_text())

    Draft202012Validator(schema).validate(document)
    assert {*document} == {*schema["properties"]}


def test_an_alarm_names_its_exchange_and_what_is_wrong():
    document = alarm_of(FAULTY, "client").to_json()

    assert (document["exchange"], document["counts"], document["stage"]) == (3, {"dropped": 1}, "parse")
