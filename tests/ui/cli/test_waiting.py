"""What takes long is said: counting on a terminal, once elsewhere, not at all where it is quick."""

from __future__ import annotations

import sys
import threading

import pytest

from prompt_debugger.ui.cli import waiting as module
from prompt_debugger.ui.cli.output import log
from prompt_debugger.ui.cli.waiting import waiting


def test_what_is_quick_is_not_said(capsys: pytest.CaptureFixture[str]) -> None:
    with waiting("Asking"):
        pass

    assert capsys.readouterr() == ("", "")


def test_elsewhere_than_on_a_terminal_one_plain_line_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = threading.Event()

    def log_and_tell(text: str) -> None:
        log(text)
        said.set()

    monkeypatch.setattr(module, "log", log_and_tell)
    with waiting("Asking", 0):
        said.wait()

    assert capsys.readouterr() == ("", "Asking …\n")


def test_a_terminal_counts_and_is_left_clean(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = threading.Event()

    def is_terminal() -> bool:
        said.set()
        return True

    monkeypatch.setattr(sys.stderr, "isatty", is_terminal)
    with waiting("Asking", 0):
        said.wait()

    told = capsys.readouterr().err
    assert told.startswith("\r\x1b[KAsking, 0 s")
    assert told.endswith("\r\x1b[K")
