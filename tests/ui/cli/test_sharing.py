"""`--report DIR` writes what may be shared, and `--bundle FILE` opens it again without running anything."""

import json
import subprocess
import sys

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.report import read_bundle, trace_to_json, trace_to_terminal, write_bundle
from prompt_debugger.ui.cli.sharing import read_bundle_file, write_trace
from tests.conftest import ROOT
from tests.core.tools.experiments.test_runs import changed
from tests.patience import PATIENCE_S
from tests.ui.present.traces import dropped_call_trace
from tests.warm.program import warm_environment


def run(*arguments, text=""):
    command = [sys.executable, "app.py", "run", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, input=text, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        env=warm_environment(),
    )  # fmt: skip


@pytest.fixture
def bundle(tmp_path):
    write_trace(str(tmp_path), dropped_call_trace())
    return tmp_path / "trace.json"


def test_the_report_contains_the_whole_run_for_people_scripts_and_this_program(bundle):
    assert {path.name for path in bundle.parent.iterdir()} == {"trace.json", "trace.md", "trace.html"}
    document = json.loads(bundle.read_text())
    said = trace_to_json(dropped_call_trace())
    assert {name: document[name] for name in ("verdict", "findings", "sent")} == {
        name: said[name] for name in ("verdict", "findings", "sent")
    }
    assert read_bundle(bundle.read_text()).trace == dropped_call_trace()


def test_a_bundle_is_printed_as_the_run_was(bundle):
    done = run("--bundle", bundle)

    assert done.stdout == trace_to_terminal(dropped_call_trace(), title_of)
    assert "nothing was run" in done.stderr
    assert done.returncode == 1  # the run had found an error


def test_a_title_heads_the_report_and_is_recognized_by_who_opens_it(bundle, tmp_path):
    out = tmp_path / "titled"

    run("--bundle", bundle, "--title", "Paris  vanishes", "--report", out)

    assert (out / "trace.md").read_text().startswith("## Paris vanishes\n")
    assert "<title>Paris vanishes · Prompt Debugger</title>" in (out / "trace.html").read_text()
    assert "Reopened “Paris vanishes” from a bundle" in run("--bundle", out / "trace.json").stderr


def test_a_bundle_comes_through_a_pipe_and_goes_on_as_json(bundle):
    done = run("--bundle", "-", "--json", text=bundle.read_text())

    assert json.loads(done.stdout) == json.loads(json.dumps(trace_to_json(dropped_call_trace())))


def test_a_damaged_bundle_is_status_2_with_place_and_fix(bundle):
    text = bundle.read_text().replace('"evidence":"same-run"', '"evidence":"hearsay"')

    done = run("--bundle", "-", "--json", text=text)

    error = json.loads(done.stdout)["error"]
    assert done.returncode == 2
    assert error["field"] == "raw.evidence"
    assert error["hint"]
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_request_next_to_a_bundle_is_refused(bundle):
    done = run("--bundle", bundle, "-")

    assert done.returncode == 2
    assert "cannot be combined with a request" in done.stderr


def test_a_bundle_changed_by_hand_is_opened_with_a_word_about_it(tmp_path, capsys):
    path = tmp_path / "b.json"
    path.write_text(write_bundle(dropped_call_trace(), "0.1.0").replace("Paris", "Rome!"))

    bundle = read_bundle_file(str(path))

    assert "Rome!" in bundle.trace.raw.text
    assert "version 0.1.0" in capsys.readouterr().err


def test_a_missing_file_is_a_request_error(tmp_path):
    with pytest.raises(RequestError, match="Cannot read"):
        read_bundle_file(str(tmp_path / "none.json"))


def test_two_bundles_are_compared_without_running_anything(bundle, tmp_path):
    write_trace(str(tmp_path / "after"), changed())

    done = run("--bundle", tmp_path / "after" / "trace.json", "--compare-with", bundle)

    assert "the prompts diverge at token 18" in done.stdout
    assert "tool parser: kimi_k2 → hermes" in done.stdout
    assert "only in the bundle: PD401 dropped-call" in done.stdout
    assert done.returncode == 0  # the newer run has no error any more


def test_a_comparison_goes_into_the_document(bundle):
    done = run("--bundle", bundle, "--compare-with", bundle, "--json")

    comparison = json.loads(done.stdout)["comparison"]
    assert comparison["prompt"]["is_same"] is True
    assert (comparison["request"], comparison["facts"]) == ([], [])


def test_a_secret_in_a_prompt_is_in_no_token_of_its_file_either(tmp_path):
    request = {"messages": [{"role": "user", "content": "my key is sk-Zq8Zq8Zq8Zq8Zq8Zq8, keep it"}]}
    command = [sys.executable, "app.py", "render", "-", "--report", str(tmp_path)]

    subprocess.run(
        command, cwd=ROOT, input=json.dumps(request), text=True, timeout=PATIENCE_S, check=True, capture_output=True,
        env=warm_environment(),
    )  # fmt: skip

    document = json.loads((tmp_path / "render.json").read_text())
    spelled = "".join(token["text"] for token in document["tokens"])
    assert "Zq8" not in spelled + (tmp_path / "prompt.txt").read_text() + json.dumps(document)
    assert "my key is •" in spelled
    assert bytes.fromhex("".join(token["bytes"] for token in document["tokens"])).decode() == spelled
