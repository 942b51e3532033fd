"""`verify` against plain asyncio loops over httpx and over the openai client, all with equal concurrency, in one run.

Claim: at equal concurrency verify's asking (journal, counts, retries included) is at least as fast as the loop over
the openai client, which keeps nothing. Reading the answers goes on beside it and after it; both ends are told.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
from openai import AsyncOpenAI

from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.verify import Journal, Plan, Progress, verify

LATENCY_S = 0.05
KEY = "none"
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
MESSAGE = {"role": "assistant", "content": None, "tool_calls": [CALL]}
ANSWER = json.dumps({
    "id": "a", "object": "chat.completion", "created": 0, "model": "m",
    "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
}).encode()  # fmt: skip


def body(index: int) -> dict[str, object]:
    """Return a request, no two alike."""
    return {"model": "m", "messages": [{"role": "user", "content": f"question {index}"}], "tools": [TOOL]}


def serve(ready: multiprocessing.Queue[int], latency_s: float = LATENCY_S) -> None:
    """Answer every chat after a while, any number at once."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode("latin-1").lower().split("\r\n")
                length = next((int(line[15:]) for line in lines if line.startswith("content-length:")), 0)
                await reader.readexactly(length)
                is_chat = "/chat/completions" in lines[0]
                data = ANSWER if is_chat else b'{"data": [{"id": "m"}]}'
                status = 200 if is_chat or "/v1/models" in lines[0] else 404
                if is_chat:
                    await asyncio.sleep(latency_s)
                writer.write(
                    b"HTTP/1.1 %d X\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
                    % (status, len(data))
                )
                writer.write(data)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(handle, "127.0.0.1", 0, backlog=1024)
        ready.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


async def time_loop(rows: int, concurrency: int, ask: Callable[[int], Awaitable[object]]) -> float:
    """Return the seconds that a plain loop takes."""
    places = asyncio.Semaphore(concurrency)

    async def one(index: int) -> None:
        async with places:
            await ask(index)

    began = time.perf_counter()
    await asyncio.gather(*(one(index) for index in range(rows)))
    return time.perf_counter() - began


async def time_httpx(url: str, rows: int, concurrency: int) -> float:
    """Return what a loop over httpx takes."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=600, trust_env=False) as client:

        async def ask(index: int) -> object:
            answer = await client.post(f"{url}/chat/completions", json=body(index))
            return answer.json()

        return await time_loop(rows, concurrency, ask)


async def time_openai(url: str, rows: int, concurrency: int) -> float:
    """Return what a loop over the openai client takes."""
    async with AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0) as client:

        async def ask(index: int) -> object:
            answer: object = await client.chat.completions.create(**body(index))
            return answer

        return await time_loop(rows, concurrency, ask)


async def time_verify(url: str, rows: int, concurrency: int) -> tuple[float, float]:
    """Return when `verify` had asked for all rows, and when it had read them, in seconds."""
    asked: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        dataset = Path(folder) / "rows.jsonl"
        dataset.write_text("".join(json.dumps(body(index)) + "\n" for index in range(rows)))
        began: list[float] = []

        def listen(progress: Progress) -> None:
            if not began:
                began.append(time.perf_counter())  # connected; nothing is asked yet
            if progress.answered == rows and not asked:
                asked.append(time.perf_counter())

        with Journal(Path(folder) / "rows.sqlite") as journal:
            plan = Plan(dataset, (Target(base_url=url),), journal.path, concurrency=concurrency)
            outcome = await verify(plan, journal, clock=time.monotonic, on_progress=listen)
            assert outcome.remaining == (0,)
    return asked[0] - began[0], time.perf_counter() - began[0]


def main() -> int:
    """Print the figures; returns 1 if the claim does not hold."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[32, 256])
    options = parser.parse_args()
    ready: multiprocessing.Queue[int] = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(ready,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{ready.get()}/v1"
    slower = False
    try:
        print(f"{options.rows} rows, each answered after {LATENCY_S * 1000:g} ms; rows per second")
        for concurrency in options.concurrency:
            plain = asyncio.run(time_httpx(url, options.rows, concurrency))
            client = asyncio.run(time_openai(url, options.rows, concurrency))
            asked, read = asyncio.run(time_verify(url, options.rows, concurrency))
            rates = [options.rows / seconds for seconds in (plain, client, asked, read)]
            print(
                f"{concurrency:4} at once: httpx {rates[0]:.0f}, openai {rates[1]:.0f}, verify asked {rates[2]:.0f} "
                f"({client / asked:.2f} of openai, {plain / asked:.2f} of httpx), asked and read {rates[3]:.0f}"
            )
            slower = slower or asked > client
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"memory of this process at most {peak_mb:.0f} MB")
    finally:
        server.terminate()
    return 1 if slower else 0


if __name__ == "__main__":
    raise SystemExit(main())
