"""Every command that a document shows: the program takes it, and it runs to its end on what the document has."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from prompt_debugger.ui.cli.main import main, parse_arguments
from tests.conftest import ROOT

_PROGRAM = re.compile(r"^(?:\.venv/bin/)?(?:python app\.py|prompt-debugger)(?= |$)")
_SERVER = "http://localhost:8000/v1"
_HUB_ID = re.compile(r"moonshotai/Kimi-K2-Instruct\S*")
_CALL = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|><|im_end|>'
)
_TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
# What is not run here, and why.
_ELSEWHERE = {
    "--examples": "all worked cases: tests/test_worked_cases.py",
    "--releases": "older releases have to be fetched first",
    "vllm@": "older releases have to be fetched first",
    "sglang:": "SGLang's wheel has to be fetched first: tests/core/parse/engines/test_wheels.py",
    "--fetch": "downloads a wheel: tests/core/parse/engines/test_wheels.py",
    "session.har": "what a browser recorded: tests/core/request",
    "--offline": "a vLLM of its own for each run: tests/core/tools/offline",
    "api.example.com": "stands for somebody's server",
}


def _commands(page: Path) -> list[str]:
    """Return the program's command lines in the shell blocks of a page, without comments and redirections."""
    found = []
    for block in re.findall(r"^```(?:sh|console)\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            line = shlex.join(words[: words.index(">")] if ">" in words else words)
            if _PROGRAM.match(line):
                found.append(_PROGRAM.sub("", line).strip())
    return found


_PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = sorted({command for page in _PAGES for command in _commands(page)})


def _is_run(command: str) -> bool:
    return command.split(" ")[0] in ("render", "parse", "run", "inspect", "plugin") and not any(
        part in command for part in _ELSEWHERE
    )


def _needs_server(command: str) -> bool:
    return _SERVER in command or (command.startswith("run ") and "--bundle" not in command)


def _marked(command: str) -> object:
    if _needs_server(command) or "--bundle" in command:
        return pytest.param(command, marks=pytest.mark.lab)
    return pytest.param(command, marks=pytest.mark.vllm) if "vllm:" in command else command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the documents speak of, as the working directory."""
    case = json.loads((ROOT / "assets" / "examples" / "dropped-call.json").read_text(encoding="utf-8"))
    for name in ("request.json", "fixed.json"):
        (tmp_path / name).write_text(json.dumps(case["request"]), encoding="utf-8")
    (tmp_path / "raw.txt").write_text(_CALL, encoding="utf-8")
    (tmp_path / "output.txt").write_text(_CALL, encoding="utf-8")
    (tmp_path / "case.json").write_text(json.dumps({"raw": _CALL, "tools": case["request"]["tools"]}), "utf-8")
    for name in ("outputs.jsonl", "failing.jsonl"):
        (tmp_path / name).write_text(json.dumps({"id": 1, "raw": _CALL}) + "\n", encoding="utf-8")
    (tmp_path / "answers.json").write_text('{"*": "done"}', encoding="utf-8")
    (tmp_path / "my.jinja").write_text(_TEMPLATE, encoding="utf-8")
    answer = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "No."}, "finish_reason": "stop"}]}
    (tmp_path / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
    (tmp_path / "prompt.txt").write_text("<|im_start|>user", encoding="utf-8")
    chunk = {"choices": [{"index": 0, "delta": {"content": "No."}, "finish_reason": "stop"}]}
    (tmp_path / "stream.txt").write_text(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n", encoding="utf-8")
    line = json.dumps({"schema_version": 1, "id": 1, "captured": {}, "request": case["request"], "response": answer})
    (tmp_path / "captures").mkdir()
    (tmp_path / "captures" / "0001-chat-completions.json").write_text(line + "\n", encoding="utf-8")
    (tmp_path / "captures.jsonl").write_text(f"{line}\n{line}\n", encoding="utf-8")
    tutorial = tmp_path / "docs" / "tutorial"
    tutorial.mkdir(parents=True)
    (tutorial / "request.json").write_bytes((ROOT / "docs" / "tutorial" / "request.json").read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def bundles(folder: Path, request: pytest.FixtureRequest) -> None:
    """The recorded runs that commands compare and open, made as the documents say."""
    lab_url = request.getfixturevalue("lab_url")
    assert main(["run", "--example", "dropped-call", "--endpoint", lab_url, "--report", "out"]) == 1
    for name in ("a.json", "b.json"):
        (folder / name).write_bytes((folder / "out" / "trace.json").read_bytes())


def test_documents_show_commands_of_every_kind() -> None:
    assert {"render", "parse", "run", "lab"} <= {command.split(" ")[0] for command in COMMANDS}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_program_takes_a_command_of_the_documents(command: str) -> None:
    assert callable(parse_arguments(shlex.split(command)).run)


@pytest.mark.parametrize("command", [_marked(command) for command in COMMANDS if _is_run(command)])
def test_a_command_of_the_documents_runs(
    command: str, folder: Path, request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]
) -> None:
    command = _HUB_ID.sub(str(ROOT / "assets" / "lab-model"), command)
    if "out/" in command or "--bundle" in command:
        request.getfixturevalue("bundles")
    if _needs_server(command):
        lab_url = request.getfixturevalue("lab_url")
        command = command.replace(_SERVER, lab_url) if _SERVER in command else f"{command} --endpoint {lab_url}"
    capfd.readouterr()

    status = main(shlex.split(command))

    out, err = capfd.readouterr()
    assert status in (0, 1), err
    assert out.strip() or "--output" in command, err


def test_what_is_not_run_is_shown_somewhere() -> None:
    for part in _ELSEWHERE:
        assert any(part in command for command in COMMANDS), part
