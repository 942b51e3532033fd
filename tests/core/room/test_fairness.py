"""Who is next at the lanes: by a clock that the test sets, and lanes whose processes never start."""

from __future__ import annotations

import time

import pytest

from prompt_debugger.core.room import VISITOR
from prompt_debugger.core.room.fairness import MUCH_AT_ONE_ADDRESS_S, MUCH_S, NEW_PAGE_S, Fairness
from prompt_debugger.core.room.lane import LONG_S
from prompt_debugger.core.room.lanes import Lanes
from tests.clock import Clock
from tests.patience import PATIENCE_S


@pytest.fixture
def fairness(clock: Clock) -> Fairness:
    return Fairness(clock)


@pytest.fixture
def shared(fairness: Fairness) -> Fairness:
    """What visitors used of a page that others use, too."""
    for address in ("somebody", "else"):
        fairness.note(f"{address}/1")
    return fairness


def never(is_slow):
    raise AssertionError("no process is needed to say whose turn it is")


def lanes_of(most, fairness):
    return Lanes(never, most, fairness)


def take(lanes, owner):
    token = VISITOR.set(owner)
    try:
        return lanes.take()
    finally:
        VISITOR.reset(token)


def test_what_was_used_is_forgotten_by_half_in_half_a_minute(fairness, clock):
    fairness.charge("a/1", 8.0)
    clock.now += 30
    fairness.charge("a/1", 1.0)

    assert fairness.used("a/1") == (5.0, 5.0)
    assert fairness.used("a/2") == (0.0, 5.0)
    assert fairness.used("b/1") == (0.0, 0.0)
    assert fairness.used("") == ()


def test_names_do_not_pile_up(fairness):
    for number in range(5_000):
        fairness.note(f"{number}/p")
        fairness.charge(f"{number}/p", 1.0)

    assert (len(fairness._spent), len(fairness._seen_s)) == (2_000, 2_000)


def test_who_had_least_lately_is_next(fairness):
    lanes = lanes_of(1, fairness)
    fairness.charge("a/1", 1.0)
    holder = take(lanes, "c/1")
    greedy, modest = take(lanes, "a/1"), take(lanes, "b/1")
    lanes.give_back(holder.result())

    assert (modest.done(), greedy.done()) == (True, False)


def test_among_equals_who_came_first_is_next(fairness):
    lanes = lanes_of(1, fairness)
    holder = take(lanes, "c/1")
    first, second = take(lanes, "a/1"), take(lanes, "b/1")
    lanes.give_back(holder.result())

    assert (first.done(), second.done()) == (True, False)


def test_nobody_holds_more_than_half_of_the_lanes(fairness):
    lanes = lanes_of(4, fairness)
    greedy = [take(lanes, "a/1") for _ in range(3)]
    others = [take(lanes, "b/1"), take(lanes, "c/1")]

    assert [one.done() for one in greedy] == [True, True, False]
    assert [one.done() for one in others] == [True, True]
    lanes.give_back(others[0].result())
    assert not greedy[2].done()
    lanes.give_back(greedy[0].result())
    assert greedy[2].done()


def test_an_address_that_holds_a_lane_waits_for_one_that_holds_none(fairness):
    lanes = lanes_of(2, fairness)
    holders = [take(lanes, "a/1"), take(lanes, "c/1")]
    same_address, other_address = take(lanes, "a/2"), take(lanes, "b/1")
    lanes.give_back(holders[1].result())

    assert (same_address.done(), other_address.done()) == (False, True)


def wait_long(lanes, owner):
    """Return whether a visitor who has waited long is worth a further lane."""
    future = take(lanes, owner)
    lanes._waiting = [waiter._replace(since_s=float("-inf")) for waiter in lanes._waiting]
    assert not lanes._needs_another(), "the line moves"
    lanes._served_s = float("-inf")
    needed = lanes._needs_another()
    lanes.give_up(future)
    lanes._waiting.clear()
    return needed


def test_only_who_holds_no_lane_is_worth_a_further_one(fairness):
    lanes = lanes_of(2, fairness)
    take(lanes, "a/1"), take(lanes, "b/1")

    assert wait_long(lanes, "c/1")
    assert not wait_long(lanes, "a/1")
    assert not wait_long(lanes, "")


def test_who_begins_to_wait_is_seen_at_once_where_the_next_look_is_far(shared, monkeypatch):
    """Else they wait until it is time to look for long jobs."""
    monkeypatch.setattr("prompt_debugger.core.room.lanes.LONG_S", 3_600.0)
    monkeypatch.setattr("prompt_debugger.core.room.lanes.has_memory_for_another", lambda: True)
    lanes = lanes_of(2, shared)
    held = [take(lanes, "a/1"), take(lanes, "b/1")]

    lane = take(lanes, "c/1").result(PATIENCE_S)

    assert [one.done() for one in held] == [True, True]
    assert lane.owner == "c/1"
    lanes.close()


def test_an_address_gets_few_further_lanes(fairness):
    lanes = lanes_of(3, fairness)
    for page in ("a/1", "a/2", "a/3"):
        take(lanes, page)

    assert wait_long(lanes, "b/1")
    assert not wait_long(lanes, "a/4")


def test_all_who_had_much_share_one_lane(shared):
    lanes = lanes_of(4, shared)
    for page in ("a/1", "b/1", "c/1"):
        shared.charge(page, MUCH_S + 1)
    heavy = [take(lanes, page) for page in ("a/1", "b/1", "c/1")]
    light = [take(lanes, page) for page in ("d/1", "e/1", "f/1")]

    assert [one.done() for one in (*heavy, *light)] == [True, False, False, True, True, True]
    lanes.give_back(heavy[0].result())
    assert [one.done() for one in heavy] == [True, True, False]


def test_a_new_page_of_an_address_that_had_much_is_no_new_beginning(shared, clock):
    lanes = lanes_of(2, shared)
    shared.note("a/old")
    clock.now += NEW_PAGE_S + 1
    for number in range(3):
        shared.charge(f"a/{number}", MUCH_AT_ONE_ADDRESS_S / 2)
    first, minted, old = take(lanes, "a/0"), take(lanes, "a/minted"), take(lanes, "a/old")

    assert (first.done(), minted.done(), old.done()) == (True, False, True)


def test_with_one_lane_those_who_had_much_are_served_too(shared):
    lanes = lanes_of(1, shared)
    shared.charge("a/1", 100.0)
    future = take(lanes, "a/1")

    assert future.done()
    lanes.give_back(future.result())
    assert take(lanes, "a/1").done()


def test_nobody_in_particular_has_all_lanes_and_is_charged_nothing(fairness):
    lanes = lanes_of(2, fairness)
    both = [take(lanes, ""), take(lanes, "")]
    for one in both:
        one.result().note_use(100.0)
        lanes.give_back(one.result())

    assert all(one.done() for one in both)
    assert take(lanes, "").done()


def test_a_visitor_is_charged_what_a_job_used(fairness):
    lanes = lanes_of(2, fairness)
    lane = take(lanes, "a/1").result()
    lane.note_use(MUCH_S + 1)
    lanes.give_back(lane)

    assert fairness.used("a/1") == (MUCH_S + 1, MUCH_S + 1)
    assert fairness.had_much("a/1")
    assert not fairness.had_much("b/1")


def test_who_is_alone_has_all_lanes_whatever_they_used(fairness, clock):
    """A page on its user's own machine, or the last visitor of the day."""
    lanes = lanes_of(2, fairness)
    fairness.charge("a/1", 100.0)
    first = take(lanes, "a/1").result()
    lanes.give_back(first)
    lanes.give_back(take(lanes, "b/1").result())
    beside = take(lanes, "a/1").result()
    lanes.give_back(beside)
    clock.now += 61.0
    later = take(lanes, "a/1").result()

    assert [lane.is_slow for lane in (first, beside, later)] == [False, True, False]


def test_pages_of_one_address_do_not_count_as_others(fairness):
    for page in ("a/1", "a/2", "a/3"):
        fairness.note(page)

    assert not fairness.is_shared()


def test_who_had_much_gets_the_slow_lane_and_takes_no_other(shared):
    shared.charge("hostile/1", 100.0)
    lanes = lanes_of(2, shared)
    slow, waiting = take(lanes, "hostile/1"), take(lanes, "hostile/2")
    usual = [take(lanes, owner) for owner in ("a/1", "b/1")]

    assert slow.result().is_slow
    assert not waiting.done()
    assert [future.result().is_slow for future in usual] == [False, False]


class Patient:
    """A process that a long job holds."""

    modules = ()
    is_running = True
    gives_way = False
    cpu_s = 0.0

    def give_way(self):
        self.gives_way = True
        return True


@pytest.mark.parametrize(
    ("owner", "is_long", "others", "gives_way"),
    [
        ("a/1", True, True, True),
        ("a/1", True, False, False),
        ("a/1", False, True, False),
        ("", True, True, False),
    ],
    ids=["a long one", "alone", "a short one", "nobody in particular"],
)
def test_a_long_job_gives_way_where_others_are(fairness, owner, is_long, others, gives_way):
    lanes = lanes_of(2, fairness)
    if others:
        fairness.note("other/1")
    lane = take(lanes, owner).result()
    take(lanes, "b/1" if others else owner)
    lane._process = process = Patient()
    lane._begun_s = float("-inf") if is_long else float("inf")

    lanes._look_again()

    assert (process.gives_way, lane.is_aside()) == (gives_way, gives_way)


@pytest.mark.parametrize(
    ("went_on_s", "cpu_s", "gives_way"),
    [(60.0, 2 * LONG_S, True), (60.0, LONG_S / 2, False), (7_200.0, 0.0, True)],
    ids=["it used much", "the machine is busy", "it waits for something"],
)
def test_how_long_a_job_is_says_what_it_used(shared, monkeypatch, went_on_s, cpu_s, gives_way):
    """On a busy machine a short job takes long, and would take for ever if it had to give way for that."""
    monkeypatch.setattr("prompt_debugger.core.room.lane.VERY_LONG_S", 3_600.0)
    lanes = lanes_of(2, shared)
    lane = take(lanes, "a/1").result()
    lane.note_use(10.0)  # an earlier job of the same process
    lane._process = process = Patient()
    process.cpu_s = 10.0 + cpu_s
    lane._begun_s = time.monotonic() - went_on_s

    lanes._look_again()

    assert process.gives_way == gives_way


def test_a_long_job_of_who_had_much_gives_way_too(shared):
    shared.charge("hostile/1", 100.0)
    lanes = lanes_of(2, shared)
    lane = take(lanes, "hostile/1").result()
    lane._process, lane._begun_s = Patient(), float("-inf")

    lanes._look_again()

    assert lane.is_slow
    assert lane.is_aside()


class Gone(Patient):
    def close(self):
        """Nothing is left to end."""


def let_stand_aside(lanes, owner):
    """Return a lane whose job has gone on for long."""
    lane = take(lanes, owner).result()
    lane._process, lane._begun_s = Gone(), float("-inf")
    lanes._look_again()
    assert lane.is_aside()
    return lane


def end_job(lanes, lane):
    """Give a lane back as a room does when its process gives way to others."""
    lane.drop()
    lanes.give_back(lane)


def test_another_lane_takes_the_place_of_a_job_that_stands_aside(shared):
    lanes = lanes_of(2, shared)
    aside = [let_stand_aside(lanes, f"hostile {number}/1") for number in range(3)]
    quick = [take(lanes, "a/1"), take(lanes, "b/1")]
    lanes._look_again()

    assert [one.done() for one in quick] == [True, True]
    for lane in (*aside, *(one.result() for one in quick)):
        end_job(lanes, lane)
    assert len(lanes.all) == 2


def test_the_last_free_lane_is_not_for_an_address_that_has_a_job_aside(shared):
    lanes = lanes_of(2, shared)
    aside = let_stand_aside(lanes, "hostile/1")
    other_page = take(lanes, "hostile/2")
    lanes._look_again()
    waiting, honest = take(lanes, "hostile/3"), take(lanes, "honest/1")

    assert [one.done() for one in (other_page, waiting, honest)] == [False, False, True]
    end_job(lanes, aside)
    assert other_page.done()


def test_a_lane_that_is_given_back_with_a_new_process_does_not_stand_aside(shared):
    lanes = lanes_of(1, shared)
    lane = take(lanes, "a/1").result()
    lane._process, lane._begun_s = Gone(), float("-inf")
    lane.refill(())
    lanes._look_again()

    assert not lane.is_aside()
