"""What the page says where the sandbox's lock is not whole, and that it does not serve strangers from such a one."""

from __future__ import annotations

import argparse
from types import SimpleNamespace

import pytest

from prompt_debugger.core.base.errors import SandboxError
from prompt_debugger.core.sandbox.kernel import PARTS
from prompt_debugger.core.sandbox.lock_report import report_unlocked
from prompt_debugger.ui.cli import page
from prompt_debugger.ui.web import launch
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.weak_sandbox import refuse_weak_sandbox, unlocked_lines

WEAK = {"calls": "Operation not permitted", "files": "the kernel has no Landlock (Function not implemented)"}


class Lacking:
    """A sandbox on a system that lacks parts."""

    def __init__(self, missing: dict[str, str]) -> None:
        self._missing = missing

    def call(self, job: object) -> dict[str, str]:
        assert job is report_unlocked
        return self._missing


@pytest.fixture
def system(monkeypatch):
    def lack(missing: dict[str, str]) -> None:
        monkeypatch.setattr(launch, "sandbox_of", lambda: Lacking(missing))

    return lack


def test_each_missing_part_is_one_line_that_says_what_could_happen():
    lines = unlocked_lines(dict.fromkeys(PARTS, "why"))

    assert len(lines) == len(set(lines)) == len(PARTS)
    assert all(line.startswith("Warning: the sandbox does not lock ") and "(why): " in line for line in lines)
    assert unlocked_lines({}) == ()


def test_a_whole_sandbox_is_not_mentioned(system, capsys):
    system({})

    launch.report_unlocked_parts(PageSettings(public=True))

    assert capsys.readouterr().err == ""


def test_visitors_are_not_served_from_a_weak_sandbox(system, capsys):
    system(WEAK)

    with pytest.raises(SandboxError, match="does not lock system calls, files") as raised:
        launch.report_unlocked_parts(PageSettings(public=True))

    assert "--accept-weak-sandbox" in raised.value.hint
    assert len(capsys.readouterr().err.splitlines()) == len(WEAK)


@pytest.mark.parametrize(
    "settings", [PageSettings(public=True, accepts_weak_sandbox=True), PageSettings()], ids=["accepted", "own machine"]
)
def test_who_accepts_it_or_is_alone_is_reported_and_served(system, capsys, settings):
    system(WEAK)

    launch.report_unlocked_parts(settings)

    said = capsys.readouterr().err
    assert "system calls (Operation not permitted)" in said
    assert "files (the kernel has no Landlock" in said


def test_a_refusal_needs_a_missing_part():
    refuse_weak_sandbox({})


def test_a_page_that_is_not_served_has_opened_nothing(monkeypatch, system):
    """The command itself: nothing listens before the lock was looked at."""
    system(WEAK)
    seen: list[str] = []
    for name in ("keep_little", "start_work_sandbox", "_end_within", "close_sandboxes", "serve_app", "StopSignals"):
        monkeypatch.setattr(launch, name, lambda *_, name=name: seen.append(name))
    monkeypatch.setattr(launch, "Kernel", lambda: SimpleNamespace(hide=lambda: seen.append("hide")))
    monkeypatch.setattr(launch, "lock", lambda name: seen.append(name))
    monkeypatch.setattr(launch, "build_app", lambda *_: SimpleNamespace(close=lambda **_: None))
    monkeypatch.setattr(Lacking, "call", lambda self, job, *_, **__: self._missing if job is report_unlocked else None)

    with pytest.raises(SandboxError):
        launch.launch_app(PageSettings(public=True, lab=False))

    assert "hide" in seen
    assert "serve_app" not in seen


@pytest.mark.parametrize(
    ("space", "arguments", "accepted"),
    [("", [], False), ("", ["--accept-weak-sandbox"], True), ("a/b", [], True)],
)
def test_a_space_accepts_what_its_container_lacks(monkeypatch, space, arguments, accepted):
    monkeypatch.setenv("SPACE_ID", space)
    parser = argparse.ArgumentParser()
    page.add_arguments(parser)

    assert parser.parse_args(arguments).accept_weak_sandbox is accepted
