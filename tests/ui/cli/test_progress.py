"""What takes long is said: counting on a terminal, in few plain lines elsewhere, not at all where it is quick."""

from __future__ import annotations

import io
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from prompt_debugger.ui.cli import progress
from prompt_debugger.ui.cli.main import build_parser
from prompt_debugger.ui.cli.output import print_text
from prompt_debugger.ui.cli.progress import log, resting, say, working

SERVES = {"ui", "capture", "watch", "mcp", "lab", "completion"}  # until they are ended; or done in no time


class Stderr(io.StringIO):
    """Standard error that tells when something was written to it."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal
        self.written = threading.Event()

    def isatty(self) -> bool:
        return self._is_terminal

    def flush(self) -> None:
        if self.getvalue():
            self.written.set()

    def wait(self) -> str:
        """Return what was written, once something more is."""
        assert self.written.wait(60)
        self.written.clear()
        return self.getvalue()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Stderr:
    return _written_to(Stderr(is_terminal=True), monkeypatch)


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Stderr:
    return _written_to(Stderr(is_terminal=False), monkeypatch)


def _written_to(stderr: Stderr, monkeypatch: pytest.MonkeyPatch) -> Stderr:
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stderr))
    monkeypatch.setattr(progress, "_TICK_S", 0.01)
    return stderr


def test_what_is_quick_is_not_said(pipe: Stderr) -> None:
    with working("Asking"):
        say("Still asking")

    assert pipe.getvalue() == ""


def test_elsewhere_than_on_a_terminal_a_plain_line_is_said_once(pipe: Stderr) -> None:
    with working("Asking", 0):
        assert pipe.wait() == "Asking …\n"
        say("Reading")  # which is said, if at all, much later

    assert pipe.getvalue() == "Asking …\n"


def test_after_a_while_a_plain_line_says_what_it_is_at_by_then(pipe: Stderr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PLAIN_S", 0.0)
    with working("Asking", 0):
        pipe.wait()
        say("Reading")
        assert pipe.wait() == "Asking …\nReading …\n"


def test_a_terminal_counts_and_is_left_clean(terminal: Stderr) -> None:
    with working("Asking", 0):
        assert terminal.wait().startswith("\r\x1b[KAsking, 0 s")
        say("Reading")
        terminal.wait()

    assert terminal.getvalue().endswith("\r\x1b[K")
    assert "\r\x1b[KReading, " in terminal.getvalue()


def test_a_line_that_stays_takes_the_counting_line_away(
    terminal: Stderr, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with working("Asking", 0):
        terminal.wait()
        monkeypatch.setattr(progress._works[-1], "_quiet_s", 60.0)  # from now on it stays quiet
        log("Found one.")
        print_text("answer\n")
        shown = terminal.getvalue()

    assert shown.rpartition("Found one.\n")[0].endswith("\r\x1b[K")
    assert terminal.getvalue().endswith("Found one.\n")
    assert capsys.readouterr().out == "answer\n"


def test_nothing_is_said_while_a_person_is_waited_for(terminal: Stderr) -> None:
    with working("Checking"), resting():
        progress._works[-1]._quiet_s = 0.0
        assert not terminal.written.wait(0.1)


def test_what_cannot_be_written_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(Stderr):
        def write(self, _: str) -> int:
            self.written.set()
            raise OSError("no space left")

    full = Full(is_terminal=True)
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=full))
    with working("Asking", 0):
        assert full.written.wait(60)
        log("Lost.")


def test_every_command_that_may_take_long_says_what_it_is_at() -> None:
    commands: Any = next(one for one in build_parser()._actions if one.dest == "command").choices
    silent = {name for name, parser in commands.items() if not parser.get_default("doing")}

    assert silent == SERVES
