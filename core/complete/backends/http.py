"""One HTTP connection to one server: limits, time-outs, the key in its header, failures in words.

Redirects are not followed (they would carry prompts to another host), cookies
are not kept, compression is not asked for.
Leaving a call early, by cancelling or by an exception, closes its connection,
which is how a server learns that no one waits any more.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Self, TypeVar

import httpx

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete.backends.address import Address, check_key
from prompt_debugger.core.complete.backends.certificates import PUBLIC, Authorities, certificates_of
from prompt_debugger.core.complete.backends.clients import Clients, build_client
from prompt_debugger.core.complete.backends.decoding import Text
from prompt_debugger.core.complete.backends.exchanges import Note, noted
from prompt_debugger.core.complete.backends.extra_headers import check_headers, secrets_in
from prompt_debugger.core.complete.backends.failures import (
    Call,
    failure_of_format,
    failure_of_length,
    failure_of_location,
    failure_of_run,
    failure_of_size,
    failure_of_status,
    failure_of_time,
    failure_of_transport,
)
from prompt_debugger.core.complete.backends.guard import NetworkGuard, build_transport
from prompt_debugger.core.complete.backends.limits import (
    MAX_ANSWER_BYTES,
    MAX_LOOK_BYTES,
    MAX_PIECES,
    MAX_UNREADABLE,
    Timeouts,
)
from prompt_debugger.core.complete.backends.unpacking import unpacked
from prompt_debugger.core.complete.json_answers import read_json
from prompt_debugger.core.complete.reading import NOT_JSON, read

T = TypeVar("T")

_ERROR_BYTES = 65_536
_PIECES_AT_ONCE = 16
# Servers close idle connections after 5 s or more; one that is closed while we send would look like a failure.
_IDLE_S = 2.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer.

    Attributes:
        status: HTTP status; a success.
        headers: Its headers, names in lower case.
        text: Its body; U+FFFD where it was not UTF-8.
        is_utf8: False if it was not.
        elapsed_s: Seconds from sending to the last byte.
    """

    status: int
    headers: dict[str, str]
    text: str
    is_utf8: bool
    elapsed_s: float


class HttpConnection:
    """The connections to one server."""

    def __init__(
        self,
        address: Address,
        api_key: str | None,
        timeouts: Timeouts,
        guard: NetworkGuard | None = None,
        extra_headers: Mapping[str, str] | None = None,
        authorities: Authorities = PUBLIC,
    ) -> None:
        """Prepare them; nothing is sent.

        Args:
            address: Where the server is.
            api_key: Sent as bearer token.
            timeouts: How long to wait.
            guard: Which servers may be talked to; `None` for any.
            extra_headers: Sent with every request; never shown, as each may be a key.
            authorities: Certificates to trust besides the public ones; not with a guard.

        Raises:
            BackendError: The key or a header must not or cannot be sent there, the guard does not list the server, or
                what was given contains no certificate.
        """
        if guard is not None:
            guard.check(address.base_url)
            if authorities != PUBLIC:
                raise BackendError(
                    "This page trusts public certificates only.",
                    "Run the program on your own machine to trust other certificates.",
                    kind="refused",
                )
        self.address = address
        self.timeouts = timeouts
        self._began_s = time.monotonic()
        self._key = check_key(address, api_key)
        headers = {"accept-encoding": "identity", "user-agent": "prompt-debugger"}
        if self._key is not None:
            headers["authorization"] = f"Bearer {self._key}"
        extra = check_headers(address, extra_headers)
        headers.update(extra)
        self._secrets = secrets_in(extra)
        limits = httpx.Limits(keepalive_expiry=_IDLE_S)
        # A proxy from the environment is never meant for this machine, and would resolve a name again.
        trust_env = guard is None and not address.is_loopback
        certificates = certificates_of(authorities, trust_env=trust_env)

        def build() -> httpx.AsyncClient:
            return build_client(
                timeout=httpx.Timeout(timeouts.read_s, connect=timeouts.connect_s),
                limits=limits,
                trust_env=trust_env,
                verify=certificates,
                headers=headers,
                transport=None if guard is None else build_transport(guard, limits),
            )

        self._clients = Clients(build)

    async def close(self) -> None:
        """Close all connections."""
        await self._clients.close()

    async def get(self, path: str, *, total_s: float | None = None) -> Answer:
        """Fetch what a server says of itself, which is short; a path `/v1/…` is relative to the base URL.

        Raises:
            BackendError: There is no answer, or none with a good status.
        """
        return await self._whole("GET", path, None, total_s)

    async def post(self, path: str, body: JSONObject, *, total_s: float | None = None) -> Answer:
        """Send JSON and return the whole answer.

        Raises:
            BackendError: There is no answer, or none with a good status.
        """
        return await self._whole("POST", path, body, total_s)

    async def post_for_json(self, path: str, body: JSONObject) -> JSON:
        """Send JSON and return the answer's JSON.

        Raises:
            BackendError: As `post`, or the answer is not JSON (kind `not-json`).
        """
        return await self.read_json("POST", path, await self.post(path, body))

    async def read_json(self, method: str, path: str, answer: Answer) -> JSON:
        """Return the JSON of an answer.

        Raises:
            BackendError: It is not JSON (kind `not-json`).
        """
        return await self.await_reading(method, path, answer, read(len(answer.text), read_json, answer.text))

    async def await_reading(self, method: str, path: str, answer: Answer, reading: Awaitable[T]) -> T:
        """Return what was read in an answer.

        Raises:
            BackendError: It is not JSON (kind `not-json`), or whatever the reading raises.
        """
        try:
            return await reading
        except BackendError as error:
            if error.kind != NOT_JSON:
                raise
            content_type = answer.headers.get("content-type", "")
            call = self._call(method, path)
            raise failure_of_format(call, answer.status, content_type, answer.text, error.message) from None

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, body: JSONObject | None = None, *, total_s: float | None = None
    ) -> AsyncIterator[ByteStream]:
        """Send a request and give its answer piece by piece; leaving the block closes the connection.

        Raises:
            BackendError: There is no answer, or none with a good status.
        """
        call = self._call(method, path)
        clock = _Clock(call, self.timeouts, total_s or self.timeouts.total_s, self._began_s)
        content = None if body is None else json.dumps(body).encode("ascii")  # lone surrogates stay escaped
        headers = {} if content is None else {"content-type": "application/json"}
        with self._clients.take() as client:
            request = client.build_request(method, call.url, content=content, headers=headers)
            with noted(call, request, content) as note:
                response = await clock.send(client, request)
                try:
                    note.answer(response)
                    stream = ByteStream(response, clock, note)
                    if not response.is_success:
                        raise await _failure_of_answer(call, stream)
                    yield stream
                finally:
                    await response.aclose()

    async def _whole(self, method: str, path: str, body: JSONObject | None, total_s: float | None) -> Answer:
        async with self.stream(method, path, body, total_s=total_s) as stream:
            is_look = method == "GET" or total_s is not None  # anyone who only looks has little time, too
            stream.most_bytes = MAX_LOOK_BYTES if is_look else MAX_ANSWER_BYTES
            text = Text()
            async for chunk in stream:
                text.add(chunk)
                if text.unreadable_count > MAX_UNREADABLE:
                    raise failure_of_length(stream.call, "bytes that are not UTF-8", MAX_UNREADABLE, text.head)
            whole = text.whole.removeprefix("\ufeff")  # which JSON may begin with for those who read it
            return Answer(stream.status, stream.headers, whole, text.is_utf8, stream.elapsed_s)

    def _call(self, method: str, path: str) -> Call:
        return Call(method, self.address.url_of(path), self._key, self._secrets)


class ByteStream:
    """The bytes of an answer as they come, counted and timed; reading raises `BackendError` when they stop.

    Attributes:
        most_bytes: How many there may be.
    """

    def __init__(self, response: httpx.Response, clock: _Clock, note: Note) -> None:
        self.status = response.status_code
        self.headers = {name.lower(): value for name, value in response.headers.items()}
        self._chunks = unpacked(clock.call, response)
        self._response = response
        self._clock = clock
        self._note = note
        self.most_bytes = MAX_ANSWER_BYTES
        self._size = 0
        self._count = 0
        self._head = b""

    @property
    def elapsed_s(self) -> float:
        """Seconds since the request was sent."""
        return self._clock.elapsed_s

    @property
    def call(self) -> Call:
        """The request."""
        return self._clock.call

    @property
    def raw_headers(self) -> httpx.Headers:
        """The headers, looked up without regard to case."""
        return self._response.headers

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        chunk = await self._clock.read(self._chunks)
        if chunk is None:
            raise StopAsyncIteration
        self._note.take(chunk)
        self._size += len(chunk)
        self._head = self._head or chunk[:4096]
        if self._size > self.most_bytes:
            raise failure_of_size(self._clock.call, self.most_bytes, _decode(self._head))
        self._count += 1
        if self._count > MAX_PIECES:
            raise failure_of_length(self._clock.call, "pieces", MAX_PIECES, _decode(self._head))
        if not self._count % _PIECES_AT_ONCE:  # many small ones can lie ready at once
            await asyncio.sleep(0)
        return chunk


class _Clock:
    """Awaits httpx for one call, until its time is over, and translates what it raises."""

    def __init__(self, call: Call, timeouts: Timeouts, total_s: float, began_s: float) -> None:
        self.call = call
        self._timeouts = timeouts
        self._loop = asyncio.get_running_loop()
        self._start = self._loop.time()
        self._over = failure_of_time(call, total_s)
        if timeouts.run_s is not None:
            left_s = max(0.0, began_s + timeouts.run_s - time.monotonic())
            if left_s < total_s:
                self._over, total_s = failure_of_run(call, timeouts.run_s), left_s
        self._end = self._start + total_s

    @property
    def elapsed_s(self) -> float:
        return self._loop.time() - self._start

    async def send(self, client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
        try:
            async with asyncio.timeout_at(self._end):
                return await client.send(request, stream=True)
        except httpx.HTTPError as error:
            raise failure_of_transport(self.call, error, self._timeouts, began=False) from error
        except httpx.InvalidURL as error:  # httpx reads where a redirect leads even though none is followed
            raise failure_of_location(self.call, str(error)) from None
        except TimeoutError:
            raise self._over from None

    async def read(self, chunks: AsyncIterator[bytes]) -> bytes | None:
        """Return the next bytes; `None` at the end."""
        try:
            async with asyncio.timeout_at(self._end):
                return await anext(chunks, None)
        except httpx.HTTPError as error:
            raise failure_of_transport(self.call, error, self._timeouts, began=True) from error
        except TimeoutError:
            raise self._over from None


async def _failure_of_answer(call: Call, stream: ByteStream) -> BackendError:
    """Read what a server says with a bad status, as far as it says it."""
    data = bytearray()
    try:
        async for chunk in stream:
            data += chunk
            if len(data) > _ERROR_BYTES:
                break
    except BackendError:
        pass  # the status says more than the way its explanation broke off
    return failure_of_status(call, stream.status, stream.raw_headers, _decode(data))


def _decode(data: bytes | bytearray) -> str:
    return data.decode("utf-8", "replace")
