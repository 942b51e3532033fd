"""The process that reads exchanges, so that reading never holds up what passes.

    proxy's process    {"number": 12}  ──►  this one, which finds the line in the journal and writes the result there
                       {"number": 12, "row": {…}, "client": "…"}, or "unread" with the reason  ◄──

It ends when its input does: with the proxy, however that ends. What it had not read then waits in the journal.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import sys
from base64 import b85decode, b85encode
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import prompt_debugger
from prompt_debugger.core.base.egress import forbid_network
from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.pipeline.target import Target
from prompt_debugger.core.tools.watch.kept import KeptExchanges
from prompt_debugger.core.tools.watch.reading import Reader

_NICE = 10  # clients go first where there is too little processor time
_MOST_LINE_BYTES = 64 << 20
_LEAVE_S = 5.0
GONE = "it was discarded before it was read"
KILLED = "the process that read it ended, twice"


def main() -> None:
    """Read what standard input names until it ends."""
    forbid_network()
    with suppress(OSError):
        os.nice(_NICE)
    asyncio.run(_serve())


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader(_MOST_LINE_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    answers = os.fdopen(os.dup(1), "w", encoding="ascii", buffering=1)
    os.dup2(2, 1)  # whatever prints, prints to standard error
    path, target = pickle.loads(b85decode((await lines.readline()).strip()))
    reader = Reader(target)
    readings: set[asyncio.Task[None]] = set()
    with KeptExchanges(path, is_shared=True) as kept:
        while line := await lines.readline():
            reading = asyncio.create_task(_read(reader, kept, json.loads(line)["number"], answers.write))
            readings.add(reading)
            reading.add_done_callback(readings.discard)
        for reading in readings:
            reading.cancel()
        await asyncio.gather(*readings, return_exceptions=True)
        await reader.close()


async def _read(reader: Reader, kept: KeptExchanges, number: int, answer: Callable[[str], object]) -> None:
    try:
        line = kept.line(number)
        read = GONE if line is None else await reader.read(number, line)
        if isinstance(read, str):
            kept.note_unread(number, read)
            said: JSONObject = {"unread": read}
        else:
            (row, trace), client = read
            kept.note_result(0, number, row, trace)
            kept.note_client(number, client)
            said = {"row": row, "client": client}
    except DebuggerError as error:
        said = {"problem": error.message}
    answer(f"{json.dumps({'number': number, **said})}\n")


Answer: TypeAlias = JSONObject


class ReadingProcess:
    """That process, from the proxy's side; it is started again where it ended.

    Args:
        path: The journal.
        target: The server, where it may be asked what ids mean.
    """

    def __init__(self, path: Path, target: Target | None) -> None:
        self._start = b85encode(pickle.dumps((path, target))) + b"\n"
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: dict[int, asyncio.Future[Answer | None]] = {}
        self._starting = asyncio.Lock()
        self._answers: asyncio.Task[None] | None = None

    async def read(self, number: int) -> Answer:
        """Have an exchange read, and return what was made of it; the result is in the journal by then."""
        for _ in range(2):
            process = await self._running()
            answered: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
            self._waiting[number] = answered
            assert process.stdin is not None
            process.stdin.write(b'{"number": %d}\n' % number)
            answer = await answered
            if answer is not None:
                return answer
        return {"unread": KILLED}

    async def close(self) -> None:
        """End it; what is being read is left for the next time."""
        process = self._process
        if process is None or process.stdin is None:
            return
        process.stdin.close()
        try:
            async with asyncio.timeout(_LEAVE_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
        if self._answers is not None:
            await self._answers

    async def _running(self) -> asyncio.subprocess.Process:
        async with self._starting:
            if self._process is not None and self._process.returncode is None:
                return self._process
            if self._answers is not None:
                await self._answers
            own = str(Path(prompt_debugger.__file__).parents[1])
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "prompt_debugger.core.tools.watch.reading_process"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=_MOST_LINE_BYTES,
                start_new_session=True,  # Ctrl-C is the proxy's to handle
                env={**os.environ, "PYTHONPATH": os.pathsep.join((own, os.environ.get("PYTHONPATH", "")))},
            )
            assert process.stdin is not None
            process.stdin.write(self._start)
            self._process = process
            self._answers = asyncio.create_task(self._take_answers(process))
            return process

    async def _take_answers(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            said: Answer = json.loads(line)
            answered = self._waiting.pop(int(str(said["number"])), None)
            if answered is not None and not answered.done():
                answered.set_result(said)
        await process.wait()
        waiting, self._waiting = self._waiting, {}
        for answered in waiting.values():
            if not answered.done():
                answered.set_result(None)


if __name__ == "__main__":
    main()
