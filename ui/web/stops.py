"""Which run of an open page is to end before its end: a run that is stopped ends itself, and says what had come.

Gradio can cancel an event, too, but tells the page of a cancelled event and of one that failed by the same sign, and
leaves the event no last word. Holds signs by session, never a text; for one event loop.
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
_PATIENCE_S = 10.0  # for a run that was asked to end

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class StopSign:
    """What one run watches.

    Attributes:
        asked: Set once it is to end.
        ended: Set once it has.
        is_silent: Whether no one wants to hear of it any more: the page shows another request.
    """

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    is_silent: bool = False


class Stops:
    """The runs that were announced or are running, by session."""

    def __init__(self) -> None:
        self._signs: OrderedDict[str, StopSign] = OrderedDict()
        self._beside: dict[str, set[StopSign]] = {}

    def expect(self, session: str) -> None:
        """Announce a run: it can be stopped, even before it has begun, and what goes on beside the last one ends."""
        self._end_beside(session)
        self._signs[session] = StopSign()
        self._signs.move_to_end(session)
        while len(self._signs) > _MAX_SESSIONS:
            self._signs.popitem(last=False)

    def forget(self, session: str) -> None:
        """Take an announcement back: the run was not let in."""
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
    def follow_beside(self, session: str) -> Iterator[StopSign]:
        """Give a question about a run its sign: it ends without a word where another run begins, or is opened."""
        sign = StopSign(is_silent=True)
        beside = self._beside.setdefault(session, set())
        beside.add(sign)
        try:
            yield sign
        finally:
            sign.ended.set()
            beside.discard(sign)
            if not beside:
                self._beside.pop(session, None)

    async def wait_beside(self, session: str) -> None:
        """Wait until the questions about the session's run have ended: what they add to it is not added over."""
        for sign in list(self._beside.get(session, ())):
            await sign.ended.wait()

    def stop(self, session: str) -> None:
        """Ask the session's run to end."""
        if sign := self._signs.get(session):
            sign.asked.set()

    async def silence(self, session: str) -> bool:
        """Ask the session's run to end without a word and wait until it has; return whether there was one."""
        sign = self._signs.get(session)
        signs = self._end_beside(session)
        if sign is not None:
            sign.is_silent = True
            sign.asked.set()
            signs.append(sign)
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                for one in signs:
                    await one.ended.wait()
        return sign is not None

    def _end_beside(self, session: str) -> list[StopSign]:
        signs = list(self._beside.get(session, ()))
        for sign in signs:
            sign.asked.set()
        return signs


async def until_asked(updates: AsyncGenerator[T, None], sign: StopSign) -> AsyncGenerator[T, None]:
    """Yield what comes until the sign is given; what was being waited for is cancelled then."""
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
