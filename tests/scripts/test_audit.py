"""`make audit`: a network that is away is one line and a status of its own; anything else is shown as it is."""

from __future__ import annotations

import sys

import pytest

from scripts.audit import AWAY, told

LOST = "urllib3.exceptions.MaxRetryError: Max retries exceeded (Caused by NameResolutionError: a.example)"


def saying(words: str, status: int) -> list[str]:
    return [sys.executable, "-c", f"import sys; print({words!r}, file=sys.stderr); sys.exit({status})"]


def test_without_a_network_it_says_so_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    status = told(saying(f"Traceback (most recent call last):\n  …\n{LOST}", 1))

    shown = capfd.readouterr()
    assert (status, shown.out) == (AWAY, "")
    assert shown.err == "The audit needs the network, and it cannot be reached: nothing was looked up.\n"


def test_a_mirror_in_place_of_the_database_is_one_line_too(capfd: pytest.CaptureFixture[str]) -> None:
    words = "WARNING:pip_audit._cli:x\nERROR:pip_audit._cli:mint: Dependency not found on PyPI and could not be audited"

    status = told(saying(words, 1))

    shown = capfd.readouterr().err
    assert status == AWAY
    assert shown.count("\n") == 1
    assert "does not know mint" in shown
    assert "Nothing was looked up" in shown


@pytest.mark.parametrize("status", [0, 1])
def test_what_it_finds_is_shown_as_it_is(status: int, capfd: pytest.CaptureFixture[str]) -> None:
    assert told(saying("Found 1 known vulnerability in 1 package", status)) == status
    assert capfd.readouterr().err == "Found 1 known vulnerability in 1 package\n"


def test_words_about_a_connection_are_no_fault_where_it_ended_well(capfd: pytest.CaptureFixture[str]) -> None:
    assert told(saying(LOST, 0)) == 0
    assert LOST in capfd.readouterr().err
