"""`--json` of every command: one document that keeps to its schema, also where the command cannot run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from prompt_debugger.core.base.assets import assets_dir
from prompt_debugger.core.report import write_bundle
from prompt_debugger.ui.cli.main import build_parser, main
from tests.conftest import ROOT
from tests.threads import in_thread
from tests.ui.cli.test_capture import Captured
from tests.ui.mcp.dropping import REQUEST, DroppingServer
from tests.ui.present.traces import dropped_call_trace

RAW = '<tool_call>\n{"name": "f", "arguments": {"a": "x"}}\n</tool_call>'
TEMPLATE = str(assets_dir() / "lab-model" / "chat_template.jinja")
COMMANDS: dict[str, tuple[list[str], list[str]]] = {
    "render": (["REQUEST", "--tokenizer", "lab-model"], ["render"]),
    "parse": (["RAW"], ["parse"]),
    "run": (["REQUEST", "--endpoint", "URL"], ["run"]),
    "inspect": (["RAW"], ["run", "inspect"]),
    "verify": (["REQUEST", "--endpoint", "URL", "--output", "OUT", "--summary", "SUMMARY"], ["verify"]),
    "sessions": (["REQUEST"], ["sessions"]),
    "check": (["--template-only", "--chat-template", TEMPLATE], ["check"]),
    "plugin": (["--family", "hermes", "--output", "OUT"], ["written"]),
    "report": (["BUNDLE", "--as", "pytest", "--output", "OUT"], ["written"]),
    "shrink": (["REQUEST", "--endpoint", "URL"], ["shrink"]),
    "lab": (["--where"], ["lab-home"]),
}
BAD = {
    **{name: ["/nonexistent/file"] for name in ("render", "parse", "run", "inspect", "verify", "sessions", "check")},
    "report": ["/nonexistent/file", "--as", "curl"],
    "shrink": ["/nonexistent/file"],
    "watch": ["--open", "/nonexistent/file"],
    "capture": ["--upstream", "ftp://nonsense"],
    "plugin": ["--family", "nonsense"],
}
NEVER_WRONG = {"lab"}  # what can be wrong with it needs a server that does not start


@pytest.fixture
def files(tmp_path: Path) -> Iterator[dict[str, str]]:
    """What the commands read, by the names that stand for it above."""
    texts = {
        "REQUEST": json.dumps(REQUEST) + "\n",
        "RAW": RAW,
        "BUNDLE": write_bundle(dropped_call_trace(), "0.1.0"),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with in_thread(DroppingServer("", {})) as url:
        yield {name: str(tmp_path / name) for name in (*texts, "OUT", "SUMMARY")} | {"URL": url}


def problems(schema: str, document: Any) -> list[str]:
    text = (ROOT / "docs" / "schema" / f"{schema}.json").read_text(encoding="utf-8")
    return [f"{one.json_path}: {one.message}" for one in Draft202012Validator(json.loads(text)).iter_errors(document)]


def test_every_command_that_prints_json_is_tried_here() -> None:
    commands: Any = next(one for one in build_parser()._actions if one.dest == "command").choices
    printing = {name for name, parser in commands.items() if "--json" in parser._option_string_actions}

    assert printing == {*COMMANDS, "capture", "watch"} == {*BAD, *NEVER_WRONG}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_prints_one_document_of_its_schema(
    name: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, schemas = COMMANDS[name]

    status = main([name, *(files.get(word, word) for word in arguments), "--json"])

    document = json.loads(capsys.readouterr().out)
    assert status in (0, 1)
    assert [problems(schema, document) for schema in schemas] == [[] for _ in schemas]


def test_a_capture_prints_a_line_for_its_start_and_for_each_exchange(files: dict[str, str], tmp_path: Path) -> None:
    capture = Captured(files["URL"], tmp_path / "captures", "--json")
    (started,) = capture.lines
    httpx.post(f"{capture.base_url}/chat/completions", json=REQUEST)
    exchange = capture.line()
    capture.end()

    assert problems("capture-started", json.loads(started)) == []
    assert problems("capture-exchange", json.loads(exchange)) == []


def test_a_watch_prints_its_document_at_its_end_and_when_it_is_opened(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "watch.sqlite"
    watch = Captured(files["URL"], store, "--json", command="watch", place="--store")
    httpx.post(f"{watch.base_url}/chat/completions", json=REQUEST)
    _, printed, _ = watch.end()
    main(["watch", "--open", str(store), "--json"])

    ended, opened = json.loads(printed.splitlines()[-1]), json.loads(capsys.readouterr().out)
    assert (ended["exchanges"], opened["exchanges"]) == (1, 1)
    assert problems("watch", ended) == problems("watch", opened) == []


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_run_prints_an_error_of_its_schema(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, *BAD[name], "--json"]) == 2

    document = json.loads(capsys.readouterr().out)
    assert list(document) == ["error"]
    assert problems("error", document["error"]) == []
