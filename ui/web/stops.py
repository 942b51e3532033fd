"""Stopping the run of an open page: the run ends itself, and shows what had arrived.

Gradio can cancel an event, too, but then the page cannot distinguish it from one that failed, and the event cannot send
a last update. Holds signs by session, never a text; for one event loop.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeVar

from prompt_debugger.ui.web.redraw_rate import next_or_none

_MAX_SESSIONS = 2_000
_PATIENCE_S = 10.0  # how long to wait for a run that was asked to end

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class StopSign:
    """The sign by which one run learns that it is to stop; silently where the page shows another request already."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    is_silent: bool = False


class Stops:
    """The runs that were announced or are running, by session."""

    def __init__(self) -> None:
        self._signs: OrderedDict[str, StopSign] = OrderedDict()
        self._questions: dict[str, set[StopSign]] = {}

    def expect(self, session: str) -> None:
        """Announce a run, so that it can be stopped before it has begun; questions about the last run end."""
        self._end_questions(session)
        self._signs[session] = StopSign()
        self._signs.move_to_end(session)
        while len(self._signs) > _MAX_SESSIONS:
            self._signs.popitem(last=False)

    def forget(self, session: str) -> None:
        """Withdraw an announcement: the run was not admitted."""
        self._signs.pop(session, None)

    @contextmanager
    def follow(self, session: str) -> Iterator[StopSign]:
        """Give a run its sign; leaving the block says that it has ended."""
        sign = self._signs.get(session)
        if sign is None or sign.ended.is_set():
            self.expect(session)
            sign = self._signs[session]
        try:
            yield sign
        finally:
            sign.ended.set()
            if self._signs.get(session) is sign:
                del self._signs[session]

    @contextmanager
    def follow_question(self, session: str) -> Iterator[StopSign]:
        """Give a question about a run its sign: it ends silently when another run begins or is opened."""
        sign = StopSign(is_silent=True)
        questions = self._questions.setdefault(session, set())
        questions.add(sign)
        try:
            yield sign
        finally:
            sign.ended.set()
            questions.discard(sign)
            if not questions:
                self._questions.pop(session, None)

    async def wait_for_questions(self, session: str) -> None:
        """Wait until the questions about the session's run have ended, so that their results are not overwritten."""
        for sign in list(self._questions.get(session, ())):
            await sign.ended.wait()

    def stop(self, session: str) -> None:
        """Ask the session's run to end."""
        if sign := self._signs.get(session):
            sign.asked.set()

    async def silence(self, session: str) -> bool:
        """End the session's run silently and wait until it has ended; return whether there was one."""
        sign = self._signs.get(session)
        signs = self._end_questions(session)
        if sign is not None:
            sign.is_silent = True
            sign.asked.set()
            signs.append(sign)
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                for one in signs:
                    await one.ended.wait()
        return sign is not None

    def _end_questions(self, session: str) -> list[StopSign]:
        signs = list(self._questions.get(session, ()))
        for sign in signs:
            sign.asked.set()
        return signs


async def until_asked(updates: AsyncGenerator[T, None], sign: StopSign) -> AsyncGenerator[T, None]:
    """Yield updates until the sign is given; then cancel the pending one."""
    asked = asyncio.ensure_future(sign.asked.wait())
    step = asyncio.ensure_future(next_or_none(updates))
    try:
        while True:
            await asyncio.wait({asked, step}, return_when=asyncio.FIRST_COMPLETED)
            if sign.asked.is_set() or not (come := step.result()):
                return
            yield come[0]
            step = asyncio.ensure_future(next_or_none(updates))
    finally:
        asked.cancel()
        step.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await step  # its connections are closed before the run counts as ended
        await updates.aclose()
