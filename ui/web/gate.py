"""Whose turn it is: who may run now, who waits, who has used up this minute's quota.

Holds times and counts by session, never a text. A session is what gradio calls one: an open page.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from prompt_debugger.ui.web.admission.counts import leaves_enough, leaves_neighbours
from prompt_debugger.ui.web.limits import LimitError, Limits
from prompt_debugger.ui.web.redraw_rate import RedrawRate

_MINUTE_S = 60.0
_MAX_STARTS = 2_000
_LOOK_AGAIN_S = 0.4
SLOW_S = 2.0  # a run that takes longer waits for its server, and holds no place that another could use
FREE_S = 0.1  # of processor time that a page cost recently: who cost so little is not compared with others
FAR_ABOVE = 2.0  # times as much as a page cost: what another runs that cost more holds it up no more


@dataclass(eq=False, slots=True)
class Turn:
    """One run's place in the line; `begun_s` is `None` while it waits."""

    session: str
    visitor: str = ""
    cost: Callable[[], float] = float
    begun_s: float | None = None
    has_come: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def goes_on(self) -> bool:
        """Whether its turn has come."""
        return self.begun_s is not None


class _Start(NamedTuple):
    at_s: float
    session: str
    visitor: str


class RunGate:
    """Who may run now, and who has had enough for this minute; for one event loop.

    The page's admission decides who may wait (`ui/web/admission/counts.py`). What a page `used` recently is processor
    time, by `VISITOR/SESSION`.
    """

    def __init__(
        self,
        limits: Limits,
        clock: Callable[[], float] = time.monotonic,
        used: Callable[[str], float] = lambda _: 0.0,
    ) -> None:
        self.limits = limits
        self._used = used
        self.drawing = RedrawRate()
        self._clock = clock
        self._turns: list[Turn] = []
        self._starts: deque[_Start] = deque(maxlen=_MAX_STARTS)
        self._line: list[Turn] = []
        self._advanced_s = clock()

    @contextmanager
    def enter(self, session: str, visitor: str = "", cost: Callable[[], float] = float) -> Iterator[Turn]:
        """Take a place in the line; leaving the block gives it back.

        Raises:
            LimitError: The session, the visitor, or all together, have used what they may.
        """
        self._check(session, visitor)
        turn = Turn(session, visitor, cost)
        self._starts.append(_Start(self._clock(), session, visitor))
        self._turns.append(turn)
        self._advance()
        try:
            with self.drawing.counted():
                yield turn
        finally:
            self._turns.remove(turn)
            self._advance()

    def runs_ahead(self, turn: Turn) -> int:
        """Return how many runs must end before it is this one's turn; 0 when it is."""
        if self._clock() - self._advanced_s >= _LOOK_AGAIN_S:
            self._advance()  # a running one may have become slow
        return 0 if turn.goes_on else self._line.index(turn) + 1

    async def wait(self, turn: Turn) -> None:
        """Wait until a run's turn has come, or it is time to look again how many are ahead."""
        with suppress(TimeoutError):
            await asyncio.wait_for(turn.has_come.wait(), _LOOK_AGAIN_S)

    def redraw_rate(self) -> float:
        """Return how much less often than alone a run draws what has not changed."""
        return self.drawing.factor()

    def _advance(self) -> None:
        """Let those proceed for whom there is a place."""
        self._advanced_s = self._clock()
        use = {turn: turn.cost() + self._used(f"{turn.visitor}/{turn.session}") for turn in self._turns}
        for turn in self._turns_in_line(use):
            if self._has_place(turn, use):
                turn.begun_s = self._clock()
                turn.has_come.set()
        self._line = self._turns_in_line(use)

    def _has_place(self, turn: Turn, use: Mapping[Turn, float]) -> bool:
        """Return whether a run may proceed: among the quick ones, and among all there may ever be.

        A visitor takes no more of either than stay free. Slow runs hold no place of the quick ones. Those of pages that
        cost much hold none that a page which cost little could have: their work gives way wherever there is some.
        """
        going_on = [one for one in self._turns if one.goes_on]
        if self.limits.most_at_once is None:
            return len(going_on) < self.limits.runs_at_once
        bound_s = max(FREE_S, FAR_ABOVE * use[turn])
        going_on = [one for one in going_on if use[one] <= bound_s]
        own = [one for one in going_on if one.visitor == turn.visitor]
        return leaves_enough(self._quick(own), self._quick(going_on), self.limits.quick_at_once) and leaves_enough(
            len(own), len(going_on), self.limits.most_at_once
        )

    def _quick(self, turns: Sequence[Turn]) -> int:
        since_s = self._clock() - SLOW_S
        return sum(one.begun_s > since_s for one in turns if one.begun_s is not None)

    def _turns_in_line(self, use: Mapping[Turn, float]) -> list[Turn]:
        """Return who waits: everyone's first run before anyone's second, those that are running counted as had.

        Of one visitor's pages those are first that ran least within the last minute, then those that cost least;
        within a tenth of a second they are equal.
        """
        had = Counter(turn.visitor for turn in self._turns if turn.goes_on)
        ran = Counter(start.session for start in self._recent())
        steps = [int(use[turn] / FREE_S) for turn in self._turns]
        own = {
            turn: (ran[turn.session], step, i) for i, (turn, step) in enumerate(zip(self._turns, steps, strict=True))
        }
        rounds: list[tuple[int, int, Turn]] = []
        for turn, (*_, index) in sorted(own.items(), key=lambda one: one[1]):
            if not turn.goes_on:
                rounds.append((had[turn.visitor], index, turn))
                had[turn.visitor] += 1
        return [turn for *_, turn in sorted(rounds, key=lambda one: one[:2])]

    def _check(self, session: str, visitor: str) -> None:
        limits = self.limits
        own = sum(turn.session == session for turn in self._turns)
        if limits.runs_per_session is not None and own >= limits.runs_per_session:
            raise LimitError("A run of this page is already in progress.", "Press Stop, or wait for it to end.")
        starts = self._recent()
        of_page = [start for start in starts if start.session == session]
        if limits.runs_per_minute is not None and len(of_page) >= limits.runs_per_minute:
            raise self._too_many("this page has", of_page)
        if limits.total_per_minute is None:
            return
        of_visitor = [start for start in starts if start.visitor == visitor]
        total = limits.total_per_minute
        own, of_all = len(of_visitor), len(starts)
        if not (leaves_enough(own, of_all, total) and leaves_neighbours(len(of_page), own, of_all, total)):
            is_own = len(of_visitor) > len(starts) / 2
            raise self._too_many("Your address has" if is_own else "All visitors together have", of_visitor or starts)

    def _too_many(self, whose: str, starts: Sequence[_Start]) -> LimitError:
        wait_s = max(1, round(starts[0].at_s + _MINUTE_S - self._clock()))
        message = f"{whose} started {len(starts)} runs within a minute, which is the limit."
        return LimitError(message, f"Run again in {wait_s} s, or run the program on your own machine.")

    def _recent(self) -> deque[_Start]:
        """Return the starts of the last minute, the older ones dropped."""
        while self._starts and self._starts[0].at_s <= self._clock() - _MINUTE_S:
            self._starts.popleft()
        return self._starts
