"""A server in a process of its own whose answers are as heavy as the bounds allow.

Each kind of weight has a base URL. Its heavy path is answered with it, packed with gzip or not; every other path as a
plain server would.
"""

from __future__ import annotations

import asyncio
import gzip
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from prompt_debugger.core.base.types import JSON
from tests.core.complete.faulty_server import Behaviour, FaultyServer, Received, answer, chunk

ROOT = Path(__file__).resolve().parents[2]
MB = 1_000_000
_STOP: dict[str, JSON] = {"finish_reason": "stop"}
_DONE = b"data: [DONE]\n\n"


def _keys(count: int) -> bytes:
    return b"{" + b",".join(b'"k%d":0' % index for index in range(count)) + b"}"


def _message(message: bytes, more: bytes = b"", beside: bytes = b"") -> bytes:
    """Return a chat answer whose first choice has this message."""
    choice = b'{"index":0,"finish_reason":"stop","message":' + message + more + b"}"
    return b'{"choices":[' + choice + b"]" + beside + b"}"


def _content(inside: bytes) -> bytes:
    return b'{"role":"assistant","content":"' + inside + b'"}'


def _call(name: bytes = b"f", arguments: bytes = b"{}", call_id: bytes = b"c") -> bytes:
    function = b'{"name":"' + name + b'","arguments":"' + arguments + b'"}'
    return b'{"id":"' + call_id + b'","type":"function","function":' + function + b"}"


def _calls(*calls: bytes) -> bytes:
    return b'{"role":"assistant","content":null,"tool_calls":[' + b",".join(calls) + b"]}"


def _logprobs(count: int, alternatives: int = 0) -> bytes:
    top = b",".join([b'{"token":"a","logprob":-1.5}'] * alternatives)
    one = b'{"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[' + top + b"]}"
    return b',"logprobs":{"content":[' + b",".join([one] * count) + b"]}"


def _ids(count: int) -> bytes:
    return b"[" + b"100000," * (count - 1) + b"100000]"


_HI = _content(b"hi")
WHOLE: dict[str, Callable[[], bytes]] = {
    "keys in the message": lambda: _message(b'{"content":"hi","x":' + _keys(600_000) + b"}"),
    "calls": lambda: _message(_calls(*[_call()] * 200_000)),
    "alternatives": lambda: _message(_HI, _logprobs(20_000, 20)),
    "choices": lambda: b'{"choices":[' + b",".join([b'{"index":1}'] * 400_000) + b"]}",
    "ids": lambda: _message(_HI, b',"token_ids":' + _ids(3 * MB)),
    "prompt logprobs": lambda: _message(
        _HI, beside=b',"prompt_logprobs":[' + b",".join([b'{"5":{"logprob":-1}}'] * 200_000) + b"]"
    ),
    "an error of many keys": lambda: b'{"error":' + _keys(600_000) + b"}",
    "no UTF-8": lambda: _message(_content(b"\xff" * 30 * MB)),
}


def _event(document: bytes) -> bytes:
    return b"data: " + document.replace(b'"message":', b'"delta":') + b"\n\n"


STREAMED: dict[str, Callable[[], bytes]] = {
    "an event of many keys": lambda: _event(_message(b'{"content":"hi","x":' + _keys(600_000) + b"}")) + _DONE,
    "an event of choices": lambda: b'data: {"choices":[' + b",".join([b'{"index":0}'] * 600_000) + b"]}\n\n",
    "an event of logprobs": lambda: _event(_message(_HI, _logprobs(100_000))) + _DONE,
    "events that are no UTF-8": lambda: _event(_message(_content(b"\xff" * 7_500_000))) * 4 + _DONE,
    "no event": lambda: _message(b'{"content":"hi","x":' + _keys(600_000) + b"}"),
}
LOOKS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "models": ("/v1/models", lambda: b'{"data":[{"id":"m","x":' + _keys(2 * MB) + b"}]}"),
    "openapi": ("/openapi.json", lambda: b'{"paths":' + _keys(2 * MB) + b"}"),
    "render": ("/v1/chat/completions/render", lambda: b'{"token_ids":[1],"x":' + _keys(600_000) + b"}"),
}
_VLLM: dict[str, JSON] = {
    "/v1/models": {"data": [{"id": "m", "owned_by": "vllm"}]},
    "/version": {"version": "0.30.0"},
    "/openapi.json": {"paths": {"/v1/chat/completions/render": {}, "/v1/completions": {}}},
}


def body_of(kind: str) -> bytes:
    """Return the heavy body of a kind."""
    if kind in LOOKS:
        return LOOKS[kind][1]()
    return (WHOLE if kind in WHOLE else STREAMED)[kind]()


class _Server(FaultyServer):
    """Answers `/KIND/v1/…`, or `/KIND/gzip/v1/…`; a kind's name with `-` for spaces."""

    def __init__(self) -> None:
        super().__init__("", {})
        self._bodies: dict[str, bytes] = {}

    def _behaviour_of(self, request: Received) -> Behaviour:
        kind, _, path = request.path.removeprefix("/").partition("/")
        kind, path = kind.replace("_", " "), "/" + path
        is_packed = path.startswith("/gzip/")
        path = path.removeprefix("/gzip")
        wanted = b'"stream": true' in request.body
        if self._is_heavy(kind, path, is_streamed=wanted):
            return self._heavy(kind, is_packed=is_packed, is_streamed=wanted and kind in STREAMED)
        if path.endswith("/chat/completions") and wanted:
            return answer(200, chunk(delta={"content": "hi"}, **_STOP) + _DONE, "text/event-stream")
        if path.endswith("/chat/completions"):
            return answer(200, _message(_HI))
        if kind in LOOKS and path in _VLLM:
            return answer(200, _VLLM[path])
        return answer(200, _VLLM[path]) if path == "/v1/models" else answer(404)

    def _is_heavy(self, kind: str, path: str, *, is_streamed: bool) -> bool:
        if kind in LOOKS:
            return path == LOOKS[kind][0]
        if path.endswith("/v1/completions"):
            return kind.startswith("raw ")
        return path.endswith("/chat/completions") and is_streamed is (kind in STREAMED)

    def _heavy(self, kind: str, *, is_packed: bool, is_streamed: bool) -> Behaviour:
        key = kind + " packed" * is_packed
        if key not in self._bodies:
            self._bodies.clear()  # one is enough to hold
            body = body_of(kind)
            self._bodies[key] = gzip.compress(body, 1) if is_packed else body
        more = {"content_encoding": "gzip"} if is_packed else {}
        return answer(200, self._bodies[key], "text/event-stream" if is_streamed else "application/json", **more)


async def _serve() -> None:
    server = await asyncio.start_server(_Server().serve, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.close()


@contextmanager
def heavy_server() -> Iterator[Callable[..., str]]:
    """Run the server; gives what returns the base URL of a kind."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.attacks.heavy_answers"],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    port = int(process.stdout.readline())

    def url_of(kind: str, *, is_packed: bool = False) -> str:
        assert kind in WHOLE or kind in STREAMED or kind in LOOKS, kind
        path = kind.replace(" ", "_") + "/gzip" * is_packed
        return f"http://127.0.0.1:{port}/{path}/v1"

    try:
        yield url_of
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


if __name__ == "__main__":
    asyncio.run(_serve())
