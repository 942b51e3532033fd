"""How many questions are under way: the controller beside models of servers, by a clock moved by hand; and a real one.

A model answers by how many questions it has: it queues beyond what it can do at once, slows down, refuses or fails.
"""

import asyncio
import heapq
import time
from collections.abc import Callable
from typing import NamedTuple

import pytest

from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.verify import Journal, Patience, Plan, verify
from prompt_debugger.core.tools.verify.flow import Flow
from tests.core.tools.verify.counting_server import body, counting_server
from tests.core.tools.verify.running import Verification

BASE_S = 2.0


class Fate(NamedTuple):
    """What a model does with a question.

    Attributes:
        took_s: When it is done with it.
        is_answer: Whether there is an answer.
    """

    took_s: float
    is_answer: bool = True


Server = Callable[[int], Fate]


def queueing(places: int) -> Server:
    """Does so many at once at full pace, and keeps the others waiting: latency grows, throughput does not."""
    return lambda under_way: Fate(BASE_S * max(1.0, under_way / places))


def refusing(places: int) -> Server:
    """Answers so many at once and refuses the others at once."""
    return lambda under_way: Fate(BASE_S) if under_way <= places else Fate(0.01, is_answer=False)


def thrashing(places: int) -> Server:
    """Gets so slow beyond its places that questions time out."""
    return lambda under_way: Fate(BASE_S) if under_way <= places else Fate(30.0, is_answer=under_way <= 2 * places)


class Model:
    """A flow and a server, with always more to ask."""

    def __init__(self, fixed: int | None = None) -> None:
        self.now = 0.0
        self.flow = Flow(fixed, lambda: self.now)
        self.under_way: list[tuple[float, float, bool]] = []  # ends at, asked at, is answer
        self.limits: list[int] = []

    def run(self, server: Server, ends: int) -> tuple[int, float]:
        """Let so many questions end; returns how many were answered, and in how many seconds."""
        began, answered = self.now, 0
        for _ in range(ends):
            while len(self.under_way) < self.flow.limit:
                took_s, is_answer = server(len(self.under_way) + 1)
                heapq.heappush(self.under_way, (self.now + took_s, self.now, is_answer))
            self.now, asked_at, is_answer = heapq.heappop(self.under_way)
            answered += is_answer
            if is_answer:
                self.flow.note_answer(self.now - asked_at)
            else:
                self.flow.note_failure(asked_at)
            self.limits.append(self.flow.limit)
        return answered, self.now - began


@pytest.mark.parametrize("places", [4, 16, 64, 200])
def test_a_server_is_kept_busy_and_its_queue_short(places):
    model = Model()
    model.run(queueing(places), 4000)

    answered, seconds = model.run(queueing(places), 2000)

    assert answered / seconds >= 0.9 * places / BASE_S
    assert max(model.limits[-2000:]) <= max(3 * places, 24)


@pytest.mark.parametrize("places", [4, 24, 100])
def test_a_server_that_refuses_what_is_too_much_is_refused_little_and_kept_busy(places):
    model = Model()
    model.run(refusing(places), 3000)

    answered, seconds = model.run(refusing(places), 3000)

    assert answered >= 2700
    assert answered / seconds >= 0.7 * places / BASE_S


def test_a_server_that_drowns_is_left_time_to_come_up():
    model = Model()
    model.run(thrashing(10), 400)

    answered, _ = model.run(thrashing(10), 1000)

    assert answered >= 900
    assert max(model.limits[-1000:]) <= 20


def test_what_a_server_lost_and_got_back_is_found_again():
    model = Model()
    model.run(refusing(64), 3000)
    model.run(refusing(4), 2000)
    low = model.flow.limit
    model.run(refusing(64), 6000)

    assert low <= 8
    assert model.flow.limit >= 32


def test_failures_of_one_round_shrink_it_once():
    model = Model()
    model.run(queueing(64), 2000)
    before = model.flow.limit

    for _ in range(20):
        model.flow.note_failure(model.now - 1)

    assert before * 0.6 <= model.flow.limit < before


def test_at_least_one_question_is_asked_whatever_fails():
    model = Model()
    model.run(lambda _: Fate(1.0, is_answer=False), 500)

    assert model.flow.limit == 1


@pytest.mark.parametrize("server", [queueing(4), refusing(4), thrashing(4)])
def test_a_number_that_is_named_stays(server):
    model = Model(fixed=12)
    model.run(server, 500)

    assert set(model.limits) == {12}


async def test_no_one_asks_while_the_server_wants_to_be_left_alone():
    now = [0.0]
    flow = Flow(4, lambda: now[0])
    flow.pause(0.05)
    taking = asyncio.ensure_future(flow.take())
    await asyncio.sleep(0)
    assert not taking.done()

    now[0] = 1.0  # its clock, not that of the loop, says when it is over
    await taking

    assert flow.in_flight == 1


@pytest.mark.parametrize("fixed", [None, 8])
async def test_a_real_server_that_says_429_is_asked_less_and_every_row_answered(tmp_path, fixed):
    texts = [f"say {number}" for number in range(60)]
    limits = []
    with counting_server() as server:
        server.most_welcome = 4
        server.fault_headers = {"retry-after": "0"}
        rows = Verification(tmp_path, [body(text) for text in texts])
        with Journal(tmp_path / "rows.sqlite") as journal:
            plan = Plan(
                rows.dataset, (Target(base_url=server.base_url),), journal.path,
                concurrency=fixed, patience=Patience(retries=1000, pause_s=0.0),
            )  # fmt: skip
            outcome = await verify(
                plan, journal, clock=time.monotonic, on_progress=lambda progress: limits.append(progress.limit)
            )

    assert server.refused > 0
    assert outcome.remaining == (0,)
    assert server.answered == dict.fromkeys(texts, 1)
    found = {limit for limit in limits if limit}
    assert found == {8} if fixed else min(found) < 8
