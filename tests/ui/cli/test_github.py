"""The action and the pre-commit hooks, run as GitHub and pre-commit run them; what `--github` prints and writes."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.ui.cli.github import annotate, verify_summary
from prompt_debugger.ui.cli.main import main
from scripts.run_action import ACTION, Ran, run_action
from tests.attacks.page import echoing
from tests.conftest import ROOT
from tests.warm.program import warm_environment

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


def act(folder: Path, **inputs: str) -> Ran:
    """Run the action without its installation; an input's name has `_` for `-`."""
    named = {name.replace("_", "-"): text for name, text in inputs.items()}
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    return run_action(folder, {"install": "", **named}, warm_environment(PATH=path))


def test_a_broken_template_is_marked_at_its_line(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text(BROKEN, encoding="utf-8")

    ran = act(folder, chat_template="chat_template.jinja", template_only="true")

    assert (ran.status, ran.steps) == (1, ("Check",))
    assert "::error file=chat_template.jinja,line=2,title=" in ran.log


def test_a_check_writes_a_summary_and_sarif_that_name_the_file(folder: Path) -> None:
    (folder / "my model.jinja").write_text(FINE, encoding="utf-8")

    ran = act(folder, model="my model.jinja", sarif="out.sarif", template_only="true")

    assert ran.status in (0, 1), ran.log
    results = json.loads((folder / "out.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert ran.summary.startswith(f"## check my model.jinja: {len(results)} finding")  # of parsers nothing is said
    assert len(results) == len(re.findall("^::", ran.log, re.MULTILINE))
    assert all(
        one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "my model.jinja" for one in results
    )


def test_all_templates_of_a_repository_are_checked_by_themselves(folder: Path) -> None:
    deep = folder / "models" / "my model"
    deep.mkdir(parents=True)
    (deep / "chat_template.jinja").write_text(FINE, encoding="utf-8")
    (folder / "models" / "chat_template_b.jinja").write_text(BROKEN, encoding="utf-8")

    ran = act(folder, templates="**/chat_template*.jinja\n", template_only="true", sarif="sarif")
    none = act(folder, templates="**/*.j2", template_only="true")

    assert (ran.status, ran.steps) == (1, ("Templates",))
    assert "::error file=models/chat_template_b.jinja,line=2,title=PD802" in ran.log
    assert [line.split(":")[0] for line in ran.summary.splitlines() if line.startswith("## ")] == [
        "## check models/chat_template_b.jinja",
        "## check models/my model/chat_template.jinja",
    ]
    assert len([*(folder / "sarif").iterdir()]) == 2
    assert (none.status, "::error title=templates::No file matches: **/*.j2" in none.log) == (2, True)


def test_a_template_is_compared_with_the_lock_beside_it(folder: Path) -> None:
    (folder / "bin" / "prompt-debugger").write_text('#!/bin/sh\necho "$@"\n', encoding="utf-8")
    for name in ("chat_template_a.jinja", "chat_template_b.jinja", "chat_template_a.lock.json"):
        (folder / name).write_text("{}", encoding="utf-8")

    ran = act(folder, templates="chat_template_a.jinja\nchat_template_b.jinja")

    assert ran.log.splitlines() == [
        "check --github --chat-template chat_template_a.jinja --against chat_template_a.lock.json",
        "check --github --chat-template chat_template_b.jinja",
    ]


def test_the_verify_step_fails_where_a_gate_holds_and_shows_the_calls(folder: Path) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    (folder / "rows.jsonl").write_text(json.dumps(body) + "\n", encoding="utf-8")
    with echoing() as url:
        failed = act(folder, dataset="rows.jsonl", endpoint=url, fail_if="success_count >= 1\n")

    assert (failed.status, failed.steps) == (1, ("Verify",)), failed.log
    assert "::error title=verify --fail-if::success_count >= 1 holds" in failed.log
    assert "**gate holds**: `success_count >= 1`" in failed.summary
    assert "1 requests; the model wrote 0 calls." in failed.summary


def test_the_calls_of_a_verification_are_drawn_to_scale() -> None:
    counts = {"written": 1000, "returned": 900, "dropped": 90, "altered": 1, "cut": 0, "invented": 0, "leaked": 0}
    own: JSONObject = {
        "dataset": "a.jsonl",
        "endpoint": "http://x/v1",
        "rows": 1000,
        "by_code": {"PD401": 90},
        **counts,
    }

    drawn = verify_summary({"debugger": own}, ["dropped_rate > 0.5%"])

    assert f"| returned | 900 | {'🟩' * 30} |" in drawn
    assert f"| dropped | 90 | {'🟥' * 3} |" in drawn
    assert "| altered | 1 | 🟧 |" in drawn
    assert "| cut | 0 |  |" in drawn


@pytest.mark.slow
def test_the_install_step_installs_what_the_next_step_runs(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)], cwd=ROOT, check=True
    )
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    (packages,) = tmp_path.glob("env/lib/python*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    (wheel,) = tmp_path.glob("*.whl")
    (tmp_path / "chat_template.jinja").write_text(BROKEN, encoding="utf-8")
    alone = {"PATH": f"{tmp_path / 'env' / 'bin'}:{os.environ['PATH']}", "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1"}

    ran = run_action(
        tmp_path,
        {"install": str(wheel), "chat-template": "chat_template.jinja", "template-only": "true"},
        {**os.environ, **alone},
    )

    assert (ran.status, ran.steps) == (1, ("Install", "Check")), ran.log
    assert (tmp_path / "env" / "bin" / "prompt-debugger").is_file()
    assert "::error file=chat_template.jinja,line=2,title=PD802" in ran.log


def test_a_hook_fails_for_the_file_that_is_broken_and_for_no_other(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text("{{ messages[0].content }}", encoding="utf-8")
    (folder / "chat_template_broken.jinja").write_text(BROKEN, encoding="utf-8")
    hook = HOOKS["prompt-debugger-template"]

    done = run(folder, [*shlex.split(hook["entry"]), "chat_template.jinja", "chat_template_broken.jinja"])

    assert done.returncode == 1
    assert "chat_template_broken.jinja: 1 finding\nerror[PD802" in done.stdout


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
