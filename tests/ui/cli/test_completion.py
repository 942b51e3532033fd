"""Completion in a real bash; what zsh and fish are told; the help by task."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess

import pytest

from prompt_debugger.ui.cli.completion import write_completion
from prompt_debugger.ui.cli.main import _TASKS, build_parser, main, parse_arguments
from tests.conftest import ROOT


def completed(line: str) -> list[str]:
    """Return what bash offers at the end of a line."""
    words = line.split(" ")
    script = write_completion(build_parser(), "bash")
    script += f"\nCOMP_WORDS=({' '.join(map(shlex.quote, words))}); COMP_CWORD={len(words) - 1}\n_prompt_debugger\n"
    script += 'printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("prompt-debugger pa", ["parse"]),
        ("prompt-debugger check --tem", ["--template-only"]),
        ("prompt-debugger report x --as k", ["k2vv"]),
        ("prompt-debugger completion z", ["zsh"]),
        ("prompt-debugger run --no-such", []),
    ],
)
def test_bash_completes_commands_options_and_choices(line: str, offered: list[str]) -> None:
    assert completed(line) == offered


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish here")
@pytest.mark.parametrize(
    ("line", "offered"), [("pa", "parse"), ("check --tem", "--template-only"), ("report x --as k", "k2vv")]
)
def test_fish_completes_commands_options_and_choices(line: str, offered: str) -> None:
    script = write_completion(build_parser(), "fish").replace("prompt-debugger", "true")
    done = subprocess.run(
        ["fish", "-c", f"{script}\ncomplete -C {shlex.quote(f'true {line}')}"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert offered in done.stdout.split()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_a_script_is_in_the_shell_s_own_grammar(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    script = write_completion(build_parser(), shell)
    subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_zsh_gets_a_function_that_offers_at_once_and_starts_no_completion_of_its_own() -> None:
    first, *lines = write_completion(build_parser(), "zsh").splitlines()

    assert first == "#compdef prompt-debugger"
    assert not any("compinit" in line for line in lines)
    assert any(
        line.startswith("  check:--engine) options=() offered=(vllm sglang mlx-lm lmdeploy all)") for line in lines
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_is_told_every_command_and_option(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0

    script = capsys.readouterr().out
    assert all(word in script for word in ("inspect", "sessions", "template-only", "fail-if", "vllm-replay"))


def test_every_command_of_the_help_by_task_is_taken() -> None:
    commands = [line[41:].replace("%%", "%") for line in _TASKS.splitlines() if line.startswith("  ")]

    assert len(commands) > 10
    for command in (one for line in commands for one in line.split(";")):
        assert callable(parse_arguments(shlex.split(command)).run)


def test_the_help_names_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])

    assert re.search(r"a call vanished, a server at hand +run request.json", capsys.readouterr().out)


def test_a_plugin_is_a_document_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugin", "--family", "kimi_k2", "--json"]) == 0

    document = json.loads(capsys.readouterr().out)
    assert (document["schema_version"], document["form"]) == (1, "plugin kimi_k2")
    compile(document["text"], "parser.py", "exec")


def test_the_page_for_agents_shows_commands_that_are_taken() -> None:
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    rows = [line.split(" | ")[1] for line in page.split("| from | use |")[0].splitlines() if line.startswith("| ")]
    commands = [one for row in rows for one in re.findall("`([^`]+)`", row) if " " in one and one != "inspect"]

    assert len(commands) >= 14
    for command in commands:
        assert callable(parse_arguments(shlex.split(command)).run)


def test_llms_txt_links_pages_that_are_there() -> None:
    links = re.findall(r"\]\(([^)]+)\)", (ROOT / "llms.txt").read_text(encoding="utf-8"))

    assert links[0] == "docs/agents.md"
    assert all((ROOT / link).is_file() for link in links)
