"""Whose next event begins later: by a clock, a loop and a line that the test sets."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.ui.web.admission import pacing
from prompt_debugger.ui.web.admission.events import EventGuard
from prompt_debugger.ui.web.admission.held import Owner
from prompt_debugger.ui.web.admission.kinds import PUBLIC_ADMISSION
from prompt_debugger.ui.web.admission.pacing import (
    FAR_ABOVE,
    FREE_S,
    HALF_S,
    LATE_S,
    LOOK_S,
    THERE_S,
    Bill,
    Charges,
    LoopLag,
    Metered,
    Pacing,
)
from tests.clock import Clock
from tests.patience import PATIENCE_S


@pytest.fixture
def charges(clock):
    """A class of five, each of whom ran something, and one who never stops."""
    charges = Charges(clock)
    for number in range(5):
        charges.charge(Owner(f"honest {number}"), 0.1 * (number + 1))
    charges.charge(Owner("hostile"), 10.0)
    return charges


class Page:
    """What the pacing asks: who waits, and how late the loop is."""

    def __init__(self, charges, clock):
        self.line, self.late = [], 0.0
        self.pacing = Pacing(charges, lambda: self.line, lambda: self.late, clock)

    async def begins(self, *names):
        """Return which of these, who come now, begin at once."""
        return await begin_at_once(self.pacing, *map(Owner, names))


async def begin_at_once(pacing, *owners):
    tasks = [asyncio.create_task(pacing.wait(owner)) for owner in owners]
    for _ in range(3):
        await asyncio.sleep(0)
    done = [task.done() for task in tasks]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return done


@pytest.fixture
def page(charges, clock):
    return Page(charges, clock)


def test_what_a_visitor_cost_is_forgotten_by_half(clock):
    charges = Charges(clock)
    charges.charge(Owner("a"), 4.0)
    clock.now += HALF_S
    halved = charges.of(Owner("a"))
    charges.charge(Owner("a"), 1.0)

    assert (halved, charges.of(Owner("a")), charges.of(Owner("nobody"))) == (2.0, 3.0, 0.0)


def test_far_above_is_far_above_the_one_in_the_middle(charges):
    assert [charges.is_far_above(Owner(name)) for name in ("hostile", "honest 4", "honest 0", "nobody")] == [
        True, False, False, False,
    ]  # fmt: skip


def test_one_who_cost_about_as_much_as_the_others_is_not_far_above(charges, clock):
    for number in range(5):
        charges.charge(Owner(f"honest {number}"), 10.0 / FAR_ABOVE)

    assert not charges.is_far_above(Owner("hostile"))


def test_little_is_never_far_above(clock):
    charges = Charges(clock)
    charges.charge(Owner("quiet"), 0.001)
    charges.charge(Owner("busy"), FREE_S)

    assert not charges.is_far_above(Owner("busy"))


def test_who_has_the_page_alone_is_never_far_above(clock):
    charges = Charges(clock)
    charges.charge(Owner("alone"), 1_000.0)

    assert not charges.is_far_above(Owner("alone"))


def test_who_left_does_not_count(charges, clock):
    clock.now += THERE_S
    charges.charge(Owner("hostile"), 10.0)

    assert not charges.is_far_above(Owner("hostile"))


def test_no_more_visitors_are_remembered_than_may_be(clock):
    charges = Charges(clock)
    for number in range(2 * pacing._MAX_NAMES):
        charges.charge(Owner(f"address {number}"), 1.0)

    assert len(charges._visitors) == pacing._MAX_NAMES
    assert charges.of(Owner("address 0")) == 0.0


@pytest.fixture
def class_room(clock):
    """One address among others: some pages of it never stop, one has cost little."""
    charges = Charges(clock)
    for number in range(5):
        charges.charge(Owner(f"honest {number}", "page"), 0.1)
    for number in range(3):
        charges.charge(Owner("class", f"hostile {number}"), 10.0)
    charges.charge(Owner("class", "neighbour"), 0.1)
    return charges


def test_a_page_that_cost_little_is_not_held_back_for_its_neighbours(class_room):
    pages = ("hostile 0", "hostile 2", "neighbour", "a new page", "")

    assert [class_room.is_far_above(Owner("class", name)) for name in pages] == [True, True, False, False, True]


def test_pages_that_cost_little_each_and_much_together_count_as_their_address(class_room):
    for number in range(40):
        class_room.charge(Owner("class", f"small {number}"), 0.1)

    assert class_room.is_far_above(Owner("class", "a new page"))
    assert not class_room.is_far_above(Owner("honest 0", "page"))


def test_where_one_address_is_alone_its_pages_are_compared(clock):
    charges = Charges(clock)
    for number in range(40):
        charges.charge(Owner("class", f"hostile {number}"), 10.0)
    alone = charges.is_far_above(Owner("class", "hostile 0"))
    charges.charge(Owner("class", "neighbour"), 0.1)

    assert (alone, charges.is_far_above(Owner("class", "hostile 0"))) == (False, True)
    assert not charges.is_far_above(Owner("class", "neighbour"))


def test_pages_that_a_script_opens_by_the_dozen_count_as_their_address(clock):
    charges = Charges(clock, opened=lambda visitor: 100 * (visitor == "script"))
    charges.charge(Owner("honest", "page"), 0.1)
    for number in range(100):
        charges.charge(Owner("script", f"page {number}"), 0.5)

    assert charges.is_far_above(Owner("script", "a new page"))
    assert not charges.is_far_above(Owner("honest", "page"))


async def test_a_neighbour_waits_for_no_one_and_the_heavy_pages_wait_for_the_neighbour(class_room, clock):
    line = [Owner("class", "neighbour")]
    pacing = Pacing(class_room, lambda: line, lambda: 0.0, clock)
    pages = [Owner("class", "hostile 0"), Owner("class", "hostile 0"), Owner("class", "neighbour")]

    assert await begin_at_once(pacing, *pages) == [True, False, True]


def test_what_an_event_cost_before_its_page_was_known_is_charged_to_the_page(clock):
    charges = Charges(clock)
    bill = Bill(charges, "a")
    bill.charge(1.0)
    bill.is_of(Owner("a", "page"))
    bill.charge(2.0)

    assert (charges.of(Owner("a", "page")), charges.of(Owner("a"))) == (3.0, 3.0)


def test_pages_of_a_visitor_do_not_pile_up(clock):
    charges = Charges(clock)
    for number in range(2 * pacing._MAX_PAGES):
        charges.charge(Owner("a", f"page {number}"), 1.0)

    assert len(charges._pages["a"]) == pacing._MAX_PAGES


async def test_who_cost_far_more_begins_one_by_one_while_others_wait(page):
    page.line = [Owner("honest 0")]

    assert await page.begins("hostile", "hostile", "hostile") == [True, False, False]


async def test_who_cost_far_more_begins_one_by_one_while_the_loop_is_late(page, clock):
    page.late = 2 * LATE_S
    first = await page.begins("hostile", "hostile")
    clock.now += LOOK_S - 0.01
    early = await page.begins("hostile")
    clock.now += 0.01

    assert (first, early, await page.begins("hostile", "hostile")) == ([True, False], [False], [True, False])


async def test_who_cost_far_more_begins_soon_where_no_one_waits(page, clock):
    page.line, page.late = [Owner("hostile")], LATE_S / 2
    await page.begins("hostile")
    clock.now += LOOK_S / 5

    assert await page.begins("hostile", "hostile") == [True, False]


async def test_those_who_are_held_back_do_not_hold_each_other_back(page, charges, clock):
    charges.charge(Owner("another"), 10.0)
    page.line = [Owner("another")]
    await page.begins("hostile")
    clock.now += LOOK_S / 5

    assert await page.begins("hostile") == [True]


async def test_others_always_begin_at_once(page):
    page.line, page.late = [Owner("honest 0"), Owner("hostile")], 100.0

    assert await page.begins("hostile", "hostile", "honest 4", "a new one") == [True, False, True, True]


async def test_whoever_is_held_back_begins_once_they_are_not_far_above(page, charges, clock):
    page.late = 100.0
    await page.begins("hostile")
    task = asyncio.create_task(page.pacing.wait(Owner("hostile")))
    await asyncio.sleep(0)
    clock.now += 20 * HALF_S

    await asyncio.wait_for(task, PATIENCE_S)


async def test_whoever_leaves_is_not_waited_for(page):
    page.late = 100.0
    await page.begins("hostile", "hostile")

    assert page.pacing._held.all == []


class Loop:
    """Calls later when it is told to."""

    def __init__(self):
        self.due = []

    def call_later(self, delay_s, callback):
        self.due.append(callback)

    def beat(self):
        [callback], self.due = self.due, []
        callback()


def test_the_lag_is_what_the_beat_comes_too_late(clock):
    loop = Loop()
    lag = LoopLag(clock, lambda: loop)
    first = lag.late_s()
    clock.now += 3.1
    overdue = lag.late_s()
    loop.beat()
    measured = lag.late_s()
    clock.now += 0.1
    loop.beat()

    assert (first, overdue, measured, lag.late_s()) == pytest.approx((0.0, 3.0, 3.0, 1.5))


def test_the_beat_ends_when_no_one_asks_and_begins_again(clock):
    loop = Loop()
    lag = LoopLag(clock, lambda: loop)
    lag.late_s()
    clock.now += 0.1
    loop.beat()
    is_quiet = not loop.due

    assert (is_quiet, lag.late_s(), len(loop.due)) == (True, 0.0, 1)


async def test_work_is_charged_for_its_steps_and_not_for_its_waiting():
    spent, charged = Clock(), []
    news = asyncio.get_running_loop().create_future()

    async def work():
        spent.now += 2.0
        word = await news
        spent.now += 3.0
        return word

    task = asyncio.create_task(_awaiting(Metered(work(), charged.append, spent)))
    await asyncio.sleep(0)
    spent.now += 100.0  # others work
    news.set_result("done")

    assert (await task, charged) == ("done", [2.0, 3.0])


async def test_metered_work_fails_and_is_cancelled_as_any_other():
    ended = []

    async def failing():
        await asyncio.sleep(0)
        raise ValueError("a fault")

    async def waiting():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    with pytest.raises(ValueError, match="a fault"):
        await Metered(failing(), lambda _: None)
    task = asyncio.create_task(_awaiting(Metered(waiting(), lambda _: None)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["cancelled"]


async def _awaiting(work):
    return await work


class Kept:
    """A page's memory in which one visitor waits."""

    def __init__(self):
        self.line, self.was_asked = [Owner("9.9.9.9")], asyncio.Event()

    def waiting(self):
        self.was_asked.set()
        return self.line


async def test_the_guard_holds_an_event_back_before_it_reads_its_body():
    kept = Kept()
    guard = EventGuard(None, None, kept, PUBLIC_ADMISSION)
    guard._charges.charge(Owner("9.9.9.9"), 0.1)
    guard._charges.charge(Owner("1.1.1.1"), 100.0)
    read = asyncio.Event()

    await _post(guard, "1.1.1.1", asyncio.Event())  # one begins in a quarter of a second
    kept.was_asked.clear()
    hostile = asyncio.create_task(_post(guard, "1.1.1.1", read))
    await asyncio.wait_for(kept.was_asked.wait(), PATIENCE_S)
    honest = asyncio.Event()
    await _post(guard, "9.9.9.9", honest)

    assert (honest.is_set(), read.is_set()) == (True, False)
    kept.line = []
    await asyncio.wait_for(hostile, PATIENCE_S)
    assert read.is_set()


async def test_opening_the_page_is_held_back_as_an_event_is_and_is_given_up_with_who_left():
    """Forty tabs that loaded it again and again kept the page's process from everyone."""
    opened, kept = [], Kept()

    async def page(scope, _receive, _send):
        opened.append(scope["client"][0])

    guard = EventGuard(page, None, kept, PUBLIC_ADMISSION)
    guard._charges.charge(Owner("9.9.9.9"), 0.1)
    guard._charges.charge(Owner("1.1.1.1"), 100.0)

    await _open(guard, "1.1.1.1", stays=True)  # one begins in a quarter of a second
    await _open(guard, "1.1.1.1", stays=False)
    kept.was_asked.clear()
    hostile = asyncio.create_task(_open(guard, "1.1.1.1", stays=True))
    await asyncio.wait_for(kept.was_asked.wait(), PATIENCE_S)
    await _open(guard, "9.9.9.9", stays=True)

    assert opened == ["1.1.1.1", "9.9.9.9"]
    assert len(guard._pacing._held.all) <= 1
    assert guard._charges.of(Owner("9.9.9.9")) > 0.1
    kept.line = []
    await asyncio.wait_for(hostile, PATIENCE_S)
    assert opened == ["1.1.1.1", "9.9.9.9", "1.1.1.1"]


async def _open(guard, address, *, stays):
    """Load the page, and wait for it or leave at once."""

    async def receive():
        if stays:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "client": (address, 1)}
    await guard(scope, receive, None)


async def _post(guard, address, read):
    """Send an event whose body never comes: the visitor leaves."""
    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/gradio_api/queue/join", "headers": headers}

    async def receive():
        read.set()
        return {"type": "http.disconnect"}

    async def send(_message):
        raise AssertionError("nobody is there to be answered")

    await guard({**scope, "client": (address, 1)}, receive, send)


def test_the_document_says_how_long_and_when(public_mode_page):
    for words in (f"{FAR_ABOVE:g} times", f"{LATE_S:g} s late", f"every {LOOK_S:g} s", f"halves every {HALF_S:g} s"):
        assert words in public_mode_page, words
