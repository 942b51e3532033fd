"""The same keys through every channel by which a run is kept, shown or sent: none of them shows one."""

from __future__ import annotations

import io
import json
import logging
import os
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import ChatResult, Completion, JSONObject, Trace
from prompt_debugger.core.report import trace_to_terminal
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.verify.journal import Journal
from prompt_debugger.core.tools.verify.junit import Suite, write_junit
from prompt_debugger.core.tools.verify.results import write_rows
from prompt_debugger.ui.cli.output import masked_line, report_error
from prompt_debugger.ui.report import link_state
from prompt_debugger.ui.web.private_log import _PrivateFormatter
from tests.attacks.test_secrets import forms_of, run_of
from tests.core.report.written_secrets import ODD, shows
from tests.core.tools.capture.test_record import record

# One of each dozen of the keys that are written oddly: every table and every kind of layout has some among them.
KEYS = dict(list(ODD.items())[::4])
TEXT = "\n---\n".join(KEYS.values())
BODY: JSONObject = {"model": "m", "messages": [{"role": "user", "content": TEXT}], "tools": []}


@cache
def run() -> Trace:
    """Return a run whose request, raw output and answer hold all of them."""
    trace = run_of(read_request(json.dumps(BODY)))
    return replace(trace, raw=Completion(TEXT, None, "stop"), chat=ChatResult({"content": TEXT}, "stop"))


@cache
def shared() -> dict[str, str]:
    return forms_of(run())


def results() -> str:
    with TemporaryDirectory() as folder:
        rows: list[JSONObject] = [{"data_index": 1, "request": BODY, "response": {"content": TEXT}}]
        write_rows(Path(folder) / "rows.jsonl", rows)
        return json.dumps(json.loads((Path(folder) / "rows.jsonl").read_text("utf-8")), ensure_ascii=False)


def junit() -> str:
    with TemporaryDirectory() as folder:
        rows: list[JSONObject] = [{"data_index": 1, "status": "failed", "response": {"error": TEXT}}]
        write_junit(Path(folder) / "junit.xml", [Suite("rows", rows, {})])
        return (Path(folder) / "junit.xml").read_text("utf-8")


def error_words() -> str:
    said = io.StringIO()
    with redirect_stderr(said):
        report_error(BackendError(f"the server said {TEXT}", body=TEXT), as_json=False)
    return said.getvalue()


def log() -> str:
    """Return a line of the log of a public page that a library wrote about a visitor's value."""
    line = logging.LogRecord("gradio", logging.ERROR, __file__, 1, "a value was %s", (TEXT,), None)
    return _PrivateFormatter().format(line)


CHANNELS: dict[str, Callable[[], str]] = {
    "html": lambda: shared()["html"],
    "markdown": lambda: shared()["markdown"],
    "bundle": lambda: shared()["bundle"],
    "what the picture is drawn from": lambda: shared()["picture"],
    "copied forms": lambda: "\n".join(shared()[form] for form in shared() if form not in ("html", "markdown")),
    "link": lambda: json.dumps(link_state(json.dumps(BODY), {})[0], ensure_ascii=False),
    "capture of a request": lambda: json.dumps(record(BODY)[1], ensure_ascii=False),
    "capture of an answer": lambda: json.dumps(record(answered={"choices": [{"message": {"content": TEXT}}]})[1]),
    "results": results,
    "junit": junit,
    "words of an error": error_words,
    "log": log,
    "terminal": lambda: trace_to_terminal(run()),
}


@pytest.mark.parametrize("channel", CHANNELS)
def test_no_key_is_in(channel: str) -> None:
    assert not shows(CHANNELS[channel]())


def test_the_keys_are_really_planted() -> None:
    assert len(KEYS) > 40
    assert all(shows(text) for text in KEYS.values())


@pytest.mark.skipif(os.name != "posix", reason="files have no owner's rights there")
def test_the_journal_that_keeps_answers_as_they_came_is_for_its_owner_alone(tmp_path: Path) -> None:
    with Journal(tmp_path / "rows.sqlite") as journal:
        journal.note_fact("a", 1)
        modes = {path.name: path.stat().st_mode & 0o077 for path in tmp_path.iterdir()}

    assert "rows.sqlite" in modes
    assert set(modes.values()) == {0}


def test_a_key_on_a_line_of_its_own_is_masked_before_lines_are_joined() -> None:
    said = masked_line(f"it said\n{TEXT}\nand left")

    assert said.startswith("it said")
    assert "\n" not in said
    assert not shows(said)
