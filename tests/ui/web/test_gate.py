"""Whose turn it is, by a clock that the test sets."""

from contextlib import ExitStack

import pytest

from prompt_debugger.ui.web.gate import RunGate
from prompt_debugger.ui.web.limits import LimitError, Limits


class Clock:
    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def stack():
    with ExitStack() as stack:
        yield stack


def test_runs_wait_in_the_order_in_which_they_came(stack):
    gate = RunGate(Limits(runs_at_once=2))
    turns = [stack.enter_context(gate.enter(f"visitor {number}")) for number in range(5)]

    assert [gate.runs_ahead(turn) for turn in turns] == [0, 0, 1, 2, 3]


def test_the_end_of_a_run_lets_the_next_one_go_on(stack):
    gate = RunGate(Limits(runs_at_once=1))
    with gate.enter("first"):
        second = stack.enter_context(gate.enter("second"))
        third = stack.enter_context(gate.enter("third"))

    assert [gate.runs_ahead(second), gate.runs_ahead(third)] == [0, 1]


def test_everybodys_first_run_comes_before_anybodys_second(stack):
    gate = RunGate(Limits(runs_at_once=1))
    flood = [stack.enter_context(gate.enter(f"tab {number}", "hostile")) for number in range(4)]
    honest = stack.enter_context(gate.enter("page", "honest"))
    late = stack.enter_context(gate.enter("other page", "late"))

    assert [gate.runs_ahead(turn) for turn in flood] == [0, 3, 4, 5]
    assert [gate.runs_ahead(turn) for turn in (honest, late)] == [1, 2]


def test_a_run_that_goes_on_is_not_set_back_by_who_comes_later(stack):
    gate = RunGate(Limits(runs_at_once=2))
    mine = [stack.enter_context(gate.enter(f"tab {number}", "me")) for number in range(2)]
    other = stack.enter_context(gate.enter("page", "other"))

    assert [gate.runs_ahead(turn) for turn in (*mine, other)] == [0, 0, 1]


def test_a_run_that_fails_gives_its_place_back():
    gate = RunGate(Limits(runs_per_session=1))
    with pytest.raises(ZeroDivisionError), gate.enter("me"):
        raise ZeroDivisionError
    with gate.enter("me") as turn:
        assert gate.runs_ahead(turn) == 0


def test_one_page_has_one_run_and_another_page_its_own(stack):
    gate = RunGate(Limits(runs_per_session=1))
    stack.enter_context(gate.enter("mine"))
    stack.enter_context(gate.enter("theirs"))

    with pytest.raises(LimitError, match="going on already"), gate.enter("mine"):
        pass


def test_a_line_that_is_full_takes_nobody_more(stack):
    gate = RunGate(Limits(runs_at_once=1, waiting_runs=2))
    for number in range(3):
        stack.enter_context(gate.enter(str(number)))

    with pytest.raises(LimitError, match="3 runs of other visitors are in line"), gate.enter("late"):
        pass


def test_too_many_runs_in_a_minute_are_refused_until_the_minute_is_over(clock):
    gate = RunGate(Limits(runs_per_minute=2), clock)
    for _ in range(2):
        with gate.enter("me"):
            clock.now += 10

    with pytest.raises(LimitError, match="2 runs within a minute") as caught, gate.enter("me"):
        pass
    with gate.enter("another"):
        pass
    clock.now += 40.5
    with gate.enter("me"):
        pass

    assert "Run again in 40 s" in caught.value.hint


def test_all_visitors_together_have_a_limit_too(clock):
    gate = RunGate(Limits(total_per_minute=3), clock)
    for number in range(3):
        with gate.enter(str(number)):
            pass

    with pytest.raises(LimitError, match="all visitors together"), gate.enter("fourth"):
        pass


def test_a_refused_run_counts_for_nothing(clock):
    gate = RunGate(Limits(runs_per_minute=1), clock)
    with gate.enter("me"):
        pass
    for _ in range(5):
        with pytest.raises(LimitError), gate.enter("me"):
            pass
    clock.now += 61

    with gate.enter("me"):
        pass


def test_without_limits_nothing_is_refused(stack):
    gate = RunGate(Limits())
    for _ in range(300):
        stack.enter_context(gate.enter("me"))


def test_sessions_that_came_and_went_do_not_pile_up():
    gate = RunGate(Limits(runs_per_minute=1))
    for number in range(5_000):
        with gate.enter(str(number)):
            pass

    assert len(gate._starts_by_session) <= 2_000
