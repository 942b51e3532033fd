"""Progress reaches who follows a run: each step, or the newest whenever there is time."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.pipeline.progress import Progress, ProgressQueue
from prompt_debugger.core.request import read_request

TRACE = Trace(read_request('{"messages": [{"role": "user", "content": "hi"}]}'))
ASKING = Progress(TRACE, "Asking the model")
DONE = Progress(replace(TRACE, title="done"), "Done")


async def test_every_step_is_seen_and_of_text_that_grows_the_last():
    queue = ProgressQueue()
    for progress in (ASKING, replace(ASKING, raw_text="a"), replace(ASKING, raw_text="ab"), DONE):
        queue.report(progress)
    queue.end()

    assert await queue.next() == replace(ASKING, raw_text="ab")
    assert await queue.next() == DONE
    assert await queue.next() is None


async def test_who_waits_hears_of_what_comes_later_and_of_the_end():
    queue = ProgressQueue()
    waiting = asyncio.ensure_future(queue.next())
    await asyncio.sleep(0)
    queue.report(ASKING)

    assert await waiting == ASKING
    waiting = asyncio.ensure_future(queue.wait(60.0))
    await asyncio.sleep(0)
    queue.end()
    await waiting
    assert queue.newest == ASKING


async def test_a_look_at_the_newest_leaves_nothing_behind():
    queue = ProgressQueue()
    queue.report(ASKING)
    queue.report(DONE)
    await queue.wait(60.0)

    assert queue.newest == DONE
    waiting = asyncio.ensure_future(queue.next())
    await asyncio.sleep(0)
    assert not waiting.done()
    queue.end()
    assert await waiting is None
