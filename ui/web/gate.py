"""Whose turn it is: who may run now, who waits, who has had enough for this minute.

Holds times and counts by session, never a text. A session is what gradio calls one: an open page.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from prompt_debugger.ui.web.limits import LimitError, Limits

_MINUTE_S = 60.0
_MAX_SESSIONS = 2_000


@dataclass(eq=False, slots=True)
class Turn:
    """One run's place in the line.

    Attributes:
        session: Whose run it is.
        visitor: Who opened that page.
        goes_on: Whether its turn has come.
    """

    session: str
    visitor: str = ""
    goes_on: bool = False


class RunGate:
    """Who may run now, who waits, and who has had enough for this minute; for one event loop."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self._clock = clock
        self._turns: list[Turn] = []
        self._starts: deque[float] = deque()
        self._starts_by_session: OrderedDict[str, deque[float]] = OrderedDict()

    @contextmanager
    def enter(self, session: str, visitor: str = "") -> Iterator[Turn]:
        """Take a place in the line; leaving the block gives it back.

        Args:
            session: Which page asks.
            visitor: Who opened it; "" is nobody in particular.

        Raises:
            LimitError: The session, or all together, have used what they may.
        """
        self._check(session)
        turn = Turn(session, visitor)
        self._turns.append(turn)
        self._advance()
        self._count_start(session)
        try:
            yield turn
        finally:
            self._turns.remove(turn)
            self._advance()

    def runs_ahead(self, turn: Turn) -> int:
        """Return how many runs must end before it is this one's turn; 0 when it is."""
        return 0 if turn.goes_on else self._line().index(turn) + 1

    def _advance(self) -> None:
        """Let those go on for whom there is a place."""
        places = self.limits.runs_at_once - sum(turn.goes_on for turn in self._turns)
        for turn in self._line()[: max(0, places)]:
            turn.goes_on = True

    def _line(self) -> list[Turn]:
        """Return who waits: everybody's first run before anybody's second, those that go on counted as had."""
        had = Counter(turn.visitor for turn in self._turns if turn.goes_on)
        rounds: list[tuple[int, Turn]] = []
        for turn in self._turns:
            if not turn.goes_on:
                rounds.append((had[turn.visitor], turn))
                had[turn.visitor] += 1
        return [turn for _, turn in sorted(rounds, key=lambda one: one[0])]

    def _check(self, session: str) -> None:
        limits = self.limits
        own = sum(turn.session == session for turn in self._turns)
        if limits.runs_per_session is not None and own >= limits.runs_per_session:
            raise LimitError("a run of this page is going on already", "Press Stop, or wait for its end.")
        if limits.waiting_runs is not None and len(self._turns) >= limits.runs_at_once + limits.waiting_runs:
            message = f"{len(self._turns)} runs of other visitors are in line"
            raise LimitError(message, "Try again in a minute, or run the program on your own machine.")
        self._check_minute(self._recent(self._starts_by_session.get(session)), limits.runs_per_minute, "this page has")
        self._check_minute(self._recent(self._starts), limits.total_per_minute, "all visitors together have")

    def _check_minute(self, starts: deque[float], most: int | None, whose: str) -> None:
        if most is None or len(starts) < most:
            return
        wait_s = max(1, round(starts[0] + _MINUTE_S - self._clock()))
        message = f"{whose} started {len(starts)} runs within a minute, as many as are allowed here"
        raise LimitError(message, f"Run again in {wait_s} s, or run the program on your own machine.")

    def _recent(self, starts: deque[float] | None) -> deque[float]:
        """Return the starts of the last minute, the older ones dropped."""
        starts = deque() if starts is None else starts
        while starts and starts[0] <= self._clock() - _MINUTE_S:
            starts.popleft()
        return starts

    def _count_start(self, session: str) -> None:
        now = self._clock()
        self._starts.append(now)
        self._starts_by_session.setdefault(session, deque()).append(now)
        self._starts_by_session.move_to_end(session)
        while len(self._starts_by_session) > _MAX_SESSIONS:
            self._starts_by_session.popitem(last=False)
