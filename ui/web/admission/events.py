"""One layer in front of gradio's routes: who asks, how much of the page they have, and what they sent."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Iterable, MutableMapping
from functools import partial
from typing import Any, Protocol

from starlette.datastructures import Headers, QueryParams
from starlette.responses import JSONResponse

from prompt_debugger.ui.web.admission.bodies import BodyMemory, ByteQuota, too_long
from prompt_debugger.ui.web.admission.counts import Counts, Use
from prompt_debugger.ui.web.admission.held import Owner
from prompt_debugger.ui.web.admission.kinds import CHEAP, AdmissionLimits, Kind, kind_of
from prompt_debugger.ui.web.admission.pacing import (
    EVENT_COST_S,
    Bill,
    Charges,
    LoopLag,
    Metered,
    Pacing,
)
from prompt_debugger.ui.web.admission.payloads import (
    EventTable,
    PayloadError,
    judge_call,
    judge_cancel,
    judge_event,
    judge_reset,
    read_name,
)
from prompt_debugger.ui.web.admission.sessions import Memory, Sessions
from prompt_debugger.ui.web.admission.trials import PLACES, Trials
from prompt_debugger.ui.web.admission.visitors import Network, visitor_of

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

VISITOR = "prompt_debugger.visitor"  # in the scope of a request: who asks
SIZE = "prompt_debugger.size"  # likewise: how long its body is
CHARGE = "prompt_debugger.charge"  # likewise: takes the processor time that it costs
COST = "prompt_debugger.cost"  # likewise: returns what its page cost recently
ON_TRIAL = "prompt_debugger.on_trial"  # likewise: whether it costs much, and its page was not answered yet
ANSWERED = "prompt_debugger.answered"  # likewise: told that all that its page asked for has been answered
SMALL_BYTES = 64_000  # bodies of so many are read before it is asked whose turn it is
_HEARTBEAT = "/gradio_api/heartbeat/"
_LISTENS = re.compile(r"/gradio_api/(heartbeat/|queue/data$|call/[a-z]+/)")
_LISTENING = "/gradio_api/queue/data"
_JOINING = "/gradio_api/queue/join"
_STARTS = re.compile(r".*/join|/gradio_api/call/[a-z]+")
_OK = 200
CALL_PATH = re.compile(r"/gradio_api/call/(?P<name>[a-z]+)(/(?P<session>[0-9a-f]{32}))?")


class KeptByServer(Memory, Protocol):
    """What the server keeps of pages, and what is running for them."""

    def in_use(self) -> list[Use]:
        """Return the events that are running or waiting."""
        ...

    def waiting(self) -> Iterable[Owner]:
        """Return those of whom an event waits."""
        ...

    def listen_alone(self, page: str) -> Callable[[], bool]:
        """Let the connection of this task alone get a page's answers; returns whether a newer one has taken over."""
        ...


class EventGuard:
    """Lets an event in if it is one of the page's, within what its visitor may use."""

    def __init__(
        self,
        app: App,
        table: EventTable,
        memory: KeptByServer,
        limits: AdmissionLimits,
        proxies: tuple[Network, ...] = (),
    ) -> None:
        self.app = app
        self.sessions = Sessions(limits, memory, self._is_coming)
        self._table = table
        self._memory = memory
        self._limits = limits
        self._proxies = proxies
        self._counts = Counts(limits)
        self._charges = Charges(opened=self._counts.pages_opened)
        self._pacing = Pacing(self._charges, memory.waiting, LoopLag().late_s)
        places = None if limits.new_pages_minute is None else PLACES
        self._trials = Trials(self._under_way, self.sessions.is_on_trial, places)
        self._bodies = BodyMemory(limits.max_bytes)
        self._byte_quota = ByteQuota(limits.minute_bytes)
        self._passing: list[Use] = []
        self.count = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        peer = scope.get("client")
        visitor = visitor_of(peer[0] if peer else None, headers.getlist("x-forwarded-for"), self._proxies)
        scope[VISITOR] = visitor
        bill = Bill(self._charges, visitor)
        scope[CHARGE], scope[COST] = bill.charge, bill.of_page
        try:
            _check_length(headers.get("content-length", "0"), self._limits.max_bytes)
            if scope["method"] == "POST":
                bill.charge(EVENT_COST_S)
                is_small = 0 < int(headers.get("content-length", "0")) <= SMALL_BYTES
                if _STARTS.fullmatch(scope["path"]) and not is_small:  # who waits here holds nothing
                    await self._pacing.wait(Owner(visitor))
                await Metered(self._admit_post(scope, receive, send, visitor, bill, is_small=is_small), bill.charge)
            elif _LISTENS.match(scope["path"]):
                await Metered(self._listen(scope, receive, send, visitor), bill.charge)
            elif scope["path"] == "/":  # opening the page costs as much as an event
                bill.charge(EVENT_COST_S)
                if await _unless_left(self._pacing.wait(Owner(visitor)), receive):
                    await Metered(self.app(scope, receive, send), bill.charge)
            else:
                await self.app(scope, receive, send)
        except PayloadError as error:
            await _refuse(error, scope, receive, send)

    async def _admit_post(
        self, scope: Message, receive: Receive, send: Send, visitor: str, bill: Bill, *, is_small: bool
    ) -> None:
        if Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise PayloadError("The page sends JSON.", 415)
        self.count += 1
        last = scope["path"].rpartition("/")[2]
        quota = self._byte_quota
        call = CALL_PATH.fullmatch(scope["path"])
        is_judged = is_small and (last in ("join", "predict") or call is not None)  # by its page, once that is known
        (quota.note if is_judged else quota.count)(visitor, 0)
        came = 0

        async def counted() -> Message:
            nonlocal came
            message = await receive()
            size = len(message.get("body", b""))
            came += size
            (quota.note if is_judged and came <= SMALL_BYTES else quota.count)(visitor, size)
            return message

        raw = await self._bodies.read(counted, visitor)
        if raw is None:
            return
        if last in ("join", "predict"):
            await self._admit_event(raw, scope, receive, send, visitor, bill)
        elif last == "cancel":
            await self._pass_on(judge_cancel(raw, self._table), scope, receive, send)
        elif last == "reset":
            await self._pass_on(judge_reset(raw), scope, receive, send)
        elif call is not None and not call["session"]:
            await self._admit_call(raw, call["name"], scope, receive, send, visitor, bill)
        else:  # a path for whose bodies there is no rule
            raise PayloadError("Not found", 404)

    async def _admit_call(
        self, raw: bytes, name: str, scope: Message, receive: Receive, send: Send, visitor: str, bill: Bill
    ) -> None:
        """Take a call by name for the event of a page of its own, by whose name the answer is fetched."""
        session = secrets.token_hex(16)
        body = judge_call(raw, self._table, name, session)
        started = False

        async def named(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = message["status"] == _OK
                if not started:
                    await send(message)
            elif not started:
                await send(message)
            elif not message.get("more_body", False):
                await JSONResponse({"event_id": session})(scope, receive, send)

        joining = {**scope, "path": _JOINING, "raw_path": _JOINING.encode()}
        await self._admit_event(body, joining, receive, named, visitor, bill)

    async def _admit_event(
        self, raw: bytes, scope: Message, receive: Receive, send: Send, visitor: str, bill: Bill
    ) -> None:
        is_queued = scope["path"].endswith("join")
        try:
            event = judge_event(raw, self._table, is_queued=is_queued)
        except PayloadError:
            self._byte_quota.judge_page(visitor, "", len(raw))  # all that is of no page counts as of one
            raise
        owner = Owner(visitor, event.session)
        if not self.sessions.is_known(event.session):
            self._counts.check_new_page(visitor)
        bill.is_of(owner)
        self._byte_quota.judge_page(*owner, len(raw))
        kind = kind_of(event.rule.name, is_queued=is_queued)
        scope[ON_TRIAL] = kind not in CHEAP and self.sessions.is_on_trial(event.session)
        scope[ANSWERED] = partial(self.sessions.note_answered, event.session)
        if is_queued and len(raw) <= SMALL_BYTES:  # what is longer is held as in line, and counted as such
            await self._pacing.wait(owner)
            if not await _unless_left(self._wait_on_trial(owner, kind), receive):
                return
        scope[SIZE] = len(event.body)
        use = Use(kind, event.session, visitor, len(event.body))
        self._counts.check(use, (*self._memory.in_use(), *self._passing))
        self.sessions.use(event.session, visitor)
        self._passing.append(use)
        self.count += 1
        try:
            if is_queued and len(raw) > SMALL_BYTES:
                await self._pacing.wait(owner)
                if not await _unless_left(self._wait_on_trial(owner, kind), receive):
                    return
            await self._pass_on(event.body, scope, receive, send)
        finally:
            self._passing.remove(use)
            if self.sessions.is_known(event.session):
                self.sessions.use(event.session, visitor)

    async def _wait_on_trial(self, owner: Owner, kind: Kind) -> None:
        if kind not in CHEAP:
            await self._trials.wait(owner)

    def _under_way(self) -> Iterable[Owner]:
        return [Owner(use.visitor, use.page) for use in (*self._memory.in_use(), *self._passing)]

    def _is_coming(self, page: str) -> bool:
        return any(use.page == page for use in self._passing)

    async def _pass_on(self, body: bytes, scope: Message, receive: Receive, send: Send) -> None:
        """Give gradio what was judged in place of what was sent."""
        reported = False

        async def judged() -> Message:
            nonlocal reported
            if reported:
                return await receive()
            reported = True
            return {"type": "http.request", "body": body, "more_body": False}

        kept = [(name, value) for name, value in scope["headers"] if name not in (b"content-length", b"content-type")]
        scope["headers"] = [
            *kept,
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
        ]
        await self.app(scope, judged, send)

    async def _listen(self, scope: Message, receive: Receive, send: Send, visitor: str) -> None:
        if scope["path"] == _LISTENING:
            asked = QueryParams(scope["query_string"])
            if [*asked] != ["session_hash"] or len(asked.getlist("session_hash")) != 1:
                raise PayloadError("A page listens for one session.")
            page = read_name(asked["session_hash"])
            if not self.sessions.is_known(page):
                raise PayloadError("Nothing is in progress for that session.", 404)
        elif (call := CALL_PATH.fullmatch(scope["path"])) is not None:
            page = str(call["session"])
            if not self.sessions.is_known(page):
                raise PayloadError("Nothing is in progress for that event.", 404)
        else:
            page = read_name(scope["path"].removeprefix(_HEARTBEAT))
        if not self.sessions.is_known(page):
            self._counts.check_new_page(visitor)
        self.sessions.use(page, visitor)
        if self.sessions.streams_of(page) >= self._limits.streams_per_page:
            raise PayloadError("This page is already listening.", 429)
        if self.sessions.streams_of_visitor(visitor) >= self._limits.streams_per_visitor:
            raise PayloadError("Too many pages are open from your address: close some.", 429)
        self.sessions.listen(page, +1)
        try:
            if scope["path"] == _LISTENING:
                await self._listen_alone(page, scope, receive, send)
            else:
                await self.app(scope, receive, send)
        finally:
            self.sessions.listen(page, -1)

    async def _listen_alone(self, page: str, scope: Message, receive: Receive, send: Send) -> None:
        """Send a page its answers until a newer connection of it does."""
        is_replaced = self._memory.listen_alone(page)

        async def sent(message: Message) -> None:
            is_body = message["type"] == "http.response.body"
            await send({**message, "body": b""} if is_body and is_replaced() else message)

        try:
            await self.app(scope, receive, sent)
        except Exception:
            if not is_replaced():
                raise
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _check_length(announced: str, max_bytes: int) -> None:
    if not (announced.isascii() and announced.isdigit()) or int(announced[:20]) > max_bytes:
        raise PayloadError(too_long(max_bytes), 413)


async def _unless_left(waiting: Coroutine[Any, Any, None], receive: Receive) -> bool:
    """Wait for something; false if the visitor went away meanwhile, so that no one is served who left."""
    turn = asyncio.ensure_future(waiting)
    await asyncio.sleep(0)
    if turn.done():
        return True
    left = asyncio.ensure_future(_until_left(receive))
    try:
        await asyncio.wait({turn, left}, return_when=asyncio.FIRST_COMPLETED)
        return turn.done()
    finally:
        for task in (turn, left):
            task.cancel()


async def _until_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _refuse(error: PayloadError, scope: Message, receive: Receive, send: Send) -> None:
    """Answer in the form in which gradio's script looks for words to show; the connection may hold half a body."""
    answer = JSONResponse({"detail": str(error)}, status_code=error.status, headers={"connection": "close"})
    await answer(scope, receive, send)
