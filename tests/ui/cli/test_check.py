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

PLUGIN = ROOT / "tests" / "core" / "check" / "plugins" / "half_deaf.py"


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
    assert chosen["tool_parser"] == "hermes", chosen
    assert "--tool-call-parser hermes" in chosen["command"]
    row = document["parsers"]["vllm:hermes"]
    assert row["cells"]["two-calls"] == {"whole": True, "streamed": True, "problem": None, "streamed_usual": True}
    assert document["parsers"]["vllm:kimi_k2"]["cells"]["one-call"]["whole"] is False
    assert done.returncode == (0 if chosen["verdict"] == "works" else 1)


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


@pytest.mark.vllm
def test_a_parser_under_development_is_checked_and_its_streaming_bug_found_with_the_smallest_chunking(template):
    done = check(template(HERMES), "--parser-file", PLUGIN, "--json")

    document = json.loads(done.stdout)
    row = document["parsers"]["vllm:half_deaf"]["cells"]
    assert done.returncode == 1
    assert document["recommended"]["verdict"] == "works-with-limits", document["recommended"]
    assert "--tool-parser-plugin" in document["recommended"]["command"]
    assert row["two-calls"]["whole"] is True
    assert row["two-calls"]["streamed"] is False
    assert len(row["two-calls"]["split"]) == 2
    assert set(document["parsers"]) == {"vllm:half_deaf"} | {
        n for n in document["parsers"] if n.startswith("vllm:-+") or "+" in n
    }


@pytest.mark.vllm
def test_a_parser_file_that_cannot_be_imported_is_said(template, tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("import nothing_of_that_name\n")

    done = check(template(HERMES), "--parser-file", broken)

    assert done.returncode == 2
    assert "nothing_of_that_name" in done.stderr
