"""What `watch` adds to an answer and takes from a rate: direct and through the proxy, in turns, in one run.

    python -m benchmarks.watch [--requests N] [--at-once N]

A server in a process of its own answers each request after 20 milliseconds, whole or as a stream of 20 events. One
client, which does no more than send bytes and look for their end, asks it directly and through `watch`, block by block.
Seconds differ between machines; read the ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
_BLOCKS = 5
_THINK_S = 0.02
_EVENTS = 20
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\nconnection: keep-alive\r\n%s\r\n"


def main() -> None:
    """Print one line per way of asking."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--serve", action="store_true")
    options = parser.parse_args()
    if options.serve:
        asyncio.run(_serve())
        return
    with tempfile.TemporaryDirectory() as folder:
        server = _start([sys.executable, "-m", "benchmarks.watch", "--serve"])
        command = [sys.executable, "app.py", "watch", "--port", "0", "--upstream", server[1]]
        watch = _start([*command, "--store", str(Path(folder) / "watch.sqlite")])
        try:
            asyncio.run(_measure(server[1], watch[1], options.requests, options.at_once))
        finally:
            watch[0].terminate()
            print(watch[0].communicate()[0].splitlines()[0])
            server[0].kill()


def _start(command: list[str]) -> tuple[subprocess.Popen[str], str]:
    """Start a process; return it and the base URL that it prints."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    found = re.search(r"http://\S+", process.stdout.readline())
    assert found is not None
    return process, found[0]


async def _measure(direct: str, through: str, count: int, at_once: int) -> None:
    for is_stream in (False, True):
        waits: dict[str, list[float]] = {direct: [], through: []}
        rates: dict[str, list[float]] = {direct: [], through: []}
        for _ in range(_BLOCKS):
            for url in (direct, through):
                waits[url] += await _ask(url, count // _BLOCKS, is_stream=is_stream)
                rates[url].append(await _rate(url, count, at_once, is_stream=is_stream))
        first = [1000 * statistics.median(waits[url]) for url in (direct, through)]
        rate = [statistics.median(rates[url]) for url in (direct, through)]
        print(
            f"{'stream' if is_stream else 'whole':7} first byte {first[0]:6.2f} ms direct, {first[1]:6.2f} ms "
            f"through: {first[1] - first[0]:+.2f} ms; {at_once} at once {rate[0]:6.0f}/s direct, {rate[1]:6.0f}/s "
            f"through: {rate[1] / rate[0]:.0%}"
        )


async def _ask(url: str, count: int, *, is_stream: bool) -> list[float]:
    """Ask so often on one connection; return the seconds until the first byte of each answer's body."""
    place = urlsplit(url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    asked = {"model": "m", "messages": [{"role": "user", "content": "hello " * 200}], "stream": is_stream}
    body = json.dumps(asked).encode("ascii")
    head = f"POST {place.path}/chat/completions HTTP/1.1\r\nhost: {place.netloc}\r\ncontent-length: {len(body)}\r\n\r\n"
    waited = []
    for _ in range(count):
        began = time.perf_counter()
        writer.write(head.encode("ascii") + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        first = await reader.readexactly(1)
        waited.append(time.perf_counter() - began)
        await _body(reader, answer, first)
    writer.close()
    return waited


async def _rate(url: str, count: int, at_once: int, *, is_stream: bool) -> float:
    began = time.perf_counter()
    await asyncio.gather(*(_ask(url, count // at_once, is_stream=is_stream) for _ in range(at_once)))
    return count / (time.perf_counter() - began)


async def _serve() -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    async with server:
        await server.serve_forever()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    message = {"role": "assistant", "content": "Hello. " * 50}
    whole = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
    while head := await _head(reader):
        asked = await _body(reader, head)
        await asyncio.sleep(_THINK_S)
        if b'"stream":true' not in asked.replace(b" ", b""):
            writer.write(_HEAD % (b"application/json", b"content-length: %d\r\n" % len(whole)) + whole)
            await writer.drain()
            continue
        writer.write(_HEAD % (b"text/event-stream", b"transfer-encoding: chunked\r\n"))
        for number in range(_EVENTS):
            reason = "stop" if number == _EVENTS - 1 else None
            chunk = {"choices": [{"index": 0, "delta": {"content": "Hello. "}, "finish_reason": reason}]}
            _write_chunk(writer, b"data: " + json.dumps(chunk).encode() + b"\n\n")
            await writer.drain()
            await asyncio.sleep(0)
        _write_chunk(writer, b"data: [DONE]\n\n")
        _write_chunk(writer, b"")
        await writer.drain()


def _write_chunk(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(b"%x\r\n%s\r\n" % (len(data), data))


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


async def _body(reader: asyncio.StreamReader, head: bytes, first: bytes = b"") -> bytes:
    length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
    if length is not None:
        return first + await reader.readexactly(int(length[1]) - len(first))
    data = b""
    while size := int(first + await reader.readline(), 16):
        data, first = data + await reader.readexactly(size), b""
        await reader.readline()
    await reader.readline()
    return data


if __name__ == "__main__":
    main()
