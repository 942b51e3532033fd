"""The process that writes exchanges down and reads them, so that neither holds up what passes.

    proxy's process   {"number": 12, "bytes": 5120}, and the exchange  ──►  this one: into the journal, without keys
                      {"number": 12}  ──►  what the journal has of it is read, and the result written there
                      {"number": 12, "row": {…}, "client": "…"}, or "unread" with the reason  ◄──

It ends when its input does, with the proxy, however that ends: what it was given is written down first, what it had not
read waits in the journal. Where it is killed, the proxy gives its exchanges to the next.
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
from prompt_debugger.core.sandbox import in_thread, sandbox_of
from prompt_debugger.core.tools.capture.record import Raw
from prompt_debugger.core.tools.capture.recorder import Kept, Writer
from prompt_debugger.core.tools.watch.kept import Bounds, KeptExchanges, WatchJournal
from prompt_debugger.core.tools.watch.reading import Files, OpenReader, Reader

_NICE = 10  # clients go first where there is too little processor time
_MAX_LINE_BYTES = 64 << 20
_LEAVE_S = 5.0
GONE = "it was discarded before it was read"
KILLED = "the process that keeps and reads exchanges crashed on it twice"


def main() -> None:
    """Read what standard input names until it ends."""
    forbid_network()
    with suppress(OSError):
        os.nice(_NICE)
    asyncio.run(_serve())


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader(_MAX_LINE_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    answers = os.fdopen(os.dup(1), "w", encoding="ascii", buffering=1)
    os.dup2(2, 1)  # whatever prints, prints to standard error
    path, bounds, target, open_reader = pickle.loads(b85decode((await lines.readline()).strip()))
    warming = asyncio.ensure_future(in_thread(sandbox_of().warm_up))
    reader: Files = open_reader(target)
    readings: set[asyncio.Task[None]] = set()
    with KeptExchanges(path, bounds) as kept:
        writer, writings = Writer(kept), set[asyncio.Task[None]]()
        while line := await lines.readline():
            asked = json.loads(line)
            if "bytes" in asked:
                raw = pickle.loads(await lines.readexactly(asked["bytes"]))
                task, tasks = asyncio.create_task(_keep(writer, raw, answers.write)), writings
            elif "unread" in asked:
                with suppress(DebuggerError):  # it waits in the journal, then
                    kept.note_unread(asked["number"], asked["unread"])
                continue
            else:
                task, tasks = asyncio.create_task(_read(reader, kept, asked["number"], answers.write)), readings
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        warming.cancel()
        for reading in readings:
            reading.cancel()
        await asyncio.gather(*readings, *writings, return_exceptions=True)
        await reader.close()


async def _keep(writer: Writer, raw: Raw, answer: Callable[[str], object]) -> None:
    try:
        reply: JSONObject = {"n_calls": (await writer.keep(raw)).n_calls}
    except DebuggerError as error:
        reply = {"problem": error.message, "hint": error.hint}
    with suppress(OSError):  # the proxy has gone
        answer(f"{json.dumps({'number': raw.number, **reply})}\n")


async def _read(reader: Files, kept: KeptExchanges, number: int, answer: Callable[[str], object]) -> None:
    try:
        line = kept.line(number)
        read = GONE if line is None else await reader.file(number, line)
        if isinstance(read, str):
            kept.note_unread(number, read)
            reply: JSONObject = {"unread": read}
        else:
            kept.note_client(number, read.client)
            kept.note_results(0, {number: read.filed})
            reply = {"row": read.row, "client": read.client, "place": read.place}
    except DebuggerError as error:
        reply = {"problem": error.message, "hint": error.hint}
    with suppress(OSError):
        answer(f"{json.dumps({'number': number, **reply})}\n")


Answer: TypeAlias = JSONObject


class ReadingProcess:
    """That process, from the proxy's side; it is started again where it ended."""

    def __init__(
        self,
        journal: WatchJournal,
        bounds: Bounds,
        target: Target | None,
        open_reader: OpenReader = Reader,
        begun: Callable[[], None] = lambda: None,
    ) -> None:
        self._journal = journal
        self._begun = begun
        self._start = b85encode(pickle.dumps((journal.path, bounds, target, open_reader))) + b"\n"
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: dict[int, asyncio.Future[Answer | None]] = {}
        self._starting = asyncio.Lock()
        self._answers: asyncio.Task[None] | None = None

    def take_number(self) -> int:
        """Return the number of an exchange that begins."""
        self._begun()
        return self._journal.take_number()

    async def warm_up(self) -> None:
        """Start it."""
        await self._running()

    async def keep(self, raw: Raw) -> Kept:
        """Have an exchange written down; from then on it outlives both processes.

        Raises:
            DebuggerError: It could not be written.
        """
        data = pickle.dumps(raw)
        reply = await self._asked(raw.number, b'{"number": %d, "bytes": %d}\n%s' % (raw.number, len(data), data))
        if reply is None or "problem" in reply:
            problem = {"problem": KILLED, "hint": ""} if reply is None else reply
            raise DebuggerError(str(problem["problem"]), str(problem["hint"]))
        n_calls = reply.get("n_calls")
        return Kept(n_calls if isinstance(n_calls, int) else None, self._journal.path)

    def leave_out(self, number: int, reason: str) -> None:
        """Have it noted that an exchange is not read; where the process has just ended, it waits in the journal."""
        process = self._process
        if process is not None and process.returncode is None and process.stdin is not None:
            process.stdin.write(f"{json.dumps({'number': number, 'unread': reason})}\n".encode("ascii"))

    async def read(self, number: int) -> Answer:
        """Have an exchange read, and return what was made of it; the result is in the journal by then."""
        return await self._asked(number, b'{"number": %d}\n' % number) or {"unread": KILLED}

    async def _asked(self, number: int, question: bytes) -> Answer | None:
        """Return the answer to a question about an exchange; `None` if the process crashed on it twice."""
        for _ in range(2):
            process = await self._running()
            answered: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
            self._waiting[number] = answered
            assert process.stdin is not None
            process.stdin.write(question)
            if (answer := await answered) is not None:
                return answer
        return None

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
                *(sys.executable, "-c", f"from {__name__} import main; main()"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=_MAX_LINE_BYTES,
                pass_fds=(self._journal.lock,),  # the file is not free before it has written all that it was given
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
            reply: Answer = json.loads(line)
            answered = self._waiting.pop(int(str(reply["number"])), None)
            if answered is not None and not answered.done():
                answered.set_result(reply)
        await process.wait()
        waiting, self._waiting = self._waiting, {}
        for answered in waiting.values():
            if not answered.done():
                answered.set_result(None)
