"""The nine worked cases, each really run on the lab: the right verdict, the right stage, the right token."""

import json
import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.patience import PATIENCE_S
from tests.warm.program import warm_environment

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """Output of `run --examples --json`, by worked case; the labs are booted once each."""
    folder = tmp_path_factory.mktemp("report")
    command = [sys.executable, "app.py", "run", "--examples", "--json", "--report", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False, env=warm_environment()
    )
    found = {}
    for line in done.stdout.splitlines():
        document = json.loads(line)
        found[document["id"]] = document
    assert done.returncode == 1, done.stderr
    assert len(found) == 9, done.stderr
    assert {path.suffix for path in folder.iterdir()} == {".json", ".md", ".html"}
    return found


def codes(document):
    return {finding["name"] for finding in document["findings"]}


def errors(document):
    return {finding["name"] for finding in document["findings"] if finding["severity"] == "error"}


def spans_with_fate(document, *fates):
    raw = document["raw"]["text"]
    return [raw[slice(*entry["char_span"])] for entry in document["parse"]["ledger"] if entry["fate"] in fates]


@pytest.mark.parametrize("name", ["healthy-call", "parallel-calls"])
def test_a_healthy_run_has_no_fault_and_no_finding_above_a_note(documents, name):
    document = documents[name]

    assert document["verdict"]["stage"] is None
    assert "Nothing lost" in document["verdict"]["sentence"]
    assert {finding["severity"] for finding in document["findings"]} <= {"note"}
    assert document["prompt_difference"] is None or "tools" in document["prompt_difference"]["cause"]
    assert len(document["chat"]["message"]["tool_calls"]) == (1 if name == "healthy-call" else 2)


def test_every_run_rests_on_ids_of_the_same_run(documents):
    assert {d["evidence"] for name, d in documents.items() if name != "tutorial-tool-types"} == {"same-run"}


def test_every_prompt_is_traced_to_the_last_character(documents):
    for name, document in documents.items():
        if name == "tutorial-tool-types":
            continue
        spans = document["prompt"]["spans"]
        assert (
            "".join(document["prompt"]["text"][slice(*span["char_span"])] for span in spans)
            == document["prompt"]["text"]
        )
        assert not [span for span in spans if span["kind"] == "unknown"], name


def test_missing_generation_prompt(documents):
    document = documents["missing-generation-prompt"]

    assert document["verdict"]["stage"] == "render"
    assert "missing-generation-prompt" in errors(document)
    assert document["prompt"]["tokens"][-1]["text"] == "<|im_end|>"


def test_polluted_content(documents):
    document = documents["polluted-content"]
    tokens = document["prompt"]["tokens"]
    difference = document["prompt_difference"]

    assert document["verdict"]["stage"] == "render"
    assert "content-as-repr" in errors(document)
    assert "[{'type'" in document["prompt"]["text"]
    assert "[{'type'" in "".join(
        token["text"] for token in tokens[difference["first_token"] : difference["first_token"] + 8]
    )
    assert difference["cause"]


def test_dropped_call(documents):
    document = documents["dropped-call"]

    assert document["verdict"]["stage"] == "parse"
    assert document["verdict"]["dropped_calls"] == 1
    assert document["verdict"]["sentence"].startswith("The model wrote 1 tool call, the server returned none")
    assert document["parse"]["calls"][0]["name"] == "get_weather"
    assert '{"city": "Paris"}' in spans_with_fate(document, "lost")


def test_truncated_call(documents):
    document = documents["truncated-call"]

    assert document["verdict"]["stage"] == "complete"
    assert "truncated-call" in errors(document)
    assert document["parse"]["calls"][0]["status"] == "truncated"


def test_wrong_parser(documents):
    document = documents["wrong-parser"]

    assert document["verdict"]["stage"] == "parse"
    assert document["verdict"]["dropped_calls"] == 1
    assert "wrong-parser" in errors(document)
    assert document["server"]["tool_parser"] == "hermes"


def test_answer_swallowed_as_reasoning(documents):
    document = documents["answer-swallowed-as-reasoning"]

    assert document["verdict"]["stage"] == "parse"
    assert document["chat"]["message"]["content"] is None
    assert "answer-as-reasoning" in errors(document)


def test_tutorial_tool_types(documents):
    document = documents["tutorial-tool-types"]

    assert document["verdict"]["stage"] == "request"
    assert {"unknown-schema-type", "foreign-stop-token"} <= codes(document)
    assert document["refusal"]["field"] == "stop_token_ids"


def test_start_to_finish_reports_what_really_happens(documents):
    page = (ROOT / "docs" / "start-to-finish.md").read_text()
    document = documents["dropped-call"]
    seen = [document["prompt"]["text"], document["raw"]["text"], document["verdict"]["sentence"]]
    tokens = document["prompt"]["tokens"]

    for block in re.findall(r"```text\n(.*?)\n```", page, re.DOTALL):
        assert any(block in text for text in seen), block
    for start, stop, text, fate in re.findall(r"^\| (\d+)–(\d+) \| `(.*?)` \| \W*(\w+)", page, re.MULTILINE):
        assert document["raw"]["text"][int(start) : int(stop)] == text.replace("\\|", "|")
        assert {"char_span": [int(start), int(stop)], "fate": fate, "target": None} in document["parse"]["ledger"]
    for code, name, severity, stage, follows in re.findall(
        r"^\| (PD\d+) \| (\S+) \| (\w+) \| (\w+) \| (\w*)", page, re.M
    ):
        finding = next(finding for finding in document["findings"] if finding["code"] == code)
        assert (finding["name"], finding["severity"], finding["stage"]) == (name, severity, stage)
        assert finding["follows"] == (follows or None)
    assert f"{len(tokens)} tokens, {sum(token['kind'] == 'special' for token in tokens)} of them special" in page
