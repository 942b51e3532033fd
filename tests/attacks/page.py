"""The program's page in a process of its own, and what talks to it: honest visitors and others."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import psutil

from prompt_debugger.core.base.types import JSON
from prompt_debugger.ui.present import unpack_payload
from tests.core.complete.faulty_server import FaultyServer, answer, chunk, drip
from tests.patience import PATIENCE_S
from tests.threads import in_thread
from tests.warm.program import warm_environment

ROOT = Path(__file__).resolve().parents[2]
_MODELS = answer(200, {"data": [{"id": "m", "owned_by": "someone"}]})
_sessions = itertools.count(1)
SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


class EchoServer(FaultyServer):
    """A chat that says what it was told: in a call after `CALL`, packed after `PACKED`.

    It says nothing after `STALL`, and after `FLOOD` and `DRIP` it goes on for ever, fast and slowly.
    """

    dripped_to = 0  # clients that drips were sent to
    left_drips = 0  # and those that went away

    def _behaviour_of(self, request: Any) -> Any:
        if request.path.endswith("/models"):
            return _MODELS
        if not request.path.endswith("/chat/completions"):
            return answer(404)
        words = str(request.json["messages"][0]["content"])
        order, _, rest = words.partition(" ")
        if order == "PACKED":
            return _packed(rest)
        if order == "STALL":
            return _stall
        if order == "FLOOD":
            return drip(SSE_HEAD, b": " + b"x" * 1_000_000 + b"\n", 0)
        if order == "DRIP":
            return _dripping
        message: JSON = {"role": "assistant", "content": f"ECHO {words}"}
        if order == "CALL":
            function: JSON = {"name": "f", "arguments": rest}
            message = {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]}
        return answer(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


async def _dripping(writer: asyncio.StreamWriter) -> None:
    EchoServer.dripped_to += 1
    try:
        await drip(SSE_HEAD, chunk(delta={"content": "a "}), 0.01)(writer)
    finally:  # the caller is gone
        EchoServer.left_drips += 1


async def _stall(_: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


def _packed(encoding: str) -> Any:
    """Return 100 times 50 MB of nothing as two gzips hold it, called whatever it is to be called."""
    body = gzip.compress(gzip.compress(bytes(50_000_000)) * 100)
    return answer(200, body, content_encoding=encoding)


@contextmanager
def echoing() -> Iterator[str]:
    """Run an echoing server in a thread; its base URL."""
    with in_thread(EchoServer("", {})) as url:
        yield url


class ReachedPage(NamedTuple):
    """What a visitor knows of a page: where it is, what it is made of, and what can be asked of it by name."""

    url: str
    config: dict[str, Any]
    events: dict[str, dict[str, Any]]

    @classmethod
    def at(cls, url: str) -> ReachedPage:
        """Read what the page at an address tells its front end."""
        found = re.search(
            r"window\.gradio_config = (\{.*?\});\s*(</script>|window\.)",
            httpx.get(url, timeout=PATIENCE_S).text,
            re.S,
        )
        assert found is not None, "the page tells its front end what it is made of"
        config: dict[str, Any] = json.loads(found[1])
        return cls(url, config, {str(one["api_name"]): one for one in config["dependencies"]})


class RunningPage:
    """The page as its users start it.

    Args:
        options: Of its command line.
        environment: What it finds there besides ours.
        folder: Where it is started.
        is_cold: Whether it is started with its imports, and is the process that was started.

    Attributes:
        url: Where it is.
        reached: What a visitor knows of it.
        process: The process that was started.
        log: Lines that it wrote.
    """

    def __init__(
        self, *options: str, environment: dict[str, str] | None = None, folder: Path = ROOT, is_cold: bool = False
    ) -> None:
        self.log: list[str] = []
        self._ready = threading.Event()
        self.process = subprocess.Popen(
            [sys.executable, "app.py", "ui", "--port", "0", *options],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**(os.environ if is_cold or folder != ROOT else warm_environment()), **(environment or {})},
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self._ready.wait(PATIENCE_S), self.log
        assert self.url, self.log
        self.reached = ReachedPage.at(self.url)

    url = ""

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.log.append(line.rstrip())
            if " is at http" in line:
                self.url = line.split()[-1].rstrip("/")
                self._ready.set()
        self._ready.set()

    @property
    def config(self) -> dict[str, Any]:
        """What it is made of."""
        return self.reached.config

    @property
    def events(self) -> dict[str, dict[str, Any]]:
        """What can be asked of it, by name."""
        return self.reached.events

    @property
    def pid(self) -> int:
        """The process that answers."""
        port = httpx.URL(self.url).port
        found: int
        (found,) = {one.pid for one in psutil.net_connections("tcp") if one.laddr[1] == port and one.status == "LISTEN"}
        return found

    def rss_mb(self) -> float:
        """Return the memory of the process and its helpers."""
        return sum(map(_rss_mb, process_tree(self.pid)))

    def own_rss_mb(self) -> float:
        """Return the memory of the process that answers."""
        return _rss_mb(self.pid)

    def faults(self) -> list[str]:
        """Return the lines of the log that tell of a fault no one foresaw, or of a way out that was refused."""
        words = ("Traceback", "nobody foresaw", "refused a connection", "Error:", "Exception")
        return [line for line in self.log if any(word in line for word in words)]

    def end(self) -> int:
        """Ask it to end as `kill` does; returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return status


class Visitor:
    """One open page, as gradio's own script talks to the server.

    Args:
        page: The page, or what is known of it.
        address: Where the visitor comes from; the whole of 127.0.0.0/8 is this machine.
        forwarded: What a proxy says of where they come from.

    Attributes:
        kinds: Kind of each component of the page, by its id.
    """

    def __init__(
        self, page: RunningPage | ReachedPage, address: str = "127.0.0.1", forwarded: str | None = None
    ) -> None:
        self.page = page
        self.session = f"visitor{next(_sessions)}-{os.getpid()}"
        headers = {} if forwarded is None else {"x-forwarded-for": forwarded}
        transport = httpx.AsyncHTTPTransport(local_address=address, limits=httpx.Limits(max_connections=None))
        self.address = address
        self.client = httpx.AsyncClient(transport=transport, timeout=PATIENCE_S, headers=headers, base_url=page.url)
        self.kinds = {part["id"]: str(part["type"]) for part in page.config["components"]}
        self._values = {part["id"]: part["props"].get("value") for part in page.config["components"]}

    async def __aenter__(self) -> Visitor:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.aclose()

    def body(self, event: str, *data: JSON, **more: Any) -> dict[str, Any]:
        """Return an event's payload; values that are not given are the page's own."""
        description = self.page.events[event]
        own = [None if self.kinds[one] in ("state", "html") else self._values[one] for one in description["inputs"]]
        values = [*data, *own[len(data) :]]
        return {"data": values, "fn_index": description["id"], "session_hash": self.session, "trigger_id": None, **more}

    async def post(self, path: str, body: Any) -> httpx.Response:
        """Post a body as JSON, lone surrogates too."""
        headers = {"content-type": "application/json"}
        return await self.client.post(f"/gradio_api/{path}", content=json.dumps(body), headers=headers)

    async def status_of(self, path: str, body: Any) -> int:
        """Post a body as `post` does and return the status alone, at a quarter of the cost: for thousands of bodies.

        What the page refuses it answers before it has read it, and closes the connection. So each has one of its own.
        """
        url = httpx.URL(self.page.url)
        content = json.dumps(body).encode()
        head = (
            f"POST /gradio_api/{path} HTTP/1.1\r\nhost: {url.netloc.decode()}\r\nconnection: close\r\n"
            f"content-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
        )
        reader, writer = await asyncio.open_connection(url.host, url.port, local_addr=(self.address, 0))
        try:
            with suppress(ConnectionError):  # it may hang up as it refuses, with the answer on its way
                writer.write(head.encode() + content)
                await writer.drain()
            received = await asyncio.wait_for(reader.read(), PATIENCE_S)
        finally:
            writer.close()
        return int(received.split(maxsplit=2)[1])

    async def join(self, event: str, *data: JSON, **more: Any) -> httpx.Response:
        """Put an event into the queue."""
        return await self.post("queue/join", self.body(event, *data, **more))

    async def click(self, event: str, *data: JSON, **more: Any) -> httpx.Response:
        """Send an event that takes no queue."""
        return await self.post("run/predict", self.body(event, *data, **more))

    async def listen(self) -> str:
        """Return what comes until the end of what this page has in the queue."""
        received = ""
        url = f"/gradio_api/queue/data?session_hash={self.session}"
        async with self.client.stream("GET", url) as stream:
            async for line in stream.aiter_lines():
                received += line + "\n"
                if '"close_stream"' in line or '"unexpected_error"' in line:
                    break
        return received

    async def leave(self) -> None:
        """Go away as soon as anything comes: what this page has in the queue is given up."""
        url = f"/gradio_api/queue/data?session_hash={self.session}"
        async with self.client.stream("GET", url) as stream:
            await anext(stream.aiter_lines())

    async def ask(self, event: str, *data: JSON, **more: Any) -> str:
        """Put an event into the queue and return all that was drawn until its end, payloads unpacked."""
        joined = await self.join(event, *data, **more)
        assert joined.status_code == 200, joined.text
        return drawn(await self.listen())

    async def run(self, words: str, **fields: JSON) -> str:
        """Run a request, as Run does."""
        request = json.dumps({"messages": [{"role": "user", "content": words}], "temperature": 0, **fields})
        return await self.ask("run", request)


def _rss_mb(process_id: int) -> float:
    try:
        status = Path(f"/proc/{process_id}/status").read_text(encoding="utf-8")
    except OSError:  # it has just ended
        return 0.0
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return 0.0 if found is None else int(found[1]) / 1000


def process_tree(process_id: int) -> list[int]:
    """Return a process and all that it started."""
    try:
        tasks = [*Path(f"/proc/{process_id}/task").iterdir()]
        own = [int(one) for task in tasks for one in (task / "children").read_text(encoding="utf-8").split()]
    except OSError:
        own = []
    return [process_id, *(deeper for one in own for deeper in process_tree(one))]


def drawn(received: str) -> str:
    """Return what came with the payloads of the views unpacked."""
    parts = [received]
    for line in received.splitlines():
        if line.startswith("data: "):
            parts += [_unpacked(text) for text in _texts(json.loads(line[6:]))]
    return "\n".join(parts)


def _texts(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _unpacked(text: str) -> str:
    try:
        return str(unpack_payload(text))
    except (ValueError, OSError, EOFError):
        return ""
