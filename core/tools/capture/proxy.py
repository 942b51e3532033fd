"""The proxy: passes requests to the server and answers to the client unchanged, and records both.

    client ──► callers ──► Relay ──► server
                  │          │
                  └──► Exchange ──► Recorder ──► Store

An ASGI application. Pieces of an answer are passed on as they arrive, no faster than the client reads them. A client
that disconnects ends the server's work; an answer that breaks off breaks off for the client, too.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import TypeAlias

import httpx

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete.backends.relay import RawHeaders, Relay, RelayedAnswer
from prompt_debugger.core.tools.capture.callers import refusal_of
from prompt_debugger.core.tools.capture.exchange import Exchange
from prompt_debugger.core.tools.capture.limits import (
    BODY_IDLE_S,
    BODY_WHOLE_S,
    HEAD_S,
    MAX_ANSWER_BYTES,
    MAX_REQUEST_BYTES,
    MAX_UNDER_WAY,
)
from prompt_debugger.core.tools.capture.recorder import Recorder
from prompt_debugger.core.tools.capture.same_run import REFUSALS, asking_for_ids, events_without_ids, strip_ids
from prompt_debugger.core.tools.capture.secrets import secrets_of

Message: TypeAlias = MutableMapping[str, object]
Scope: TypeAlias = MutableMapping[str, object]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

LEFT = "the client disconnected before the end of the answer"
SLOW = "the request's body did not arrive in time"
_MAX_CLIENT = 80  # characters of a client's `User-Agent`
STOPPED = "the capture was ended before the end of the answer"


class _ClientLeftError(Exception):
    """The client disconnected."""


class _ClientIsSlowError(Exception):
    """The body of a request does not arrive in time."""


@dataclass(slots=True)
class RequestTimes:
    """How long a request may take to arrive: its head, the gap between pieces of its body, and all of its body."""

    head_s: float = HEAD_S
    idle_s: float = BODY_IDLE_S
    whole_s: float = BODY_WHOLE_S


class CaptureProxy:
    """Passes requests on to one server and records the traffic."""

    def __init__(
        self,
        relay: Relay,
        recorder: Recorder,
        names: frozenset[str] = frozenset(),
        times: RequestTimes | None = None,
        *,
        asks_for_ids: bool = False,
    ) -> None:
        self._asks_for_ids = asks_for_ids
        self._times = times or RequestTimes()
        self._relay = relay
        self._recorder = recorder
        self._names = names
        self._under_way: set[asyncio.Task[None]] = set()
        self._is_stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await send({"type": "websocket.close"})  # before it is accepted: a refusal, 403
            return
        asked = _IncomingRequest(scope)
        refusal = refusal_of(asked.header(b"host") or "", asked.header(b"origin"), self._names)
        if refusal is not None:
            await _answer(send, 403, "refused", refusal)
        elif len(self._under_way) >= MAX_UNDER_WAY or self._is_stopping:
            await _answer(send, 503, "busy", "too many requests are in progress in this proxy, or it is shutting down")
        else:
            await self._exchange(asked, receive, send)

    async def stop(self) -> None:
        """End the exchanges in progress; what has arrived of each is recorded."""
        self._is_stopping = True
        for task in self._under_way:
            task.cancel()
        if self._under_way:
            await asyncio.wait(self._under_way)

    async def _exchange(self, asked: _IncomingRequest, receive: Receive, send: Send) -> None:
        exchange = self._recorder.begin(asked.method, asked.path, secrets_of(asked.headers, asked.query))
        exchange.client = (asked.header(b"user-agent") or "")[:_MAX_CLIENT]
        exchange.sent_packing = (asked.header(b"content-encoding") or "").strip().lower()
        client = _Client(receive, exchange, self._times)
        passing = asyncio.create_task(self._pass_on(asked, exchange, client, send))
        leaving = asyncio.create_task(client.leaves())
        self._under_way.add(passing)
        try:
            await asyncio.wait((passing, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not passing.done():
                exchange.end(LEFT)
        finally:
            for task in (passing, leaving):
                task.cancel()
            await asyncio.wait((passing, leaving))
            self._under_way.discard(passing)
            fault = None if passing.cancelled() else passing.exception()
            exchange.end(STOPPED if fault is None else f"this program failed to pass it on: {type(fault).__name__}")
            self._recorder.keep(exchange)

    async def _pass_on(self, asked: _IncomingRequest, exchange: Exchange, client: _Client, send: Send) -> None:
        try:
            url = self._relay.url_of(asked.raw_path, asked.query)
        except ValueError as error:
            exchange.end(str(error))
            exchange.status = 400
            await _answer(send, 400, "bad-path", str(error))
            return
        content = client.body() if asked.has_body else None
        if content is None:
            client.expects_none()
        has_begun = False
        try:
            async with AsyncExitStack() as stack:
                answer, has_ids = await self._answered(stack, asked, url, content, exchange)
                exchange.head(answer.status, _header(answer, b"content-type"), _header(answer, b"content-encoding"))
                headers, pieces = answer.headers, _noted(answer.pieces, exchange)
                if has_ids and not exchange.packing:
                    headers, pieces = await _strip_ids(headers, pieces, exchange.content_type)
                has_begun = True
                await send({"type": "http.response.start", "status": answer.status, "headers": list(headers)})
                async for piece in pieces:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                exchange.end()
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except BackendError as error:
            exchange.end(error.message)
            if not has_begun:
                await client.keep_body(content)
                await _answer(send, 502, error.kind, f"{error.message} {error.hint}".strip())
            # Else we return without an end, and the connection is closed: it breaks off for the client, too.
        except _ClientLeftError:
            exchange.end(LEFT)
        except _ClientIsSlowError:
            exchange.end(SLOW)
            exchange.status = 408
            if not has_begun:
                await _answer(send, 408, "slow-body", SLOW, (b"connection", b"close"))

    async def _answered(
        self,
        stack: AsyncExitStack,
        asked: _IncomingRequest,
        url: httpx.URL,
        content: AsyncIterator[bytes] | None,
        exchange: Exchange,
    ) -> tuple[RelayedAnswer, bool]:
        """Return the answer, open until the stack is left, and whether ids were asked for.

        If a server refuses the request with that field, it is sent again as the client wrote it.
        """
        if not self._asks_for_ids or content is None or exchange.api is None:
            return await stack.enter_async_context(self._relay.send(asked.method, url, asked.headers, content)), False
        body, rest = await _read(content)
        changed = None if rest is not None else asking_for_ids(exchange.api, body, exchange.sent_packing)
        if changed is not None:
            with_ids = self._relay.send(asked.method, url, _set_length(asked.headers, len(changed)), _once(changed))
            async with AsyncExitStack() as attempt:
                answer = await attempt.enter_async_context(with_ids)
                if answer.status not in REFUSALS:
                    stack.push_async_exit(attempt.pop_all())
                    return answer, answer.status < 300
        plain = self._relay.send(asked.method, url, asked.headers, _once(body, rest))
        return await stack.enter_async_context(plain), False


async def _read(content: AsyncIterator[bytes]) -> tuple[bytes, AsyncIterator[bytes] | None]:
    """Return a body, and what is left of one that is too long to be read here."""
    read = bytearray()
    async for piece in content:
        read += piece
        if len(read) > MAX_REQUEST_BYTES:
            return bytes(read), content
    return bytes(read), None


async def _once(body: bytes, rest: AsyncIterator[bytes] | None = None) -> AsyncIterator[bytes]:
    yield body
    if rest is not None:
        async for piece in rest:
            yield piece


async def _noted(pieces: AsyncIterator[bytes], exchange: Exchange) -> AsyncIterator[bytes]:
    async for piece in pieces:
        exchange.take(piece)
        yield piece


async def _strip_ids(
    headers: RawHeaders, pieces: AsyncIterator[bytes], content_type: str
) -> tuple[RawHeaders, AsyncIterator[bytes]]:
    """Return an answer for a client that did not ask for ids: a stream as it comes, anything else once complete."""
    if content_type.startswith("text/event-stream"):
        unsized = [(name, value) for name, value in headers if name.lower() != b"content-length"]
        return unsized, events_without_ids(pieces)
    whole = bytearray()
    async for piece in pieces:
        whole += piece
        if len(whole) > MAX_ANSWER_BYTES:
            return headers, _once(bytes(whole), pieces)
    data = strip_ids(bytes(whole))
    return _set_length(headers, len(data)), _once(data)


def _set_length(headers: RawHeaders, length: int) -> RawHeaders:
    size = str(length).encode("ascii")
    return [(name, size if name.lower() == b"content-length" else value) for name, value in headers]


class _IncomingRequest:
    """A request, read from its ASGI scope."""

    def __init__(self, scope: Scope) -> None:
        self.method = str(scope["method"])
        self.path = str(scope["path"])
        raw_path, query, headers = scope.get("raw_path"), scope.get("query_string"), scope["headers"]
        self.raw_path = raw_path if isinstance(raw_path, bytes) else self.path.encode("ascii", "replace")
        self.query = query if isinstance(query, bytes) else b""
        self.headers: RawHeaders = tuple(headers) if isinstance(headers, list | tuple) else ()

    def header(self, name: bytes) -> str | None:
        """Return the first header of a name, in lower case."""
        return next((value.decode("latin-1") for known, value in self.headers if known == name), None)

    @property
    def has_body(self) -> bool:
        """Whether a body follows, be it an empty one."""
        return self.header(b"content-length") is not None or self.header(b"transfer-encoding") is not None


class _Client:
    """The client's end: its body, then the moment at which it leaves."""

    def __init__(self, receive: Receive, exchange: Exchange, times: RequestTimes) -> None:
        self._receive = receive
        self._exchange = exchange
        self._times = times
        self._has_body = asyncio.Event()

    async def body(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes; a client that begins one and does not go on would hold a connection forever."""
        loop = asyncio.get_running_loop()
        end_s = loop.time() + self._times.whole_s
        while True:
            try:
                async with asyncio.timeout_at(min(end_s, loop.time() + self._times.idle_s)):
                    message = await self._receive()
            except TimeoutError:
                raise _ClientIsSlowError from None
            if message["type"] == "http.disconnect":
                raise _ClientLeftError
            piece = message.get("body")
            if isinstance(piece, bytes) and piece:
                self._exchange.sent.take(piece)
                yield piece
            if not message.get("more_body", False):
                self._has_body.set()
                return

    async def keep_body(self, content: AsyncIterator[bytes] | None) -> None:
        """Record the body although the server cannot be reached and so has read none of it."""
        if content is not None and not self._exchange.sent.size:
            with suppress(_ClientLeftError, _ClientIsSlowError):
                await _read(content)

    def expects_none(self) -> None:
        """Note that no body comes."""
        self._has_body.set()

    async def leaves(self) -> None:
        """Return once the client has disconnected; this is only checked after its body was read."""
        await self._has_body.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass


def _header(answer: RelayedAnswer, name: bytes) -> str:
    return next((value.decode("latin-1") for known, value in answer.headers if known == name), "")


async def _answer(send: Send, status: int, kind: str, message: str, *more: tuple[bytes, bytes]) -> None:
    """Answer with an error in the form that clients expect; the client may be gone already."""
    error: JSONObject = {"message": f"prompt-debugger capture: {message}", "type": kind, "code": status}
    body = json.dumps({"error": error}).encode("ascii")
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode("ascii")), *more]
    with suppress(OSError):
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})
