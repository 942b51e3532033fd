"""Live from the page: the recording proxy of `watch` before the target, with results shown as exchanges pass.

Only on one's own machine. It listens on the loopback alone and ends with the page that started it; what it kept is in
a temporary folder, which the view names.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import Future
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Thread
from time import monotonic

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.scratch import MOST_KEPT, new_scratch
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.report import redact_text
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.capture import Capture
from prompt_debugger.core.tools.verify import Stored, open_stored
from prompt_debugger.core.tools.verify.plan import Stop
from prompt_debugger.core.tools.watch import Alarm, Counts, Watch
from prompt_debugger.core.tools.watch.serve import Listener, serve_watch
from prompt_debugger.ui.present import pack_payload, unpack_payload
from prompt_debugger.ui.present.verification import verification_payload
from prompt_debugger.ui.present.words import count_of, joined
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.redraw_rate import RedrawRate, ticks_until
from prompt_debugger.ui.web.verify_run import SideSoFar, Step

_TABLE_EVERY_S = 2.0
_MAX_PROBLEMS = 5


@dataclass
class _Updates:
    """What the watch has said so far."""

    base_url: str = ""
    upstream: str = ""
    counts: Counts | None = None
    last: str = ""
    under_way: int = 0  # exchanges that have begun and not ended
    over: int = 0  # exchanges that have ended, be they read by now or not
    problems: list[str] = field(default_factory=list)
    rows: deque[JSONObject] = field(default_factory=deque)  # that the table does not have yet

    def listener(self) -> Listener:
        """Return who listens to the watch and writes it down here."""
        return Listener(
            self._ready,
            self._alarm,
            self._problem,
            self._read,
            row=self.rows.append,
            begun=self._begun,
            ended=self._ended,
        )

    def _ready(self, base_url: str, upstream: str, _: str) -> None:
        self.base_url, self.upstream = base_url, upstream

    def _begun(self) -> None:
        self.under_way += 1

    def _ended(self) -> None:
        self.under_way -= 1
        self.over += 1

    def _alarm(self, alarm: Alarm) -> None:
        self.last = redact_text(alarm.line)

    def _problem(self, text: str) -> None:
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(redact_text(text))

    def _read(self, counts: Counts) -> None:
        self.counts = counts

    def payload(self, *, state: str, journal: Path, table: JSONObject) -> str:
        """Return the payload of the view."""
        counts = self.counts or Counts()
        ended = state == "done"
        unread = sum(counts.unread.values())
        summary = joined(
            count_of(max(self.over, counts.exchanges), "exchange"),
            f"{self.under_way:,} in progress" if self.under_way and not ended else None,
            f"{counts.read:,} read",
            f"{unread:,} not read" if unread else None,
            f"{counts.total.failure:,} refused by the server" if counts.total.failure else None,
        )
        return pack_payload(
            {
                **table,
                "state": state,
                "sentence": table.get("sentence") or self._before_the_first(counts, ended=ended),
                "source": joined(summary, f"kept in `{journal}`", *self.problems),
                "address": "" if ended else self.base_url,
                "upstream": self.upstream,
                "last": self.last,
            }
        )

    def _before_the_first(self, counts: Counts, *, ended: bool) -> str:
        """Return what is said while no exchange has been read."""
        if ended:
            return "Nothing has passed."
        if self.under_way:
            whose = "its answer is read when it is" if self.under_way == 1 else "their answers are read when they are"
            return f"{count_of(self.under_way, 'request')} in progress: {whose} complete."
        if (complete := self.over - sum(counts.unread.values())) > 0:
            verb = "is" if complete == 1 else "are"
            return f"{count_of(complete, 'answer')} {verb} complete and {verb} being read."
        return "Nothing has passed yet: point a client at the address below."


def lab_awaited_payload() -> str:
    """Return the payload while the lab starts."""
    return pack_payload({"state": "running", "sentence": "Waiting for the lab to start"})


class _Thread:
    """One watch in a thread with an event loop of its own, which the page's loop asks to end."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: Stop | None = None
        self._asked = 0

    def ask(self) -> None:
        """Ask it to end; a second time leaves what waits unread."""
        self._asked += 1
        if self._loop is not None and self._stop is not None:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._stop.ask)

    async def serve(self, watch: Watch, listener: Listener) -> Counts:
        """Watch until asked to end; cancelling it ends it at once."""
        counts: Future[Counts] = Future()
        # A daemon: the end of the program waits for no client of the proxy.
        Thread(target=self._run, args=(watch, listener, counts), name="live-watch", daemon=True).start()
        done = asyncio.wrap_future(counts)
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            self.ask()
            self.ask()
            with suppress(Exception):
                await asyncio.shield(done)
            raise

    def _run(self, watch: Watch, listener: Listener, counts: Future[Counts]) -> None:
        async def served() -> Counts:
            self._loop, self._stop = asyncio.get_running_loop(), Stop()
            for _ in range(self._asked):
                self._stop.ask()
            return await serve_watch(watch, listener, self._stop)

        try:
            with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
                counts.set_result(runner.run(served()))
        except BaseException as error:  # noqa: BLE001  # anyone who waits is told
            counts.set_exception(error)


class LiveWatch:
    """Watches targets for the sessions of one page, one at a time each.

    Each proxy has its own thread: what passes it does not wait for the page, nor the page for it.
    """

    def __init__(self, labs: PageLabs, redraw_rate: RedrawRate) -> None:
        self._labs = labs
        self._redraw_rate = redraw_rate
        self._running: dict[str, _Thread] = {}

    def stop(self, session: str) -> None:
        """Ask the watch of a session to end; a second time leaves what waits unread."""
        if session in self._running:
            self._running[session].ask()

    async def steps(self, target: Target, session: str, *, asks_for_ids: bool) -> AsyncGenerator[Step | None, None]:
        """Yield what was read so far, `None` without updates, until it is stopped; closing it ends the proxy.

        Raises:
            DebuggerError: The server's address is not valid, or the lab does not start.
        """
        if session in self._running:
            raise RequestError("This page is already watching a server.", "Stop that first.")
        thread = self._running[session] = _Thread()
        try:
            async with AsyncExitStack() as stack:
                if target.base_url is None:
                    yield Step(lab_awaited_payload())
                    lab = await stack.enter_async_context(self._labs.pool.lease(target.lab))
                    target = replace(target, base_url=lab.base_url)
                steps = await stack.enter_async_context(aclosing(self._watch(target, thread, asks_for_ids)))
                async for step in steps:
                    yield step
        finally:
            self._running.pop(session, None)

    async def _watch(self, target: Target, thread: _Thread, asks_for_ids: bool) -> AsyncGenerator[Step | None, None]:  # noqa: FBT001
        journal = new_scratch("live", most_kept=MOST_KEPT) / "watch.sqlite"
        updates = _Updates()
        capture = Capture(str(target.base_url), journal, asks_for_ids=asks_for_ids)
        watch = Watch(capture, journal, target=target if asks_for_ids else None)
        task = asyncio.ensure_future(thread.serve(watch, updates.listener()))
        shown, drawn = "", 0.0
        table: JSONObject = {}
        opened: tuple[Stored, ...] = ()
        so_far = SideSoFar()
        async with aclosing(ticks_until(task, self._redraw_rate)) as ticks:
            async for _ in ticks:
                if updates.rows and monotonic() - drawn > _TABLE_EVERY_S:
                    opened = opened or await in_thread(open_stored, str(journal))
                    table, drawn = await in_thread(_table_of, so_far, updates.rows, opened), monotonic()
                payload = updates.payload(state="running", journal=journal, table=table) if updates.base_url else ""
                yield Step(payload, opened) if payload != shown else None
                shown = payload
        updates.counts = task.result()
        if updates.counts.read:
            opened = opened or await in_thread(open_stored, str(journal))
            table = await in_thread(_table_of, so_far, updates.rows, opened)
        yield Step(updates.payload(state="done", journal=journal, table=table), opened)


def _table_of(so_far: SideSoFar, rows: deque[JSONObject], opened: tuple[Stored, ...]) -> JSONObject:
    """Return the table with the rows that are new; the journal is not read again."""
    so_far.add_all(_taken(rows))
    return unpack_payload(verification_payload([so_far.side(opened[0])]))[0]


def _taken(rows: deque[JSONObject]) -> Iterator[JSONObject]:
    """Yield rows and take them out; another thread may put further ones in."""
    with suppress(IndexError):
        while True:
            yield rows.popleft()
