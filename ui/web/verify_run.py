"""Verify from the page: a dataset that was dropped there is asked row by row, within a budget, and read as it goes.

Only on one's own machine: dataset and journal are in a temporary folder of it, which the view names.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.scratch import MOST_KEPT, new_scratch
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.report import unpack_bundle
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.verify import (
    About,
    Budget,
    Journal,
    Outcome,
    Plan,
    Progress,
    Stored,
    Tally,
    open_stored,
    summary_of,
    verify,
)
from prompt_debugger.core.tools.verify.clusters import Clusters
from prompt_debugger.ui.present import pack_payload, unpack_payload
from prompt_debugger.ui.present.verification import Side
from prompt_debugger.ui.present.words import count_of, joined
from prompt_debugger.ui.report.verification import Times
from prompt_debugger.ui.web.labs import LabLine, PageLabs
from prompt_debugger.ui.web.redraw_rate import RedrawRate, ticks_until
from prompt_debugger.ui.web.settings import PageSettings

MAX_ROWS = 10_000
MAX_SECONDS = 86_400
_MAX_CHARS = 100_000_000
_TABLE_EVERY_S = 2.0

Draw = Callable[[tuple[Stored, ...]], str]


class Asked(NamedTuple):
    """What a person asked for: a dataset as the browser packed it, at most so many rows of it, and at most so long."""

    packed: str
    rows: float | None
    seconds: float | None


class Step(NamedTuple):
    """How far it is: the payload, and what rows are opened from."""

    payload: str
    opened: tuple[Stored, ...] = ()


@dataclass
class VerifyRun:
    """Asks datasets; keeps only how the page is served."""

    settings: PageSettings
    labs: PageLabs
    redraw_rate: RedrawRate
    draw: Draw

    async def steps(self, asked: Asked, target: Target) -> AsyncGenerator[Step, None]:
        """Yield the progress until every row was read or the budget is used; closing it ends the asking.

        Raises:
            DebuggerError: There is no request in the dataset, or the server does not answer.
        """
        folder = new_scratch("verify", most_kept=MOST_KEPT)
        dataset, journal = folder / "dataset.jsonl", folder / "results.sqlite"
        text = await in_thread(unpack_bundle, asked.packed, _MAX_CHARS)
        await in_thread(dataset.write_text, text, "utf-8")
        plan = Plan(
            dataset=dataset,
            targets=(target,),
            journal=journal,
            limit=_bounded(asked.rows, MAX_ROWS),
            budget=Budget(seconds=_bounded(asked.seconds, MAX_SECONDS)),
        )
        progress = [Progress()]
        task = asyncio.ensure_future(self._verify(plan, progress))
        yield Step(self._running(target, progress[0], 0.0))
        began = drawn = time.monotonic()
        opened: tuple[Stored, ...] = ()
        table: str | None = None
        async with aclosing(ticks_until(task, self.redraw_rate)) as ticks:
            async for _ in ticks:
                now = time.monotonic()
                if progress[0].read and now - drawn > _TABLE_EVERY_S:
                    opened, drawn = await in_thread(open_stored, str(journal)), now
                    table = await in_thread(self.draw, opened)
                yield Step(self._running(target, progress[0], now - began, table), opened)
        outcome = task.result()
        if outcome.error is not None and not progress[0].read:
            raise outcome.error
        opened = await in_thread(open_stored, str(journal))
        yield Step(_ended(await in_thread(self.draw, opened), outcome, journal), opened)

    def _running(self, target: Target, progress: Progress, elapsed_s: float, table: str | None = None) -> str:
        lab = self.labs.describe(target.lab) if target.base_url is None else None
        return running_payload(progress, elapsed_s, table, lab)

    async def _verify(self, plan: Plan, progress: list[Progress]) -> Outcome:
        def take(now: Progress) -> None:
            progress[0] = now

        with Journal(plan.journal) as journal:
            return await verify(plan, journal, clock=time.monotonic, labs=self.labs.pool, on_progress=take)


def running_payload(progress: Progress, elapsed_s: float, table: str | None = None, lab: LabLine | None = None) -> str:
    """Return the payload while it runs: its progress, above what was read so far; before that, how far the lab is."""
    done = progress.read + progress.failed
    if not progress.total:
        starting = lab if lab is not None and lab.state == "starting" else None
        waits_for = "Identifying the server" if starting is None else f"Starting the lab: {starting.sentence}"
        clock: JSONObject = {"text": f"{elapsed_s:.0f} s", "fraction": None if starting is None else starting.fraction}
        return pack_payload({"state": "running", "sentence": waits_for, "progress": clock})
    summary = joined(
        f"{done:,} of {progress.total:,} read",
        f"{progress.failed:,} failed" if progress.failed else None,
        f"{count_of(progress.lost, 'call')} lost" if progress.lost else None,
        f"{elapsed_s:.0f} s",
    )
    fraction = done / progress.total
    header = {} if table is None else unpack_payload(table)[0]
    sentence = header.get("sentence") or "Asking the server, row by row"
    return pack_payload(
        {**header, "state": "running", "sentence": sentence, "progress": {"text": summary, "fraction": fraction}}
    )


def _ended(table: str, outcome: Outcome, journal: Path) -> str:
    header, _ = unpack_payload(table)
    left = sum(outcome.remaining)
    stopped = f"Ended early ({outcome.stopped}): {count_of(left, 'row')} left" if outcome.stopped else None
    return pack_payload({**header, "source": joined(stopped, str(header["source"]), f"kept in {journal}")})


def _bounded(value: float | None, most: int) -> int:
    if value is None or not 1 <= value <= most:
        raise RequestError(
            f"Rows and seconds must be numbers from 1 to {most:,}.", "Set how many rows or seconds may be used."
        )
    return int(value)


class SideSoFar:
    """What the rows so far come to."""

    def __init__(self) -> None:
        self._tally, self._clusters, self._times = Tally(), Clusters(), Times()

    def add_all(self, rows: Iterable[JSONObject]) -> Self:
        """Take rows; returns itself."""
        for row in rows:
            self._tally.add(row)
            self._clusters.add(row)
            self._times.add(row)
        return self

    def side(self, stored: Stored) -> Side:
        """Return what the panel draws of a server."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        count = self._tally.success + self._tally.failure
        about = About("", stored.endpoint, "1/1", count, 0, None, stored.started_at or now, 0)
        summary = summary_of(self._tally, about)
        return Side(stored.name, summary, self._clusters.ranked(), self._times.kept, stored.is_journal)
