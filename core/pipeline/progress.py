"""The progress of a run, for those who follow it: every step, or the newest one whenever they are ready."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import dataclass

from prompt_debugger.core.base.types import Trace

ASKING_MODEL = "Asking the model"  # the sentence while a run waits for answers


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        trace: What is known so far; stages that have not run are `None`.
        sentence: What is happening, in plain words.
        fraction: Part of the lab's boot that is done, 0 to 1; `None` outside a boot.
        raw_text: Raw completion as far as it has streamed.
        chat_text: Visible text of the streamed chat so far.
    """

    trace: Trace
    sentence: str
    fraction: float | None = None
    raw_text: str = ""
    chat_text: str = ""


class ProgressQueue:
    """Progress that no one has seen yet; where only streamed text grew, the newer one takes the older one's place."""

    def __init__(self) -> None:
        self.newest: Progress | None = None
        self._unseen: deque[Progress | None] = deque()
        self._has_come = asyncio.Event()

    def report(self, progress: Progress) -> None:
        """Add progress."""
        last = self._unseen[-1] if self._unseen else None
        if last is not None and last.trace is progress.trace and last.sentence == progress.sentence:
            self._unseen[-1] = progress
        else:
            self._unseen.append(progress)
        self.newest = progress
        self._has_come.set()

    def end(self) -> None:
        """Release everyone who waits."""
        self._unseen.append(None)
        self._has_come.set()

    async def next(self) -> Progress | None:
        """Return the next step that no one has seen, `None` at the end."""
        while not self._unseen:
            self._has_come.clear()
            await self._has_come.wait()
        return self._unseen.popleft()

    async def wait(self, timeout_s: float) -> None:
        """Wait until something has come since the last look, at most so long; then all of it counts as seen."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._has_come.wait(), timeout_s)
        self._has_come.clear()
        self._unseen.clear()
