"""A verification from its beginning, or from where it was left, to its summary.

    rows ──▶ Asker ──▶ journal ──▶ Judge ──▶ journal ──▶ results, summary
             asks, tries again      reads each answer      by number of row

Asking and reading meet in the journal alone: neither waits for the other, and what
is under way in memory is a few rows, however many there are.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from prompt_debugger.core.base.errors import BackendError, DebuggerError, RequestError
from prompt_debugger.core.base.types import Api, JSONObject
from prompt_debugger.core.complete import Decoding, Timeouts
from prompt_debugger.core.pipeline.opening import lease_lab, look_at, renderer_for
from prompt_debugger.core.pipeline.target import Target, client_of
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.core.tools.verify.asking import Asker, Spent
from prompt_debugger.core.tools.verify.dataset import Preparation, Row, count_rows, read_rows
from prompt_debugger.core.tools.verify.flow import Flow
from prompt_debugger.core.tools.verify.journal import Filed, Journal
from prompt_debugger.core.tools.verify.judge import Judge
from prompt_debugger.core.tools.verify.plan import Outcome, Plan, Progress, Stop
from prompt_debugger.core.tools.verify.visits import Visits

_READERS = 8


async def verify(
    plan: Plan,
    journal: Journal,
    *,
    clock: Callable[[], float],
    labs: LabPool | None = None,
    stop: Stop | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Ask for every row and read every answer; what is done before is not done again.

    The journal is open; labs are for a target without an address; `on_progress` is called whenever something changed.

    Raises:
        RequestError: The dataset cannot be read, or the journal is of something else.
        DebuggerError: Nothing answers at a server's address, or a tokenizer that was named cannot be loaded.
    """
    return await _Session(plan, journal, clock, labs, stop or Stop(), on_progress or (lambda _: None)).run()


@dataclass(slots=True)
class _Side:
    """One server and what asks and reads it."""

    number: int
    name: str
    preparation: Preparation
    asker: Asker
    visits: Visits
    has_update: asyncio.Event = field(default_factory=asyncio.Event)
    busy: set[int] = field(default_factory=set)
    is_asked: bool = False


@dataclass(slots=True)
class _Session:
    plan: Plan
    journal: Journal
    clock: Callable[[], float]
    labs: LabPool | None
    stop: Stop
    report: Callable[[Progress], None]
    progress: Progress = field(default_factory=Progress)

    async def run(self) -> Outcome:
        began = self.clock()
        names: tuple[str, ...] = ()
        rows = await in_thread(self._count_rows)
        started_at = self._begin()
        error: DebuggerError | None = None
        stopped: str | None = None
        async with self._sides() as sides:
            names = tuple(side.name for side in sides)
            self._count_done(sides, rows)
            try:
                await self._work_all(sides)
            except BaseExceptionGroup as failures:
                raise _first_of(failures) from None
            except BackendError as failure:
                error, stopped = failure, failure.message
            stopped = stopped or next((side.asker.stopped for side in sides if side.asker.stopped), None)
            if stopped is None and self.stop.asking.is_set():
                stopped = "interrupted"
        spent_ms = int(str(self.journal.fact("spent_ms", 0))) + round((self.clock() - began) * 1000)
        self.journal.note_fact("spent_ms", spent_ms)
        states = ("done", "failed")
        remaining = [rows - sum(self.journal.count(n, state) for state in states) for n in range(len(names))]
        return Outcome(stopped, error, names, tuple(remaining), started_at, spent_ms, rows)

    def _count_rows(self) -> int:
        count = count_rows(self.plan.dataset, shard=self.plan.shard, limit=self.plan.limit)
        if not count:
            raise RequestError(f"{str(self.plan.dataset)!r} contains no request.", field="DATASET")
        return count

    def _begin(self) -> str:
        """Take the journal for this verification, or refuse it."""
        if self.plan.is_fresh:
            self.journal.forget()
        self.journal.begin()
        addresses: list[str] = [target.base_url or "the lab" for target in self.plan.targets]
        identity: JSONObject = {"endpoints": list(addresses), "shard": str(self.plan.shard)}
        if any(api is not Api.CHAT for api in self.plan.apis):
            identity["apis"] = [*self.plan.apis]
        found = self.journal.fact("identity")
        if found is None or self.journal.is_empty:
            self.journal.note_fact("identity", identity)
            self.journal.note_fact("started_at", datetime.now(UTC).isoformat(timespec="milliseconds"))
        elif found != identity:
            raise RequestError(
                f"The journal {str(self.journal.path)!r} belongs to another verification: {found}",
                "Choose another --output or --journal, or use --fresh to discard it.",
                field="--journal",
            )
        return str(self.journal.fact("started_at", ""))

    @asynccontextmanager
    async def _sides(self) -> AsyncIterator[list[_Side]]:
        """Connect to all servers."""
        async with AsyncExitStack() as stack:
            spent = Spent(self.clock())
            flows: dict[str, Flow] = {}  # who shares an address shares what it can take
            targets = enumerate(self.plan.targets)
            yield [await self._connect(number, target, spent, flows, stack) for number, target in targets]

    async def _connect(
        self, number: int, target: Target, spent: Spent, flows: dict[str, Flow], stack: AsyncExitStack
    ) -> _Side:
        base_url, is_lab = target.base_url, target.base_url is None
        check: Callable[[JSONObject], None] | None = None
        if base_url is None:
            lab, target = await lease_lab(stack, target, self.labs)
            base_url = lab.base_url
            assert self.labs is not None, "it gave the lab"
            check = partial(self.labs.guard.check, spec=lab.spec)
        timeouts = Timeouts(read_s=self.plan.timeout_s, total_s=self.plan.timeout_s)
        client = await stack.enter_async_context(client_of(target, base_url, timeouts))
        server = await look_at(client, target, target.model, is_lab=is_lab)
        renderer = await renderer_for(client, server, target)
        flow = flows.setdefault(base_url, Flow(self.plan.concurrency, self.clock))
        has_update = asyncio.Event()

        def note_end(is_answered: bool) -> None:  # noqa: FBT001  # as it is called
            has_update.set()
            self._note_end(flow, is_answered=is_answered)

        preparation = replace(
            self.plan.preparation,
            model=target.model or self.plan.preparation.model,
            served_models=server.served_models or (() if server.model is None else (server.model,)),
        )
        asker = Asker(
            client=client,
            journal=self.journal,
            side=number,
            extra_body=dict(preparation.extra_body),
            flow=flow,
            patience=self.plan.patience,
            budget=self.plan.budget,
            spent=spent,
            clock=self.clock,
            on_end=note_end,
            check=check,
            api=self.plan.apis[number],
            server=server,
            may_lack_api=len(set(self.plan.apis)) > 1,
        )
        visits = Visits(Judge(client, server, renderer, flow.place, Decoding()))
        await in_thread(visits.warm_up)
        name = "the lab" if is_lab else client.base_url
        return _Side(number, name, preparation, asker, visits, has_update)

    async def _work_all(self, sides: list[_Side]) -> None:
        """Ask and read all servers' rows."""
        backpressure = Backpressure(self.clock, time.process_time)
        looking = asyncio.ensure_future(backpressure.keep_looking())
        try:
            await asyncio.gather(*(self._work(side, sides, backpressure) for side in sides))
        finally:
            looking.cancel()

    async def _work(self, side: _Side, sides: list[_Side], backpressure: Backpressure) -> None:
        """Ask and read one server's rows."""
        reading = asyncio.ensure_future(self._read_all(side, backpressure))
        try:
            await _until(self.stop.asking, side.asker.ask_all(self._rows(side)))
        finally:
            side.is_asked = True
            if all(one.is_asked for one in sides):
                backpressure.end()
            side.has_update.set()
            if self.stop.reading.is_set():
                reading.cancel()
            with suppress(asyncio.CancelledError):
                await _until(self.stop.reading, reading)

    def _rows(self, side: _Side) -> Iterator[Row]:
        return read_rows(self.plan.dataset, side.preparation, shard=self.plan.shard, limit=self.plan.limit)

    async def _read_all(self, side: _Side, backpressure: Backpressure) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(_READERS):
                group.create_task(self._read_some(side, backpressure))

    async def _read_some(self, side: _Side, backpressure: Backpressure) -> None:
        while True:
            await backpressure.wait()
            answers = self.journal.next_answered(side.number, side.busy, side.visits.most)
            if not answers:
                if side.is_asked:
                    return
                side.has_update.clear()
                await side.has_update.wait()
                continue
            taken = {answered.index for answered in answers}
            side.busy |= taken
            try:
                filed = await side.visits.read(answers)
                self._keep(side, {one.index: read for one, read in zip(answers, filed, strict=True) if read})
                for answered in [one for one, read in zip(answers, filed, strict=True) if not read]:
                    self._keep(side, {answered.index: await side.visits.read_here(answered)})
            finally:
                side.busy -= taken

    def _keep(self, side: _Side, results: Mapping[int, Filed]) -> None:
        if results:
            self.journal.note_results(side.number, results)
        for filed in results.values():
            if filed.is_answer:
                self.progress.read += 1
                self.progress.lost += filed.lost
                self.report(self.progress)

    def _count_done(self, sides: list[_Side], rows: int) -> None:
        count = self.journal.count
        progress = self.progress
        progress.total = rows * len(sides)
        progress.read = sum(count(side.number, "done") for side in sides)
        progress.answered = progress.read + sum(count(side.number, "answered") for side in sides)
        progress.read_before = progress.read
        self.report(progress)

    def _note_end(self, flow: Flow, *, is_answered: bool) -> None:
        self.progress.answered += is_answered
        self.progress.failed += not is_answered
        self.progress.limit = flow.limit
        self.report(self.progress)


def _first_of(failures: BaseExceptionGroup) -> BaseException:
    """Return the failure that a group is about: readers that fail together fail of the same."""
    first: BaseException = failures
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first


async def _until(event: asyncio.Event, work: object) -> None:
    """Await work, and cancel it when the event comes."""
    task = asyncio.ensure_future(work)  # type: ignore[call-overload]  # a coroutine or a task
    waiting = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    finally:
        waiting.cancel()
        if not task.done():
            task.cancel()


_LOOK_S = 0.2
_BUSY = 0.6


class Backpressure:
    """Whether this process has time left besides asking: reading answers waits while it has none.

    Asking must not wait for reading. A server takes seconds for most answers, and then there is time for both; where it
    answers faster than we can do both, answers wait in the journal until all is asked.
    """

    def __init__(self, clock: Callable[[], float], worked: Callable[[], float]) -> None:
        self._clock = clock
        self._worked = worked
        self._is_there = asyncio.Event()
        self._last = clock(), worked()

    def look(self) -> None:
        """Learn from what was used since the last look."""
        now, worked = self._clock(), self._worked()
        elapsed, used = now - self._last[0], worked - self._last[1]
        self._last = now, worked
        if used < _BUSY * elapsed:
            self._is_there.set()
        else:
            self._is_there.clear()

    async def keep_looking(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_S)
            self.look()

    def end(self) -> None:
        """Know that from now on there is time: all is asked."""
        self._is_there.set()

    async def wait(self) -> None:
        """Wait until there is time."""
        await self._is_there.wait()
