"""Who is next at the workers: by a clock that the test sets, and workers whose processes never start."""

from __future__ import annotations

import time
from contextlib import contextmanager

import pytest

from prompt_debugger.core.sandbox import ON_TRIAL, VISITOR
from prompt_debugger.core.sandbox.fairness import MUCH_AT_ONE_ADDRESS_S, MUCH_S, Fairness, Lane
from prompt_debugger.core.sandbox.worker import LONG_S
from prompt_debugger.core.sandbox.workers import Workers
from tests.clock import Clock
from tests.patience import PATIENCE_S

WATCH = Workers._watch


@pytest.fixture(autouse=True)
def look_when_the_test_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else workers look by themselves in a moment, which a busy machine puts between any two lines of a test."""
    monkeypatch.setattr(Workers, "_watch", lambda _: None)
    monkeypatch.setattr("prompt_debugger.core.sandbox.workers._PATIENCE_S", 3_600.0)
    monkeypatch.setattr("prompt_debugger.core.sandbox.workers.has_memory_for_another", lambda: True)


@pytest.fixture
def fairness(clock: Clock) -> Fairness:
    made = Fairness(clock)
    made.ends_jobs = True  # as where strangers share a page
    return made


@pytest.fixture
def shared(fairness: Fairness) -> Fairness:
    """What visitors used of a page that others use, too."""
    for address in ("somebody", "else"):
        fairness.note(f"{address}/1")
    return fairness


def never(is_slow):
    raise AssertionError("no process is needed to say whose turn it is")


def workers_of(most, fairness):
    return Workers(never, most, fairness)


def take(workers, owner):
    token = VISITOR.set(owner)
    try:
        return workers.take()
    finally:
        VISITOR.reset(token)


def test_what_was_used_is_forgotten_by_half_in_half_a_minute(fairness, clock):
    fairness.charge("a/1", 8.0)
    clock.now += 30
    fairness.charge("a/1", 1.0)

    assert fairness.used("a/1") == (5.0, 5.0)
    assert fairness.used("a/2") == (5.0, 0.0)
    assert fairness.used("b/1") == (0.0, 0.0)
    assert fairness.used("") == (0.0, 0.0)


def test_jobs_are_ended_for_others_only_where_that_is_asked_for():
    assert not Fairness().ends_jobs


def test_names_do_not_pile_up(fairness):
    for number in range(5_000):
        fairness.note(f"{number}/p")
        fairness.charge(f"{number}/p", 1.0)

    assert len(fairness._spent) == 2_000


def test_who_had_least_recently_is_next(fairness):
    workers = workers_of(1, fairness)
    fairness.charge("a/1", 1.0)
    holder = take(workers, "c/1")
    greedy, modest = take(workers, "a/1"), take(workers, "b/1")
    workers.give_back(holder.result(timeout=0))

    assert (modest.done(), greedy.done()) == (True, False)


def test_among_equals_who_came_first_is_next(fairness):
    workers = workers_of(1, fairness)
    holder = take(workers, "c/1")
    first, second = take(workers, "a/1"), take(workers, "b/1")
    workers.give_back(holder.result(timeout=0))

    assert (first.done(), second.done()) == (True, False)


def test_no_one_holds_more_than_half_of_the_workers(fairness):
    workers = workers_of(4, fairness)
    greedy = [take(workers, "a/1") for _ in range(3)]
    others = [take(workers, "b/1"), take(workers, "c/1")]

    assert [one.done() for one in greedy] == [True, True, False]
    assert [one.done() for one in others] == [True, True]
    workers.give_back(others[0].result(timeout=0))
    assert not greedy[2].done()
    workers.give_back(greedy[0].result(timeout=0))
    assert greedy[2].done()


def test_an_address_that_holds_a_worker_waits_for_one_that_holds_none(fairness):
    workers = workers_of(2, fairness)
    holders = [take(workers, "a/1"), take(workers, "c/1")]
    same_address, other_address = take(workers, "a/2"), take(workers, "b/1")
    workers.give_back(holders[1].result(timeout=0))

    assert (same_address.done(), other_address.done()) == (False, True)


def wait_long(workers, owner):
    """Return whether a visitor who has waited long is worth a further worker."""
    future = take(workers, owner)
    workers._waiting = [waiter._replace(since_s=float("-inf")) for waiter in workers._waiting]
    assert not workers._wants_another(), "the line moves"
    workers._served_s = float("-inf")
    needed = workers._wants_another()
    workers.give_up(future)
    workers._waiting.clear()
    return needed


def test_only_who_holds_no_worker_is_worth_a_further_one(fairness):
    workers = workers_of(2, fairness)
    take(workers, "a/1"), take(workers, "b/1")

    assert wait_long(workers, "c/1")
    assert not wait_long(workers, "a/1")
    assert not wait_long(workers, "")


def test_who_begins_to_wait_is_seen_at_once_where_the_next_look_is_far(shared, monkeypatch):
    """Else they wait until it is time to look for long jobs."""
    monkeypatch.setattr(Workers, "_watch", WATCH)
    monkeypatch.setattr("prompt_debugger.core.sandbox.workers.LONG_S", 3_600.0)
    monkeypatch.setattr("prompt_debugger.core.sandbox.workers._PATIENCE_S", 0.01)
    workers = workers_of(2, shared)
    held = [take(workers, "a/1"), take(workers, "b/1")]

    worker = take(workers, "c/1").result(PATIENCE_S)

    assert [one.done() for one in held] == [True, True]
    assert worker.owner == "c/1"
    workers.close()


def test_an_address_gets_few_further_workers(fairness):
    workers = workers_of(3, fairness)
    for page in ("a/1", "a/2", "a/3"):
        take(workers, page)

    assert wait_long(workers, "b/1")
    assert not wait_long(workers, "a/4")


def test_all_who_had_much_share_one_worker(shared):
    workers = workers_of(4, shared)
    for page in ("a/1", "b/1", "c/1"):
        shared.charge(page, MUCH_S + 1)
    heavy = [take(workers, page) for page in ("a/1", "b/1", "c/1")]
    light = [take(workers, page) for page in ("d/1", "e/1", "f/1")]

    assert [one.done() for one in (*heavy, *light)] == [True, False, False, True, True, True]
    workers.give_back(heavy[0].result(timeout=0))
    assert [one.done() for one in heavy] == [True, True, False]


def test_pages_that_used_little_of_an_address_that_used_much_share_one_worker(shared):
    """Names of pages are free: else ever new ones would get whatever there is."""
    workers = workers_of(2, shared)
    for number in range(6):
        shared.charge(f"a/{number}", MUCH_AT_ONE_ADDRESS_S / 4)
    minted = [take(workers, f"a/minted {number}") for number in range(3)]
    others = [take(workers, "b/1"), take(workers, "c/1")]

    assert [one.done() for one in (*minted, *others)] == [True, False, False, True, True]
    assert minted[0].result(timeout=0).lane is Lane.CROWDED
    workers.give_back(minted[0].result(timeout=0))
    assert minted[1].done()


def test_a_page_that_used_much_holds_up_no_other_of_its_address(shared):
    workers = workers_of(2, shared)
    for number in range(3):
        shared.charge(f"a/{number}", 2 * MUCH_S)
    greedy = [take(workers, f"a/{number}") for number in range(3)]
    neighbour = take(workers, "a/neighbour")

    assert [one.done() for one in greedy] == [True, False, False]
    assert neighbour.result(timeout=0).lane is Lane.CROWDED


def test_with_one_worker_those_who_had_much_are_served_too(shared):
    workers = workers_of(1, shared)
    shared.charge("a/1", 100.0)
    future = take(workers, "a/1")

    assert future.done()
    workers.give_back(future.result(timeout=0))
    assert take(workers, "a/1").done()


def test_no_one_in_particular_has_all_workers_and_is_charged_nothing(fairness):
    workers = workers_of(2, fairness)
    both = [take(workers, ""), take(workers, "")]
    for one in both:
        one.result(timeout=0).note_use(100.0)
        workers.give_back(one.result(timeout=0))

    assert all(one.done() for one in both)
    assert take(workers, "").done()


def test_a_visitor_is_charged_what_a_job_used(fairness):
    workers = workers_of(2, fairness)
    worker = take(workers, "a/1").result(timeout=0)
    worker.note_use(MUCH_S + 1)
    workers.give_back(worker)

    assert fairness.used("a/1") == (MUCH_S + 1, MUCH_S + 1)
    fairness.note("a/1")
    fairness.note("b/1")
    assert (fairness.lane_of("a/1"), fairness.lane_of("b/1")) == (Lane.HEAVY, Lane.USUAL)


def test_who_is_alone_has_all_workers_whatever_they_used(fairness, clock):
    """A page on its user's own machine, or the last visitor of the day."""
    workers = workers_of(2, fairness)
    fairness.charge("a/1", 100.0)
    first = take(workers, "a/1").result(timeout=0)
    workers.give_back(first)
    workers.give_back(take(workers, "b/1").result(timeout=0))
    beside = take(workers, "a/1").result(timeout=0)
    workers.give_back(beside)
    clock.now += 61.0
    later = take(workers, "a/1").result(timeout=0)

    assert [worker.lane for worker in (first, beside, later)] == [Lane.USUAL, Lane.HEAVY, Lane.USUAL]


def test_pages_of_one_address_are_others_to_one_another(fairness):
    for page in ("a/1", "a/2", "a/3"):
        fairness.note(page)

    assert (fairness.is_shared(), fairness.has_other_addresses()) == (True, False)


def test_who_comes_first_is_alone_from_the_beginning(fairness, clock):
    clock.now = 1.0
    fairness.note("a/1")
    fairness.note("")  # no one in particular
    fairness.note("a/1")

    assert not fairness.is_shared()


@pytest.mark.parametrize(("later_s", "is_shared"), [(0.0, True), (59.5, True), (60.0, False), (61.0, False)])
def test_others_count_for_a_minute(fairness, clock, later_s, is_shared):
    fairness.note("a/1")
    fairness.note("b/1")
    clock.now += later_s

    assert (fairness.is_shared(), fairness.has_other_addresses()) == (is_shared, is_shared)


def test_much_is_more_than_its_bound(shared):
    shared.charge("a/1", MUCH_S)
    assert shared.lane_of("a/1") is Lane.USUAL
    shared.charge("a/2", MUCH_AT_ONE_ADDRESS_S - MUCH_S)
    assert shared.lane_of("a/1") is Lane.USUAL
    shared.charge("a/2", 0.5)
    assert shared.lane_of("a/1") is Lane.CROWDED
    shared.charge("b/1", MUCH_S + 0.25)
    assert shared.lane_of("b/1") is Lane.HEAVY


def test_who_had_much_gets_the_slow_worker_and_takes_no_other(shared):
    shared.charge("hostile/1", 100.0)
    workers = workers_of(2, shared)
    slow, waiting = take(workers, "hostile/1"), take(workers, "hostile/1")
    usual = [take(workers, owner) for owner in ("a/1", "b/1")]

    assert slow.result(timeout=0).lane is Lane.HEAVY
    assert not waiting.done()
    assert [future.result(timeout=0).lane for future in usual] == [Lane.USUAL] * 2


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
    workers = workers_of(2, fairness)
    if others:
        fairness.note("other/1")
    worker = take(workers, owner).result(timeout=0)
    take(workers, "b/1" if others else owner)
    worker._process = process = Patient()
    worker._begun_s = float("-inf") if is_long else float("inf")

    workers._look_again()

    assert (process.gives_way, worker.is_aside()) == (gives_way, gives_way)


@pytest.mark.parametrize(
    ("went_on_s", "cpu_s", "gives_way"),
    [(60.0, 2 * LONG_S, True), (60.0, LONG_S / 2, False), (7_200.0, 0.0, True)],
    ids=["it used much", "the machine is busy", "it waits for something"],
)
def test_how_long_a_job_is_says_what_it_used(shared, monkeypatch, went_on_s, cpu_s, gives_way):
    """On a busy machine a short job takes long, and would take for ever if it had to give way for that."""
    monkeypatch.setattr("prompt_debugger.core.sandbox.worker.VERY_LONG_S", 3_600.0)
    workers = workers_of(2, shared)
    worker = take(workers, "a/1").result(timeout=0)
    worker.note_use(10.0)  # an earlier job of the same process
    worker._process = process = Patient()
    process.cpu_s = 10.0 + cpu_s
    worker._begun_s = time.monotonic() - went_on_s

    workers._look_again()

    assert process.gives_way == gives_way


def test_a_long_job_of_who_had_much_gives_way_too(shared):
    shared.charge("hostile/1", 100.0)
    workers = workers_of(2, shared)
    worker = take(workers, "hostile/1").result(timeout=0)
    worker._process, worker._begun_s = Patient(), float("-inf")

    workers._look_again()

    assert worker.lane is Lane.HEAVY
    assert worker.is_aside()


class Gone(Patient):
    def close(self):
        """Nothing is left to end."""


def let_stand_aside(workers, owner):
    """Return a worker whose job has gone on for long."""
    future = take(workers, owner)
    workers._look_again()
    worker = future.result(timeout=0)
    worker._process, worker._begun_s = Gone(), float("-inf")
    workers._look_again()
    assert worker.is_aside()
    return worker


def end_job(workers, worker):
    """Give a worker back as a sandbox does when its process gives way to others."""
    worker.drop()
    workers.give_back(worker)


def test_another_worker_takes_the_place_of_a_job_that_stands_aside(shared):
    workers = workers_of(2, shared)
    aside = [let_stand_aside(workers, f"hostile {number}/1") for number in range(3)]
    quick = [take(workers, "a/1"), take(workers, "b/1")]
    workers._look_again()

    assert [one.done() for one in quick] == [True, True]
    for worker in (*aside, *(one.result(timeout=0) for one in quick)):
        end_job(workers, worker)
    assert len(workers.all) == 2


def test_the_last_free_worker_is_not_for_an_address_that_has_a_job_aside(shared):
    workers = workers_of(2, shared)
    aside = let_stand_aside(workers, "hostile/1")
    other_page = take(workers, "hostile/2")
    workers._look_again()
    waiting, honest = take(workers, "hostile/3"), take(workers, "honest/1")

    assert [one.done() for one in (other_page, waiting, honest)] == [False, False, True]
    end_job(workers, aside)
    assert other_page.done()


def test_a_page_that_was_answered_before_does_not_wait_for_what_its_address_has_aside(shared):
    workers = workers_of(2, shared)
    let_stand_aside(workers, "a/1")
    with on_trial(False):
        answered = take(workers, "a/2")

    assert answered.done()


def test_one_of_several_workers_is_kept_for_pages_that_are_not_on_trial(shared):
    workers = workers_of(2, shared)
    with on_trial(True):
        flood = [take(workers, f"{address}/{page}") for page in range(3) for address in "abc"]
    with on_trial(False):
        known = take(workers, "a/known")

    assert [one.done() for one in flood].count(True) == 1
    assert known.done()
    workers.give_back(known.result(timeout=0))
    assert [one.done() for one in flood].count(True) == 1


def test_who_is_alone_is_on_trial_for_nothing(fairness):
    workers = workers_of(4, fairness)
    with on_trial(True):
        mine = [take(workers, "a/1") for _ in range(2)]

    assert all(one.done() for one in mine)


def test_with_one_worker_pages_on_trial_are_served_too(shared):
    workers = workers_of(1, shared)
    with on_trial(True):
        assert take(workers, "a/1").done()


@contextmanager
def on_trial(value):
    token = ON_TRIAL.set(value)
    yield
    ON_TRIAL.reset(token)


def test_a_worker_that_is_given_back_with_a_new_process_does_not_stand_aside(shared):
    workers = workers_of(1, shared)
    worker = take(workers, "a/1").result(timeout=0)
    worker._process, worker._begun_s = Gone(), float("-inf")
    worker.refill(())
    workers._look_again()

    assert not worker.is_aside()


class Ticking(Clock):
    """A clock that goes on between any two looks at it, as real ones do."""

    def __call__(self) -> float:
        self.now += 0.000_1
        return self.now


def test_what_pages_used_is_compared_at_one_moment():
    """A moment later all have used a little less: whoever is looked at last would be next."""
    fairness = Fairness(Ticking())
    workers = workers_of(1, fairness)
    fairness.charge("a/greedy", 0.5)
    holder = take(workers, "a/holder")
    waiting = [take(workers, "a/neighbour"), *(take(workers, "a/greedy") for _ in range(9))]
    workers.give_back(holder.result(timeout=0))

    assert [one.done() for one in waiting] == [True] + [False] * 9


def test_an_address_comes_before_one_that_used_more_whatever_its_pages_used(fairness):
    workers = workers_of(1, fairness)
    fairness.charge("greedy/1", 3.0)
    fairness.charge("modest/1", 0.5)
    holder = take(workers, "c/1")
    minted, modest = take(workers, "greedy/new"), take(workers, "modest/1")
    workers.give_back(holder.result(timeout=0))

    assert (minted.done(), modest.done()) == (False, True)


class Working(Gone):
    """A process whose job has used so much."""

    is_killed = False

    def __init__(self, cpu_s):
        self.cpu_s = cpu_s

    def kill(self):
        self.is_killed = True


def test_a_job_that_handed_on_a_part_is_ended_only_if_its_page_used_more(fairness, impatient):
    workers = workers_of(2, fairness)
    fairness.note("a/0")
    fairness.note("a/1")
    aside = [stand_aside(workers, f"a/{number}", LONG_S) for number in range(3)]
    for worker in aside:
        worker.can_restart, worker._process.cpu_s = False, LONG_S / 4
    for number in range(5):
        take(workers, f"a/waiting {number}")
    workers._look_again()
    before = any(worker.makes_room for worker in aside)
    aside[1]._process.cpu_s = 2 * LONG_S
    workers._look_again()

    assert (before, [worker.makes_room for worker in aside]) == (False, [False, True, False])


def test_a_job_is_long_sooner_where_many_wait(shared):
    workers = workers_of(2, shared)
    held = [take(workers, owner).result(timeout=0) for owner in ("a/1", "b/1")]
    for worker in held:
        worker._process, worker._begun_s = Working(LONG_S / 2), time.monotonic() - 1.0
    workers._look_again()
    before = [worker.is_aside() for worker in held]
    for number in range(4):
        take(workers, f"c/{number}")
    workers._look_again()

    assert (before, [worker.is_aside() for worker in held]) == ([False, False], [True, True])


def stand_aside(workers, owner, cpu_s):
    """Return the worker of a job that used so much and gives way, and its process."""
    future = take(workers, owner)
    workers._look_again()
    worker = future.result(timeout=0)
    worker._process, worker._begun_s = Working(cpu_s), float("-inf")
    worker.give_way_if_long()
    worker.can_restart = True
    assert worker.is_aside()
    return worker


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr("prompt_debugger.core.sandbox.workers._PATIENCE_S", 0.0)


def test_of_forty_pages_of_one_address_few_have_jobs_aside(fairness, impatient):
    """Jobs aside take no more places; where they have theirs, the greediest is ended for a page that used less."""
    workers = workers_of(2, fairness)
    fairness.note("a/0")
    fairness.note("a/1")
    aside = [stand_aside(workers, f"a/{number}", 1.0 + number) for number in range(3)]
    busy = [take(workers, f"a/busy {number}") for number in range(2)]
    workers._look_again()
    waiting = [take(workers, f"a/waiting {number}") for number in range(30)]
    neighbour = take(workers, "a/neighbour")
    workers._look_again()

    assert [worker.makes_room for worker in aside] == [False, False, True]
    assert aside[2]._process.is_killed
    assert not neighbour.done()
    workers._look_again()
    assert [worker.makes_room for worker in aside] == [False, False, True], "one at a time"
    end_job(workers, aside[2])
    assert [one.done() for one in busy] == [True, True]
    assert sum(one.done() for one in (*waiting, neighbour)) == 2, "in its place and in the third of the address"


def test_on_ones_own_machine_no_job_is_ended_for_another_tab(fairness, impatient):
    fairness.ends_jobs = False
    workers = workers_of(2, fairness)
    fairness.note("a/0")
    fairness.note("a/1")
    aside = [stand_aside(workers, f"a/{number}", 1.0 + number) for number in range(3)]
    for number in range(9):
        take(workers, f"a/waiting {number}")
    workers._look_again()

    assert not any(worker.makes_room for worker in aside)


def test_a_job_aside_is_not_ended_for_a_page_that_used_as_much(fairness, impatient):
    workers = workers_of(2, fairness)
    fairness.note("a/0")
    fairness.note("a/1")
    aside = [stand_aside(workers, f"a/{number}", 0.3) for number in range(3)]
    for page in ("a/busy 0", "a/busy 1", "a/waiting"):
        fairness.charge(page, 0.2)
        take(workers, page)
    workers._look_again()

    assert not any(worker.makes_room for worker in aside)


def test_a_job_aside_of_another_address_goes_on_while_there_are_places(shared, impatient):
    workers = workers_of(2, shared)
    aside = stand_aside(workers, "a/1", 5.0)
    take(workers, "b/1")
    workers._look_again()

    assert not aside.makes_room


def test_a_page_that_used_some_gives_way_sooner(shared):
    workers = workers_of(2, shared)
    shared.charge("a/1", LONG_S)
    workers_held = [take(workers, owner).result(timeout=0) for owner in ("a/1", "b/1")]
    for worker in workers_held:
        worker._process, worker._begun_s = Working(LONG_S / 2), time.monotonic() - 1.0
    workers._look_again()

    assert [worker.is_aside() for worker in workers_held] == [True, False]


def test_a_page_that_asks_one_thing_comes_before_pages_that_ask_many_at_once(fairness):
    workers = workers_of(1, fairness)
    holder = take(workers, "a/holder")
    flood = [take(workers, f"a/{number}") for number in range(10) for _ in range(3)]
    neighbour = take(workers, "a/neighbour")
    workers.give_back(holder.result(timeout=0))

    assert neighbour.done()
    assert not any(one.done() for one in flood)
