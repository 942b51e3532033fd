"""`check`: what it prints and how it ends, with the parsers of a real vLLM."""

import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from prompt_debugger.core.check import read_lock
from prompt_debugger.core.report.wire.schemas import json_schema_of
from tests.conftest import ROOT
from tests.core.check.templates import HERMES
from tests.patience import PATIENCE_S


def check(*arguments):
    command = [sys.executable, "app.py", "check", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


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
    assert done.stderr == (
        "RequestError: there is nothing to check Name a model or a template, or give --chat-template.\n"
    )


def test_a_template_that_is_not_there_is_an_error_object(tmp_path):
    done = check("--chat-template", tmp_path / "none.jinja", "--json")

    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["type"] == "RenderError"
