"""Which pages are remembered: whose page goes when there are too many, and when one that was closed is forgotten."""

from dataclasses import replace

import pytest

from prompt_debugger.ui.web.admission.kinds import PUBLIC_ADMISSION
from prompt_debugger.ui.web.admission.sessions import EMPTY_KEEP_S, UNHEARD_S, Sessions

LIMITS = replace(PUBLIC_ADMISSION, pages=6, pages_per_visitor=3, keep_s=100.0)


class Kept:
    def __init__(self):
        self.full, self.busy, self.coming, self.forgotten, self.ended = set(), set(), set(), [], []

    def holds(self, page):
        return page in self.full

    def is_busy(self, page):
        return page in self.busy

    def forget(self, page):
        self.forgotten.append(page)

    def end_old(self, page, age_s):
        assert age_s == UNHEARD_S
        self.ended.append(page)


class Clock:
    now = 0.0

    def __call__(self):
        self.now += 0.001
        return self.now


@pytest.fixture
def kept():
    return Kept()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def sessions(kept, clock):
    return Sessions(LIMITS, kept, kept.coming.__contains__, clock)


def test_a_visitor_with_many_pages_loses_their_own(sessions, kept):
    kept.full.add("mine")
    sessions.use("mine", "me")
    for number in range(250):
        sessions.use(f"theirs {number}", "hostile")

    assert sessions.is_known("mine")
    assert "mine" not in kept.forgotten
    assert len(sessions) == 1 + LIMITS.pages_per_visitor


def test_even_at_one_address_a_page_that_has_a_run_outlives_empty_ones(sessions, kept):
    kept.full.add("mine")
    sessions.use("mine", "both")
    for number in range(250):
        sessions.use(f"theirs {number}", "both")

    assert sessions.is_known("mine")


def test_a_page_that_is_open_outlives_one_that_was_closed(sessions, kept):
    for page in ("open", "closed", "last"):
        kept.full.add(page)
        sessions.use(page, "me")
    sessions.listen("open", +1)
    sessions.use("another", "me")

    assert kept.forgotten == ["closed"]


def test_when_all_places_are_taken_the_one_with_most_pages_gives_one(sessions, kept):
    for page, visitor in (("a1", "a"), ("b1", "b"), ("c1", "c"), ("c2", "c"), ("c3", "c"), ("d1", "d")):
        sessions.use(page, visitor)
    sessions.use("e1", "e")

    assert kept.forgotten == ["c1"]
    assert len(sessions) == LIMITS.pages


def test_a_page_that_was_closed_is_remembered_for_a_while(sessions, kept, clock):
    kept.full |= {"held", "open"}
    for page in ("held", "open", "empty"):
        sessions.use(page, "me")
    sessions.listen("open", +1)
    clock.now += EMPTY_KEEP_S + 1
    sessions.forget_closed()
    assert kept.forgotten == ["empty"]
    clock.now += LIMITS.keep_s
    sessions.forget_closed()

    assert kept.forgotten == ["empty", "held"]
    assert sessions.is_known("open")


def test_what_goes_on_for_a_closed_page_is_not_cut_off(sessions, kept, clock):
    sessions.use("busy", "me")
    kept.busy.add("busy")
    clock.now += 1_000
    sessions.forget_closed()

    assert sessions.is_known("busy")


def test_using_a_page_keeps_it(sessions, clock):
    sessions.use("p", "me")
    for _ in range(10):
        clock.now += EMPTY_KEEP_S - 1
        sessions.forget_closed()
        sessions.use("p", "me")

    assert sessions.is_known("p")


def test_connections_are_counted_by_page_and_by_visitor(sessions):
    sessions.use("p", "me")
    sessions.use("q", "me")
    for page in ("p", "p", "q"):
        sessions.listen(page, +1)
    sessions.listen("p", -1)
    sessions.listen("unknown", +1)

    assert (sessions.streams_of("p"), sessions.streams_of_visitor("me"), sessions.streams_of("unknown")) == (1, 2, 0)


def test_only_pages_that_do_not_listen_lose_what_goes_on(sessions, kept):
    for page in ("listens", "never did", "listened"):
        sessions.use(page, "me")
    sessions.listen("listens", +1)
    sessions.listen("listened", +1)
    sessions.listen("listened", -1)

    sessions.end_unheard()

    assert kept.ended == ["never did", "listened"]


def test_a_page_whose_event_is_on_its_way_is_not_the_one_to_go(sessions, kept):
    sessions.use("coming", "both")
    kept.coming.add("coming")
    for number in range(250):
        kept.full.add(f"theirs {number}")
        sessions.use(f"theirs {number}", "both")
        sessions.listen(f"theirs {number}", +1)

    assert sessions.is_known("coming")


def test_a_page_whose_event_has_arrived_is_one_among_others_again(sessions, clock):
    sessions.use("came", "both")
    clock.now += EMPTY_KEEP_S + 1
    sessions.forget_closed()

    assert not sessions.is_known("came")
