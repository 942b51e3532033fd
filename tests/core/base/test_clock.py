"""What goes by age does not go because a clock was set."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.clock import Age
from tests.clock import Clock

HOUR_S = 3_600.0


@pytest.fixture
def day(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time of day, which is set by hand."""
    day = Clock()
    monkeypatch.setattr("time.time", day)
    return day


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock that nobody sets."""
    passed = Clock()
    monkeypatch.setattr("time.monotonic", passed)
    return passed


@pytest.mark.parametrize("jump_s", [9 * HOUR_S, -9 * HOUR_S, 1e9])
def test_what_was_just_written_is_not_old_after_a_jump(day: Clock, passed: Clock, jump_s: float) -> None:
    age, written = Age(), day()

    day.now += jump_s
    passed.now += 1.0

    assert written >= age.before(HOUR_S)


def test_what_is_old_by_both_clocks_is_old(day: Clock, passed: Clock) -> None:
    age, written = Age(), day()

    day.now += 2 * HOUR_S
    passed.now += 2 * HOUR_S

    assert written < age.before(HOUR_S)


def test_what_is_written_while_the_clock_is_behind_is_not_old_when_it_is_right_again(day: Clock, passed: Clock) -> None:
    age, right = Age(), day.now

    day.now = right - 9 * HOUR_S
    written = age.stamp()
    day.now = right

    assert written >= age.before(HOUR_S)
