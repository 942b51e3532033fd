"""Answers as heavy as the bounds allow: the event loop goes on while they are read, and says what it did not read."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete import ServerClient
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.request import read_request
from prompt_debugger.core.sandbox import in_thread, sandbox_of
from tests.attacks.heavy_answers import LOOKS, STREAMED, WHOLE, heavy_server

BODY: JSONObject = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "temperature": 0}
# Of this process's own processor time, so that a busy machine changes nothing. The worst takes a third of it; as long
# as the loop read everything itself, each took two to seven times as much.
MAX_S = 0.3
UrlOf = Callable[..., str]


@pytest.fixture(scope="module")
def url_of() -> Iterator[UrlOf]:
    with heavy_server() as found:
        yield found


class Ticks:
    """How much processor time this process used between two turns of the loop, at most."""

    def __init__(self) -> None:
        self.longest_s = 0.0
        self._last_s = time.process_time()

    def note(self) -> None:
        """Take a turn."""
        now_s = time.process_time()
        self.longest_s, self._last_s = max(self.longest_s, now_s - self._last_s), now_s

    async def go_on(self) -> None:
        """Take a turn now and then."""
        while True:
            await asyncio.sleep(0.005)
            self.note()


@asynccontextmanager
async def ticking() -> AsyncIterator[Ticks]:
    await in_thread(sandbox_of().warm_up)
    ticks = Ticks()
    task = asyncio.create_task(ticks.go_on())
    try:
        yield ticks
        ticks.note()
    finally:
        task.cancel()


def errors_of(error: str | None, kind: str) -> None:
    """Check what is said of an answer that was not read as a whole."""
    said = SAID.get(kind)
    assert (error is None) is (said is None), error
    assert said is None or said in str(error), error


SAID = {
    "keys in the message": "the message contains more than 131,072 values, so it was not read to the end",
    "calls": "the message contains 200,000 tool calls, of which 10,000 are read",
    "choices": "the first choice contains no message, only None",
    "an error of many keys": "the server reported an error: {'k0': 0,",
    "no UTF-8": "was cut after 65,536 bytes that are not UTF-8",
    "an event of many keys": "event 1 of the stream contains more than 131,072 values, so it was not read to the end",
    "an event of choices": "event 1 of the stream contains 600,000 choices, of which 1,024 are read",
    "events that are no UTF-8": "was cut after 65,536 bytes that are not UTF-8",
    "no event": "the message contains more than 131,072 values, so it was not read to the end",
}


@pytest.mark.parametrize("kind", WHOLE)
async def test_the_loop_goes_on_while_a_heavy_answer_is_read(url_of: UrlOf, kind: str) -> None:
    async with ticking() as ticks, ServerClient(url_of(kind)) as client:
        try:
            error = (await client.chat(BODY)).error
        except BackendError as failure:
            error = failure.message

    errors_of(error, kind)
    assert ticks.longest_s < MAX_S


@pytest.mark.parametrize("kind", STREAMED)
async def test_the_loop_goes_on_while_a_heavy_stream_is_read(url_of: UrlOf, kind: str) -> None:
    async with ticking() as ticks, ServerClient(url_of(kind)) as client:
        result = await client.chat_stream(BODY)

    errors_of(result.error, kind)
    assert ticks.longest_s < MAX_S


@pytest.mark.parametrize("kind", LOOKS)
async def test_the_loop_goes_on_while_a_server_is_looked_at(url_of: UrlOf, kind: str) -> None:
    async with ticking() as ticks, ServerClient(url_of(kind)) as client:
        server = await client.probe("m")
        if kind == "render":
            assert (await client.render(BODY)).token_ids == (1,)

    assert server.model == "m"
    assert ("larger than 4 MB" in " ".join(client.notes)) is (kind == "models")
    assert ticks.longest_s < MAX_S


async def test_the_loop_goes_on_in_a_run_of_a_heavy_answer(url_of: UrlOf) -> None:
    """What was read travels on, to be checked; packed with gzip, as a proxy does it."""
    async with ticking() as ticks:
        target = Target(base_url=url_of("alternatives", is_packed=True))
        trace = await pipeline.run(read_request(json.dumps(BODY)), target)

    assert trace.chat is not None
    assert len(trace.chat.logprobs or ()) == 20_000
    assert trace.verdict is not None
    assert ticks.longest_s < MAX_S
