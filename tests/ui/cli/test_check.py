"""`check`: what it prints and how it ends, with the parsers of a real vLLM."""

import json
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator

from prompt_debugger.core.report.wire.schemas import json_schema_of
from tests.conftest import ROOT
from tests.core.check.templates import HERMES, changed
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
def test_a_template_is_checked_and_its_parser_recommended(template):
    done = check(template(HERMES), "--json")

    document = json.loads(done.stdout)
    chosen = document["recommended"]
    assert list(Draft202012Validator(json_schema_of("check")).iter_errors(document)) == []
    assert (chosen["tool_parser"], chosen["verdict"]) == ("hermes", "works-with-limits"), done.stdout[:2000]
    assert "--tool-call-parser hermes" in chosen["command"]
    row = document["parsers"]["vllm:hermes"]
    assert row["cells"]["two-calls"] == {"whole": True, "streamed": True, "problem": None}
    assert document["parsers"]["vllm:kimi_k2"]["cells"]["one-call"]["whole"] is False
    assert done.returncode == 1


@pytest.mark.vllm
def test_one_parser_alone_on_a_template_without_reasoning_works_without_limits(template):
    plain = changed(
        HERMES, "{%- if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>{{ '\n\n' }}{% endif %}", ""
    )

    done = check(template(plain), "--tool-parser", "hermes")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "ours: WORKS with vLLM" in done.stdout
    assert "vllm serve MODEL --enable-auto-tool-choice --tool-call-parser hermes --chat-template" in done.stdout
    assert "<- recommended" in done.stdout


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
