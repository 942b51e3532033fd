"""The proxy and its reader, side by side: exchanges are passed on and written down, then read in their own time.

proxy ──► WatchJournal ──► waiting (bounded) ──► ReadingProcess ──► Counts ──► alarms
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from prompt_debugger.core.base.listening import listen_on
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.pipeline.target import Target
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.capture import Capture
from prompt_debugger.core.tools.capture.callers import refusal_of
from prompt_debugger.core.tools.capture.limits import HEAD_S
from prompt_debugger.core.tools.capture.proxy import Receive, Scope, Send
from prompt_debugger.core.tools.capture.recorder import Outcome
from prompt_debugger.core.tools.capture.serve import Serving, serve_capture
from prompt_debugger.core.tools.verify.plan import Stop
from prompt_debugger.core.tools.watch.alarms import Alarm, Webhook, alarm_of
from prompt_debugger.core.tools.watch.canary import Canary, CanaryResult
from prompt_debugger.core.tools.watch.counts import Counts, is_bad
from prompt_debugger.core.tools.watch.kept import Bounds, WatchJournal
from prompt_debugger.core.tools.watch.reading import OpenReader, Reader
from prompt_debugger.core.tools.watch.reading_process import ReadingProcess
from prompt_debugger.core.tools.watch.shared import Copier

_MAX_WAITING = 500
BUSY = "too many were waiting to be read"
UNWRITTEN = "it could not be saved"
UNFILED = "the results could not be saved: the next start reads it again"


@dataclass(frozen=True, slots=True)
class Watch:
    """What is watched, and how.

    Attributes:
        capture: The proxy; its `out` is not used.
        store: The SQLite file.
        bounds: How much is kept.
        target: The server, asked what the ids of a run mean; `None` without `--evidence`.
        metrics_port: Where `/metrics` is served; `None` for nowhere, 0 for any free port.
        webhook: Address to which alarms are sent; "" for none.
        most_waiting: Exchanges that may wait to be read; further ones are not read.
        canary: A file of requests that are sent alongside the traffic; `None` for none.
        every_s: Seconds between two rounds of them.
        canary_target: Where they go.
        shared: A PostgreSQL database to which what was read is copied, for several proxies; "" for none.
        open_reader: Makes the reader, in a process separate from the proxy.
        n_readers: Exchanges that are read at once.
    """

    capture: Capture
    store: Path
    bounds: Bounds = field(default_factory=Bounds)
    target: Target | None = None
    metrics_port: int | None = None
    webhook: str = ""
    most_waiting: int = _MAX_WAITING
    canary: Path | None = None
    every_s: float = 300.0
    canary_target: Target = field(default_factory=Target)
    shared: str = ""
    open_reader: OpenReader = Reader
    n_readers: int = 2


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is notified.

    Attributes:
        ready: Of the proxy's base URL, the server's and that of the metrics ("" for none), once it listens.
        alarm: Of an exchange at fault.
        problem: Of what could not be done, in a sentence.
        read: Of each exchange that was read or left out, when it is counted.
        begun: Of each exchange that begins.
        ended: Of each that is over and waits to be read.
        row: Of the row of each exchange that was read, before that.
        changed: Of a known request whose answer is of another class than before.
    """

    ready: Callable[[str, str, str], None]
    alarm: Callable[[Alarm], None]
    problem: Callable[[str], None]
    read: Callable[[Counts], None] = lambda _: None
    changed: Callable[[CanaryResult], None] = lambda _: None
    row: Callable[[JSONObject], None] = lambda _: None
    begun: Callable[[], None] = lambda: None
    ended: Callable[[], None] = lambda: None


async def serve_watch(watch: Watch, listener: Listener, stop: Stop) -> Counts:
    """Watch until `stop` is asked, then read what waits.

    Raises:
        DebuggerError: The port is taken, or the file cannot be used.
    """
    with ExitStack() as stack:
        journal = stack.enter_context(WatchJournal(watch.store, watch.capture.upstream, watch.bounds))
        watching = _Watching(watch, journal, listener)
        copier = Copier(watch.shared, watch.store, watch.capture.upstream, watch.bounds, listener.problem)
        if watch.shared:
            await in_thread(copier.start)
        metrics: Serving | None = None
        url = ""
        if watch.metrics_port is not None:
            socket = stack.enter_context(closing(listen_on(watch.capture.host, watch.metrics_port)))
            names = frozenset(map(str.lower, (watch.capture.host, *watch.capture.host_names)))
            metrics = Serving(partial(_metrics, watching.counts, names), socket, stop.asking, HEAD_S)
            url = f"http://{watch.capture.host}:{socket.getsockname()[1]}/metrics"
        try:
            return await watching.run(stop, lambda base, upstream: listener.ready(base, upstream, url))
        finally:
            if watch.shared:
                await in_thread(copier.end)
            if metrics is not None:
                await metrics.end()


class _Watching:
    """One watch from its start to its end."""

    def __init__(self, watch: Watch, journal: WatchJournal, listener: Listener) -> None:
        self.counts = Counts()
        self._watch = watch
        self._listener = listener
        self._waiting = deque(journal.waiting())
        self.counts.exchanges = len(self._waiting)
        self._has_news = asyncio.Event()
        self._is_over = False
        self._reader = ReadingProcess(journal, watch.bounds, watch.target, watch.open_reader, listener.begun)
        self._reported = ""  # the problem that was reported last, until something is written down again
        self._canary = None if watch.canary is None else Canary(watch.canary, watch.canary_target, journal)
        self._webhook = Webhook(watch.webhook, self._webhook_failed) if watch.webhook else None

    async def run(self, stop: Stop, ready: Callable[[str, str], None]) -> Counts:
        readings = asyncio.gather(*(self._read_all() for _ in range(self._watch.n_readers)))
        sending = None if self._webhook is None else asyncio.create_task(self._webhook.send_all())
        asking = None
        if self._canary is not None:
            asking = asyncio.create_task(self._canary.keep_asking(self._watch.every_s, self._changed))
        try:
            await serve_capture(self._watch.capture, stop.asking, ready, self._over, keeps=self._reader)
            self._is_over = True
            self._has_news.set()
            leaving = asyncio.create_task(stop.reading.wait())
            await asyncio.wait((readings, leaving), return_when=asyncio.FIRST_COMPLETED)
            leaving.cancel()
        finally:
            if asking is not None:
                asking.cancel()
            readings.cancel()
            with suppress(asyncio.CancelledError):
                await readings
            await self._reader.close()
            if sending is not None and self._webhook is not None:
                await self._webhook.end()
                await sending
        return self.counts

    def _over(self, outcome: Outcome) -> None:
        """Let an exchange that was written down be read, unless too many wait."""
        number = outcome.exchange.number
        if outcome.exchange.api is None:
            return
        self.counts.exchanges += 1
        self._listener.ended()
        if outcome.failure is not None:
            self._report(outcome.failure.message, outcome.failure.hint)
            self._left_out(UNWRITTEN)
        elif len(self._waiting) >= self._watch.most_waiting:
            self._reader.leave_out(number, BUSY)
            self._left_out(BUSY)
        else:
            self._waiting.append(number)
            self._has_news.set()

    def _report(self, problem: str, hint: str = "") -> None:
        """Say what could not be done, once: a full disk is one line, however many exchanges go by."""
        if problem != self._reported:
            self._listener.problem(f"{problem} {hint}".strip())
        self._reported = problem

    def _left_out(self, reason: str) -> None:
        self.counts.unread[reason] += 1
        self._listener.read(self.counts)

    async def _read_all(self) -> None:
        while True:
            while not self._waiting:
                if self._is_over:
                    return
                self._has_news.clear()
                await self._has_news.wait()
            self._take(await self._reader.read(self._waiting.popleft()))

    def _take(self, reply: JSONObject) -> None:
        """Count what was made of an exchange."""
        row, client, problem = reply.get("row"), str(reply.get("client") or ""), reply.get("problem")
        if isinstance(problem, str):
            self._report(problem, str(reply.get("hint") or ""))
        if not isinstance(row, dict):
            self._left_out(UNFILED if problem is not None else str(reply.get("unread")))
            return
        self._reported = ""
        self.counts.add(row, client)
        if place := str(reply.get("place") or ""):
            self.counts.read_on[place] += 1
        self._listener.row(row)
        self._listener.read(self.counts)
        if is_bad(row):
            self._alarm(row, client)

    def _changed(self, result: CanaryResult) -> None:
        self.counts.canary_changes += 1
        self._listener.changed(result)
        self._send(result)

    def _alarm(self, row: JSONObject, client: str) -> None:
        alarm = alarm_of(row, client)
        self._listener.alarm(alarm)
        self._send(alarm)

    def _send(self, alarm: Alarm | CanaryResult) -> None:
        if self._webhook is not None:
            self._webhook.add(alarm)

    def _webhook_failed(self, problem: str) -> None:
        self._listener.problem(f"The webhook cannot be reached: {problem}; alarms are shown only in this terminal.")


async def _metrics(counts: Counts, names: frozenset[str], scope: Scope, receive: Receive, send: Send) -> None:
    """Answer `GET /metrics`, for programs of this machine or by the names that the proxy has."""
    if scope["type"] != "http":
        return
    headers = scope["headers"]
    known = {name: value.decode("latin-1") for name, value in headers} if isinstance(headers, list) else {}
    status, text = 404, "Only /metrics is served here.\n"
    if (refusal := refusal_of(known.get(b"host", ""), known.get(b"origin"), names)) is not None:
        status, text = 403, f"{refusal}\n"
    elif scope["path"] == "/metrics":
        status, text = 200, counts.metrics()
    data = text.encode("utf-8")
    head = [(b"content-type", b"text/plain; version=0.0.4; charset=utf-8"), (b"content-length", b"%d" % len(data))]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": data, "more_body": False})
