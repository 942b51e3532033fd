"""Listens, serves the proxy, and ends when it is asked to, with everything written."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from prompt_debugger.core.base.egress import know_own_name
from prompt_debugger.core.base.listening import listen_on
from prompt_debugger.core.base.request_heads import TimedHeads
from prompt_debugger.core.complete.backends.address import read_address
from prompt_debugger.core.complete.backends.relay import Relay
from prompt_debugger.core.sandbox import in_thread, sandbox_of
from prompt_debugger.core.tools.capture.proxy import App, CaptureProxy, RequestTimes
from prompt_debugger.core.tools.capture.recorder import Keeps, Outcome, Recorder, Writer
from prompt_debugger.core.tools.capture.store import Store

_GRACE_S = 5  # for clients that do not take the end of their answer
_MAX_HEAD_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Capture:
    """What is captured, and where.

    Attributes:
        upstream: Address of the server.
        out: A folder, or a file whose name ends in `.jsonl`.
        host: Name or address to listen on.
        port: Port to listen on; 0 for any free one.
        host_names: What clients call it besides that, `localhost` and addresses.
        asks_for_ids: Whether the server is asked for the ids of each run, which clients do not see.
    """

    upstream: str
    out: Path
    host: str = "127.0.0.1"
    port: int = 0
    host_names: tuple[str, ...] = ()
    asks_for_ids: bool = False


async def serve_capture(
    capture: Capture,
    ending: asyncio.Event,
    on_ready: Callable[[str, str], None],
    on_outcome: Callable[[Outcome], None],
    times: RequestTimes | None = None,
    keeps: Keeps | None = None,
) -> int:
    """Serve until `ending` is set; what is under way then is ended, and all that went through is written.

    Once it listens, `on_ready` gets the base URLs of proxy and server. `keeps` takes exchanges, not `capture.out`.

    Returns:
        How many exchanges could not be written.

    Raises:
        DebuggerError: The address is not valid, the port is taken, or nothing can be written.
    """
    times = times or RequestTimes()
    address = read_address(capture.upstream)
    know_own_name(capture.host)
    host = f"[{capture.host}]" if ":" in capture.host else capture.host
    with ExitStack() as stack:
        listener = stack.enter_context(closing(listen_on(capture.host, capture.port)))
        if keeps is None:
            keeps = KeptHere(stack.enter_context(closing(Store(capture.out))))
        relay = Relay(address)
        recorder = Recorder(keeps, address.base_url, on_outcome)
        names = frozenset(map(str.lower, (capture.host, *capture.host_names)))
        proxy = CaptureProxy(relay, recorder, names, times, asks_for_ids=capture.asks_for_ids)
        # What writes exchanges down, before the first comes.
        warming = asyncio.ensure_future(keeps.warm_up())
        try:
            serving = Serving(proxy, listener, ending, times.head_s)
            on_ready(f"http://{host}:{listener.getsockname()[1]}/v1", address.base_url)
            await ending.wait()
            await proxy.stop()
            await serving.end()
            await recorder.finish()
        finally:
            warming.cancel()
            await relay.close()
        return recorder.n_failed


class KeptHere(Writer):
    """Keeps exchanges in a folder or a file, from this process."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.take_number = store.take_number

    async def warm_up(self) -> None:
        """Start what takes keys out."""
        await in_thread(sandbox_of().warm_up)


class Serving:
    """uvicorn before an application, from its making on; `ended` is set if it ends unasked."""

    def __init__(self, proxy: App, listener: socket.socket, ended: asyncio.Event, head_s: float) -> None:
        self._server = _Server(
            uvicorn.Config(
                proxy,
                interface="asgi3",
                http=type("Protocol", (_Protocol,), {"head_s": head_s}),
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=_GRACE_S,
            )
        )
        self._task = asyncio.create_task(self._server.serve(sockets=[listener]))
        self._task.add_done_callback(lambda _: ended.set())

    async def end(self) -> None:
        """End the server."""
        self._server.should_exit = True
        await self._task


class _Protocol(TimedHeads, HttpToolsProtocol):  # type: ignore[misc]  # `cycle` is uvicorn's own
    """A connection whose heads have a greatest length and come in time; llhttp limits neither."""

    _is_in_head = True
    _head_bytes = 0

    def data_received(self, data: bytes) -> None:
        """Refuse a head that is too long."""
        self._head_bytes += len(data)
        super().data_received(data)
        if self._is_in_head and self._head_bytes > _MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_headers_complete(self) -> None:
        """Note that the head has come."""
        self._is_in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Count the next head from its start."""
        self._is_in_head, self._head_bytes = True, 0
        super().on_message_complete()


class _Server(uvicorn.Server):
    """Leaves signals to us: what is under way has to be kept first."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing about signals."""
        yield
