"""The action and the pre-commit hooks, run as GitHub and pre-commit run them; what `--github` prints and writes."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from prompt_debugger.ui.cli.github import annotate
from prompt_debugger.ui.cli.main import main
from tests.attacks.page import echoing
from tests.conftest import ROOT
from tests.warm.program import warm_environment

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
FINE = (ROOT / "assets" / "lab-model" / "chat_template.jinja").read_text(encoding="utf-8")
BROKEN = "{% for m in messages %}\n{{ m.content }\n{% endfor %}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the program on its own path."""
    program = tmp_path / "bin" / "prompt-debugger"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ROOT / "app.py"}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return tmp_path


def run(folder: Path, command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    made = warm_environment(PATH=path, GITHUB_STEP_SUMMARY=str(folder / "summary.md"), **environment)
    return subprocess.run(command, cwd=folder, env=made, capture_output=True, text=True, check=False)


def step(folder: Path, name: str, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run a step of the action with its inputs, the others as they are by default."""
    given = {key: str(one["default"]) for key, one in ACTION["inputs"].items()} | inputs
    wanted = next(one for one in ACTION["runs"]["steps"] if one["name"] == name)
    environment = {
        key: given[text.removeprefix("${{ inputs.").removesuffix(" }}")] for key, text in wanted["env"].items()
    }
    return run(folder, ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", wanted["run"]], **environment)


def test_the_check_step_marks_a_broken_template_at_its_line(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text(BROKEN, encoding="utf-8")

    done = step(folder, "Check", **{"chat-template": "chat_template.jinja", "template-only": "true"})

    assert done.returncode != 0
    assert "::error file=chat_template.jinja,line=2,title=" in done.stderr


def test_the_check_step_writes_a_summary_and_sarif(folder: Path) -> None:
    (folder / "my model.jinja").write_text(FINE, encoding="utf-8")

    done = step(folder, "Check", model="my model.jinja", sarif="out.sarif", **{"template-only": "true"})

    assert done.returncode in (0, 1), done.stderr
    assert (folder / "summary.md").read_text(encoding="utf-8").startswith("## check my model")
    results = json.loads((folder / "out.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert len(results) == done.stderr.count("::") // 2
    assert all(
        one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "my model.jinja" for one in results
    )


def test_the_verify_step_fails_where_a_gate_holds(folder: Path) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    (folder / "rows.jsonl").write_text(json.dumps(body) + "\n", encoding="utf-8")
    with echoing() as url:
        failed = step(folder, "Verify", dataset="rows.jsonl", endpoint=url, **{"fail-if": "success_count >= 1\n"})

    assert failed.returncode == 1, failed.stderr
    assert "::error title=verify --fail-if::success_count >= 1 holds" in failed.stderr
    assert "**gate holds**: `success_count >= 1`" in (folder / "summary.md").read_text(encoding="utf-8")


def test_a_hook_fails_for_the_file_that_is_broken_and_for_no_other(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text("{{ messages[0].content }}", encoding="utf-8")
    (folder / "chat_template_broken.jinja").write_text(BROKEN, encoding="utf-8")
    hook = HOOKS["prompt-debugger-template"]

    done = run(folder, [*shlex.split(hook["entry"]), "chat_template.jinja", "chat_template_broken.jinja"])

    assert done.returncode == 1
    assert "error[PD802" in done.stdout


def test_a_hook_names_the_lock_next_to_a_template(folder: Path) -> None:
    (folder / "bin" / "prompt-debugger").write_text('#!/bin/sh\necho "$@"\n', encoding="utf-8")
    (folder / "chat_template_a.lock.json").write_text("{}", encoding="utf-8")
    hook = HOOKS["prompt-debugger-check"]

    done = run(folder, [*shlex.split(hook["entry"]), "chat_template_a.jinja", "chat_template_b.jinja"])

    assert done.stdout.splitlines() == [
        "check --chat-template chat_template_a.jinja --against chat_template_a.lock.json",
        "check --chat-template chat_template_b.jinja",
    ]


def test_every_input_is_described_and_used() -> None:
    used = json.dumps(ACTION["runs"])

    assert all(one["description"] for one in ACTION["inputs"].values())
    assert all(f"inputs.{name} " in used for name in ACTION["inputs"])
    assert not any("${{" in one["run"] for one in ACTION["runs"]["steps"])  # an input is data, no shell


def test_no_text_ends_its_annotation(capsys: pytest.CaptureFixture[str]) -> None:
    annotate("error", "a, b: c", "one\n::error::two 100%", "x,y.jinja", 3)

    assert capsys.readouterr().err == ("::error file=x%2Cy.jinja,line=3,title=a%2C b%3A c::one%0A::error::two 100%25\n")


def test_a_template_alone_needs_no_parsers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "chat_template.jinja"
    file.write_text("{{ messages[0].content }}", encoding="utf-8")

    status = main(["check", str(file), "--template-only", "--json"])

    document = json.loads(capsys.readouterr().out)
    assert status == (1 if any(one["severity"] == "error" for one in document["findings"]) else 0)
    assert document["parsers"] == {}
