"""One connection at a time gets the answers of a page.

A browser resends a request on its own where it takes the connection for closed, also for a stream that the server
has begun on the old one. Gradio would serve both, one message each in turn, and half of them would be read by no one: a
run was never seen to end. Here the newest connection takes over, and the one before it ends without a word.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, MutableMapping
from contextvars import ContextVar
from typing import Any

_LISTENER: ContextVar[object | None] = ContextVar("by which connection the answers of a page are read", default=None)
_WAKE = object()  # no message: whoever waits looks again whether it is their turn


class ReplacedError(Exception):
    """A newer connection of the page reads its answers."""


class Answers(asyncio.Queue[Any]):
    """The messages to one page, for the connection that came last; of one event loop."""

    listener: object | None = None
    _waiting = 0  # connections that wait for a message

    async def get(self) -> Any:  # noqa: ANN401  # messages of gradio
        """Return the next message.

        Raises:
            ReplacedError: A newer connection gets it.
        """
        while True:
            self._check()
            self._waiting += 1
            try:
                message = await super().get()
            finally:
                self._waiting -= 1
            if message is _WAKE and self._waiting:
                self.put_nowait(_WAKE)  # it is for the older one, which was about to be woken
                await asyncio.sleep(0)
            elif message is not _WAKE:
                try:
                    self._check()
                except ReplacedError:
                    self.put_back(message)
                    raise
                return message

    def put_back(self, message: object) -> None:
        """Let a message be the next one again."""
        rest = [self.get_nowait() for _ in range(self.qsize())]
        for one in (message, *rest):
            self.put_nowait(one)

    def _check(self) -> None:
        if _LISTENER.get() is not self.listener:
            raise ReplacedError


def take_over(messages: MutableMapping[str, asyncio.Queue[Any]], page: str) -> Callable[[], bool]:
    """Let this task's connection alone get a page's messages; return whether a newer one has taken over since."""
    listener = object()
    _LISTENER.set(listener)
    known = messages.get(page)
    if known is None:
        return lambda: False
    answers = known
    if not isinstance(answers, Answers):
        answers = Answers()
        while not known.empty():
            answers.put_nowait(known.get_nowait())
        messages[page] = answers
    has_other = answers.listener is not None
    answers.listener = listener
    if has_other:
        answers.put_nowait(_WAKE)
    return lambda: answers.listener is not listener
