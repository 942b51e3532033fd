"""Events that are held back: each waits until it may begin, and as long as one waits, someone looks again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import NamedTuple


class Owner(NamedTuple):
    """Whose event it is: the address, and one of the pages that are open there, "" where no one knows yet."""

    visitor: str
    page: str = ""


class Held(NamedTuple):
    """An event that is held back."""

    owner: Owner
    came_s: float
    may_begin: asyncio.Future[None]


class HeldEvents:
    """The events that wait, in the order in which they came; for one event loop."""

    def __init__(self, let_in: Callable[[], None], look_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.all: list[Held] = []
        self._let_in = let_in
        self._look_s = look_s
        self._clock = clock
        self._keeper: asyncio.Task[None] | None = None

    async def wait(self, owner: Owner) -> None:
        """Hold an event back until `begin` is called for it."""
        held = Held(owner, self._clock(), asyncio.get_running_loop().create_future())
        self.all.append(held)
        self._let_in()
        if self.all and (self._keeper is None or self._keeper.done()):
            self._keeper = asyncio.create_task(self._keep())
        try:
            await held.may_begin
        finally:
            if held in self.all:  # anyone who sent it has left
                self.all.remove(held)

    def begin(self, held: Held) -> None:
        """Let one of them begin."""
        self.all.remove(held)
        if not held.may_begin.done():
            held.may_begin.set_result(None)

    async def _keep(self) -> None:
        """Look again for as long as someone is held back."""
        while self.all:
            await asyncio.sleep(self._look_s)
            self._let_in()
