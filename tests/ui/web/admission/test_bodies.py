"""A body that comes in is read; one that does not, or too slowly, gives way. Times are set, nothing is slept."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.ui.web.admission.bodies import MAX_BODIES_HELD, MAX_READERS, MAX_READERS_PER_VISITOR, BodyMemory
from prompt_debugger.ui.web.admission.payloads import PayloadError
from tests.patience import PATIENCE_S


class Sender:
    """Sends parts of a body when it is told to."""

    def __init__(self, *parts, last=True):
        self.queue = asyncio.Queue()
        for index, part in enumerate(parts):
            self.queue.put_nowait(message(part, more=not last or index < len(parts) - 1))

    async def __call__(self):
        return await self.queue.get()


def message(part, *, more):
    return {"type": "http.request", "body": part, "more_body": more}


async def settled():
    """Let everything that can go on do so."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_body_is_put_together():
    assert await BodyMemory(10).read(Sender(b"ab", b"", b"cd"), "me") == b"abcd"


async def test_who_leaves_sends_nothing():
    sender = Sender(b"ab", last=False)
    sender.queue.put_nowait({"type": "http.disconnect"})

    assert await BodyMemory(10).read(sender, "me") is None


async def test_a_body_that_is_too_long_is_refused_while_it_comes():
    with pytest.raises(PayloadError) as caught:
        await BodyMemory(3).read(Sender(b"ab", b"cd", last=False), "me")

    assert caught.value.status == 413


async def test_a_body_that_stops_coming_is_given_up():
    with pytest.raises(PayloadError) as caught:
        await BodyMemory(10, idle_s=0.01).read(Sender(b"ab", last=False), "me")

    assert caught.value.status == 408


async def test_a_body_that_never_begins_is_given_up():
    async def nothing():
        await asyncio.Event().wait()

    with pytest.raises(PayloadError) as caught:
        await asyncio.wait_for(BodyMemory(10, idle_s=0.01).read(nothing, "me"), PATIENCE_S)

    assert caught.value.status == 408


async def test_a_body_that_trickles_is_given_up_anyway():
    async def trickle():
        await asyncio.sleep(0)
        return message(b"", more=True)

    with pytest.raises(PayloadError):
        await BodyMemory(10, idle_s=30, whole_s=0.05).read(trickle, "me")


async def _half_sent(memory, count, visitor="hostile"):
    tasks = [asyncio.create_task(memory.read(Sender(b"x", last=False), visitor)) for _ in range(count)]
    await settled()
    return tasks


async def _end(tasks):
    for task in tasks:
        task.cancel()
    return await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_visitor_who_sends_many_halves_loses_the_oldest_and_holds_no_one_up():
    memory = BodyMemory(1_000, quiet_s=0.0)
    halves = await _half_sent(memory, 400)

    still = [task for task in halves if not task.done()]
    assert len(still) <= MAX_READERS_PER_VISITOR + 1
    assert still == halves[-len(still) :], "the ones that wait for longest went"
    assert await memory.read(Sender(b"honest"), "hostile") == b"honest", "even from the same address"
    assert await memory.read(Sender(b"honest"), "other") == b"honest"
    await _end(halves)


async def test_a_class_that_sends_at_the_same_moment_loses_no_body():
    memory = BodyMemory(1_000)
    senders = [Sender(b"half ", last=False) for _ in range(3 * MAX_READERS_PER_VISITOR)]
    reads = [asyncio.create_task(memory.read(sender, "school")) for sender in senders]
    await settled()
    for sender in senders:
        sender.queue.put_nowait(message(b"a body", more=False))

    assert await asyncio.gather(*reads) == [b"half a body"] * len(senders)


async def test_who_stays_silent_in_a_crowd_loses_the_place_before_the_time_of_a_body_is_over():
    memory = BodyMemory(1_000, idle_s=PATIENCE_S, whole_s=PATIENCE_S, quiet_s=0.02)
    silent = await _half_sent(memory, 1)
    crowd = await _half_sent(memory, MAX_READERS_PER_VISITOR)

    with pytest.raises(PayloadError):
        await silent[0]
    assert not any(task.done() for task in crowd)
    await _end(crowd)


async def test_memory_is_taken_at_once_also_from_who_may_be_silent_for_a_moment():
    memory = BodyMemory(1_000, quiet_s=PATIENCE_S)
    large = [asyncio.create_task(memory.read(Sender(b"x" * 900, last=False), "one")) for _ in range(40)]
    await settled()

    assert sum(900 for task in large if not task.done()) <= MAX_BODIES_HELD * 1_000
    await _end(large)


async def test_many_visitors_who_send_halves_have_so_many_places_between_them():
    memory = BodyMemory(1_000, quiet_s=0.0)
    halves = [task for number in range(200) for task in await _half_sent(memory, 1, f"hostile {number}")]
    await settled()

    assert sum(not task.done() for task in halves) <= MAX_READERS + 1
    assert await memory.read(Sender(b"honest"), "other") == b"honest"
    await _end(halves)


async def test_unfinished_bodies_hold_so_many_bytes_and_no_more():
    memory = BodyMemory(1_000)
    large = [asyncio.create_task(memory.read(Sender(b"x" * 900, last=False), f"{n}")) for n in range(40)]
    await settled()

    held = sum(900 for task in large if not task.done())
    assert held <= MAX_BODIES_HELD * 1_000
    await _end(large)


async def test_a_place_is_given_back():
    memory = BodyMemory(10)
    for _ in range(3 * MAX_READERS):
        await memory.read(Sender(b"x"), "me")

    assert memory._readers == []
