"""Whose turn it is, by a clock that the test sets."""

import asyncio
from contextlib import ExitStack
from dataclasses import replace

import pytest

from prompt_debugger.ui.web.gate import SLOW_S, RunGate
from prompt_debugger.ui.web.limits import PUBLIC_LIMITS, LimitError, Limits
from tests.patience import PATIENCE_S


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


async def test_a_run_that_waits_hears_at_once_that_its_turn_has_come(monkeypatch):
    monkeypatch.setattr("prompt_debugger.ui.web.gate._LOOK_AGAIN_S", 10 * PATIENCE_S)
    gate = RunGate(Limits(runs_at_once=1))
    with ExitStack() as others:
        others.enter_context(gate.enter("first"))
        with gate.enter("second") as turn:
            waiting = asyncio.create_task(heard(gate, turn))
            await asyncio.sleep(0)
            others.close()
            await asyncio.wait_for(waiting, PATIENCE_S)

    assert turn.goes_on


async def heard(gate, turn):
    while gate.runs_ahead(turn):
        await gate.wait(turn)


def test_many_runs_draw_what_has_not_changed_less_often(stack):
    gate = RunGate(Limits(runs_at_once=2))
    alone = gate.redraw_rate()
    for number in range(40):
        stack.enter_context(gate.enter(f"visitor {number}"))

    assert (alone, gate.redraw_rate()) == (1.0, 10.0)


def test_tools_that_wait_count_as_runs_do(stack):
    gate = RunGate(Limits(runs_at_once=2))
    stack.enter_context(gate.enter("visitor"))
    for _ in range(39):
        stack.enter_context(gate.drawing.counted())
    many = gate.redraw_rate()
    stack.close()

    assert (many, gate.redraw_rate()) == (10.0, 1.0)


def test_everyones_first_run_comes_before_anyones_second(stack):
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

    with pytest.raises(LimitError, match="alread"), gate.enter("mine"):
        pass


PUBLIC = Limits(runs_at_once=2, quick_at_once=4, most_at_once=6)


def goes_on(gate, turns):
    return [gate.runs_ahead(turn) == 0 for turn in turns]


def enter_all(gate, stack, visitor, count):
    return [stack.enter_context(gate.enter(f"{visitor} {number}", visitor)) for number in range(count)]


def test_a_visitor_who_has_no_run_finds_a_place_whatever_others_do(stack):
    gate = RunGate(PUBLIC)
    flood = enter_all(gate, stack, "hostile", 40)
    honest = enter_all(gate, stack, "honest", 2)

    assert goes_on(gate, flood[:3]) == [True, True, False]
    assert goes_on(gate, honest) == [True, False]


def test_slow_runs_hold_no_place_that_others_could_use(stack, clock):
    gate = RunGate(PUBLIC, clock)
    runs = enter_all(gate, stack, "class", 5)
    clock.now += SLOW_S - 0.5
    before = goes_on(gate, runs)
    clock.now += 1

    assert before == [True, True, False, False, False]
    assert goes_on(gate, runs) == [True, True, True, False, False]


def test_slow_runs_of_many_hold_up_no_one_who_has_none(stack, clock):
    gate = RunGate(replace(PUBLIC_LIMITS, total_per_minute=None), clock)
    for number in range(5):
        enter_all(gate, stack, f"hostile {number}", 60)
    for _ in range(10):
        clock.now += SLOW_S + 1
        gate.runs_ahead(gate._turns[0])
    honest = [turn for number in range(45) for turn in enter_all(gate, stack, f"honest {number}", 1)]

    assert goes_on(gate, honest).count(True) >= PUBLIC_LIMITS.runs_at_once


@pytest.mark.parametrize("floods", [1, 2, 3, 5])
def test_slow_runs_of_few_never_take_the_last_place(stack, clock, floods):
    gate = RunGate(replace(PUBLIC_LIMITS, total_per_minute=None), clock)
    for number in range(floods):
        enter_all(gate, stack, f"hostile {number}", 60)
    for _ in range(10):
        clock.now += SLOW_S + 1
        assert not all(goes_on(gate, gate._turns))

    assert goes_on(gate, enter_all(gate, stack, "honest", 1)) == [True]


def test_without_a_greatest_number_slow_runs_hold_their_places(stack, clock):
    gate = RunGate(Limits(runs_at_once=1), clock)
    turns = enter_all(gate, stack, "me", 2)
    clock.now += 60

    assert goes_on(gate, turns) == [True, False]


def test_of_one_visitors_pages_the_one_that_ran_least_is_first(stack):
    gate = RunGate(Limits(runs_at_once=1))
    for _ in range(3):
        with gate.enter("greedy", "school"):
            pass
    stack.enter_context(gate.enter("somebody", "else"))
    greedy = stack.enter_context(gate.enter("greedy", "school"))
    late = stack.enter_context(gate.enter("modest", "school"))

    assert [gate.runs_ahead(turn) for turn in (greedy, late)] == [2, 1]


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


def test_one_visitor_with_many_pages_leaves_runs_of_this_minute_to_others(clock):
    gate = RunGate(Limits(total_per_minute=6), clock)
    for number in range(3):
        with gate.enter(str(number), "hostile"):
            pass

    with pytest.raises(LimitError, match="Your address has started 3"), gate.enter("new", "hostile"):
        pass
    with gate.enter("page", "honest"):
        pass


def test_all_visitors_together_have_a_limit_too(clock):
    gate = RunGate(Limits(total_per_minute=3), clock)
    for number in range(3):
        with gate.enter(str(number), str(number)):
            pass

    with pytest.raises(LimitError, match="All visitors together"), gate.enter("fourth", "fourth"):
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


def test_starts_do_not_pile_up():
    gate = RunGate(Limits(runs_per_minute=1))
    for number in range(5_000):
        with gate.enter(str(number)):
            pass

    assert len(gate._starts) <= 2_000


def test_a_page_that_cost_little_finds_a_place_beside_forty_that_cost_much(clock):
    used = {}
    gate = RunGate(PUBLIC_LIMITS, clock, lambda page: used.get(page, 0.0))
    with ExitStack() as stack:
        hostile = enter_all(gate, stack, "class", 40)
        for _ in range(8):
            clock.now += SLOW_S + 1
            gate.runs_ahead(hostile[0])
        full = stack.enter_context(gate.enter("as new", "class"))
        before = full.goes_on
        used.update({f"class/class {number}": 1.0 for number in range(40)})
        neighbour = stack.enter_context(gate.enter("neighbour", "class"))
        elsewhere = stack.enter_context(gate.enter("page", "elsewhere"))

        assert (before, neighbour.goes_on, elsewhere.goes_on) == (False, True, True)
        assert not all(turn.goes_on for turn in hostile)


def test_of_one_address_the_page_whose_events_cost_least_is_next(clock):
    gate = RunGate(Limits(runs_at_once=1), clock)
    with ExitStack() as stack:
        stack.enter_context(gate.enter("holder", "class"))
        flood = [stack.enter_context(gate.enter(f"{number}", "class", lambda: 0.4)) for number in range(9)]
        neighbour = stack.enter_context(gate.enter("neighbour", "class", lambda: 0.1))

        assert gate.runs_ahead(neighbour) == 1
        assert [gate.runs_ahead(turn) for turn in flood] == list(range(2, 11))
