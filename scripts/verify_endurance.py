"""Many rows against a server that fails, stalls and is killed, by a `verify` that is killed, too: what is lost?

    server    a process of its own; refuses with 500 and 429, hangs up and stalls on some first questions; writes down
              every question and every answer that it gave away, in a file that outlives it
    verify    the command, in a process of its own
    we        kill either with SIGKILL at set shares of the answers, start it again, and compare what the
              server wrote down with the journal and with the results

Run as `python scripts/verify_endurance.py --rows 20000`; exits 1 if a row is lost, or asked again after its answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LATENCY_S = 0.02
LOOK_S = 0.05
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ANSWER = json.dumps({
    "choices": [{
        "index": 0, "finish_reason": "tool_calls",
        "message": {"role": "assistant", "content": None, "tool_calls": [CALL]},
    }],
    "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
}).encode()  # fmt: skip
# First questions of every nth row: one refused with 500, with 429, hung up on, left without an answer.
FAULTS = {"500": 41, "429": 53, "gone": 61}


@dataclass(frozen=True)
class Endurance:
    """What is done to them.

    Attributes:
        rows: Rows of the dataset.
        server_kills: How often the server is killed.
        verify_kills: How often `verify` is.
        concurrency: Questions at once.
        stall_every: Every nth row is left without an answer at first.
        timeout_s: After which `verify` gives up waiting for one.
        limit_s: After which the whole is.
    """

    rows: int = 20_000
    server_kills: int = 5
    verify_kills: int = 2
    concurrency: int = 64
    stall_every: int = 1997
    timeout_s: float = 20.0
    limit_s: float = 7200.0


@dataclass
class Report:
    """What came out.

    Attributes:
        concurrency: Questions at once.
        rows: Rows of the results with an answer.
        failed: Rows without one.
        asked: Questions that the server saw.
        answered: Answers that it gave away.
        twice: Rows that it answered more than once.
        after_journal: Rows asked again though their answer was in the journal: there must be none.
        unexplained: Rows asked again after an answer, with nothing killed between: there must be none.
        kills: For each kill what was killed, and the rows answered twice because of it.
        memory_mb: Greatest memory of `verify`'s process by share of rows done, and its session.
        seconds: How long it took.
    """

    concurrency: int
    rows: int = 0
    failed: int = 0
    asked: int = 0
    answered: int = 0
    twice: int = 0
    after_journal: int = 0
    unexplained: int = 0
    kills: list[tuple[str, int]] = field(default_factory=list)
    memory_mb: list[tuple[int, int, int]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_sound(self) -> bool:
        """Whether nothing was lost, and nothing asked again but what was under way when something was killed."""
        were_under_way = all(count <= self.concurrency for _, count in self.kills)
        return were_under_way and not (self.failed or self.after_journal or self.unexplained)


class Server:
    """Answers, fails and stalls; every question and answer is one line of the log, written at once.

    Args:
        log: Where they are written down.
        stall_every: Every nth row is left without an answer at first.
    """

    def __init__(self, log: Path, stall_every: int) -> None:
        self.stall_every = stall_every
        self.seen = {row for what, row in read_log(log) if what == "asked"}
        self.file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    async def run(self, port: int) -> None:
        """Serve until killed."""
        server = await asyncio.start_server(self._handle, "127.0.0.1", port, backlog=1024)
        await server.serve_forever()

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower():
                lines = head.split("\r\n")
                length = next((int(line[15:]) for line in lines if line.startswith("content-length:")), 0)
                data = await reader.readexactly(length)
                if "/chat/completions" in lines[0]:
                    await self._answer(reader, writer, int(json.loads(data)["messages"][0]["content"]))
                else:
                    _write(writer, 200 if "/v1/models" in lines[0] else 404, b'{"data": [{"id": "m"}]}')
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, row: int) -> None:
        is_first = row not in self.seen
        self.seen.add(row)
        self._note("asked", row)
        if is_first and row % self.stall_every == 0:
            await reader.read()  # until the other side gives up
            raise ConnectionError
        await asyncio.sleep(LATENCY_S)
        if (is_first and row % FAULTS["gone"] == 0) or writer.is_closing() or reader.at_eof():
            raise ConnectionError
        status = next((int(name) for name in ("500", "429") if is_first and row % FAULTS[name] == 0), 200)
        _write(writer, status, ANSWER if status == 200 else b'{"error": {"message": "a planned fault"}}')
        if status == 200:
            self._note("answered", row)

    def _note(self, what: str, row: int) -> None:
        os.write(self.file, f"{what} {row}\n".encode())


def _write(writer: asyncio.StreamWriter, status: int, data: bytes) -> None:
    more = b"retry-after: 0\r\n" if status == 429 else b""
    writer.write(
        b"HTTP/1.1 %d X\r\ncontent-type: application/json\r\n%scontent-length: %d\r\n\r\n%s"
        % (status, more, len(data), data)
    )


def read_log(log: Path) -> Iterator[tuple[str, int]]:
    """Yield what happened, in order."""
    if log.exists():
        with log.open() as file:
            for line in file:
                what, _, row = line.partition(" ")
                yield what, int(row)


class Run:
    """The two processes and their files.

    Args:
        folder: Where the files lie.
        plan: What is done.
    """

    def __init__(self, folder: Path, plan: Endurance) -> None:
        self.folder, self.plan = folder, plan
        self.log = folder / "server.log"
        self.dataset = folder / "rows.jsonl"
        with self.dataset.open("w") as file:
            for row in range(1, plan.rows + 1):
                body = {"model": "m", "messages": [{"role": "user", "content": str(row)}], "tools": [TOOL]}
                file.write(json.dumps(body) + "\n")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.read_to = self.answered = 0
        self.report = Report(concurrency=plan.concurrency)
        self.killed: list[tuple[str, set[int]]] = []  # what, and the rows that the journal held
        self.server = self._start_server()
        self.verify = self._start_verify()

    def run(self) -> Report:
        """Kill and start again as planned, until all is done."""
        began = time.monotonic()
        try:
            for share, what in self._kills():
                self._wait_for(round(share * self.plan.rows), began)
                (self._kill_server if what == "server" else self._kill_verify)()
            while self.verify.poll() is None:
                self._look(began)
        finally:
            self.server.kill()
            self.verify.kill()
            self.server.wait()
            self.verify.wait()
        self.report.seconds = time.monotonic() - began
        self._compare()
        return self.report

    def _kills(self) -> list[tuple[float, str]]:
        plan = self.plan
        servers = [((i + 0.5) / plan.server_kills * 0.9, "server") for i in range(plan.server_kills)]
        return sorted(servers + [((i + 1) / (plan.verify_kills + 1), "verify") for i in range(plan.verify_kills)])

    def _start_server(self) -> subprocess.Popen[bytes]:
        own = [sys.executable, __file__, "--serve", str(self.port), "--log", str(self.log)]
        process = subprocess.Popen([*own, "--stall-every", str(self.plan.stall_every)])
        while process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1.0):
                return process
            time.sleep(LOOK_S)
        raise RuntimeError("the server did not start")

    def _start_verify(self) -> subprocess.Popen[bytes]:
        plan = self.plan
        command = [
            sys.executable, str(ROOT / "app.py"), "verify", str(self.dataset),
            "--endpoint", f"http://127.0.0.1:{self.port}/v1", "--output", str(self.folder / "results.jsonl"),
            "--summary", str(self.folder / "summary.json"), "--concurrency", str(plan.concurrency),
            "--timeout", str(plan.timeout_s), "--retries", "20", "--backoff", "0.05",
        ]  # fmt: skip
        output = (self.folder / "verify.log").open("ab")
        with output:
            return subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output)

    def _kill_server(self) -> None:
        self.server.kill()
        self.server.wait()
        self._mark("server", set())
        self.server = self._start_server()

    def _kill_verify(self) -> None:
        self.verify.send_signal(signal.SIGKILL)
        self.verify.wait()
        with closing(sqlite3.connect(self.folder / "results.sqlite")) as journal:
            held = journal.execute("SELECT data_index FROM rows WHERE state IN ('answered', 'done')").fetchall()
        self._mark("verify", {int(row) for (row,) in held})
        before = self.log.stat().st_size
        self.verify = self._start_verify()
        while self.log.stat().st_size == before and self.verify.poll() is None:
            time.sleep(LOOK_S)  # it asks before anything else is killed, or it would find no server

    def _mark(self, what: str, held: set[int]) -> None:
        with self.log.open("a") as file:
            file.write(f"killed {len(self.killed)}\n")
        self.killed.append((what, held))

    def _wait_for(self, answered: int, began: float) -> None:
        while self._count_answered() < answered:
            if self.verify.poll() is not None:
                raise RuntimeError(f"verify ended early: {(self.folder / 'verify.log').read_text()[-2000:]}")
            self._look(began)

    def _count_answered(self) -> int:
        with self.log.open("rb") as file:
            file.seek(self.read_to)
            updates = file.read()
        self.read_to += len(updates)
        self.answered += updates.count(b"answered")  # a line is written at once, so none is cut
        return self.answered

    def _look(self, began: float) -> None:
        """Wait a little, and see how much memory is used."""
        if time.monotonic() - began > self.plan.limit_s:
            raise RuntimeError("it takes too long")
        time.sleep(LOOK_S)
        try:
            status = Path(f"/proc/{self.verify.pid}/status").read_text()
        except OSError:
            return
        used = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")), 0) // 1024
        session = sum(what == "verify" for what, _ in self.killed)
        minute = int((time.monotonic() - began) // 30)
        samples = self.report.memory_mb
        if samples and samples[-1][:2] == (session, minute):
            used = max(used, samples.pop()[2])
        samples.append((session, minute, used))

    def _compare(self) -> None:
        """Hold what the server wrote down against results and journals."""
        report = self.report
        done = [json.loads(line) for line in (self.folder / "results.jsonl").open()]
        report.rows = sum(row["status"] == "success" for row in done)
        report.failed = self.plan.rows - report.rows
        answered_by: dict[int, int] = {}  # row: number of kills before its last answer
        again: dict[int, set[int]] = {}  # kill: rows that were answered before and asked after it, be it several times
        answers: dict[int, int] = {}
        kills = 0
        held: set[int] = set()
        for what, number in read_log(self.log):
            if what == "killed":
                kills += 1
                held |= self.killed[number][1]
            elif what == "asked":
                report.asked += 1
                report.after_journal += number in held
                if number in answered_by:
                    kill = answered_by[number]
                    report.unexplained += kill == kills
                    again.setdefault(kill, set()).add(number)
            else:
                report.answered += 1
                answers[number] = answers.get(number, 0) + 1
                answered_by[number] = kills
        report.twice = sum(count > 1 for count in answers.values())
        report.kills = [(what, len(again.get(index, ()))) for index, (what, _) in enumerate(self.killed)]


def run_endurance(folder: Path, plan: Endurance) -> Report:
    """Do it all in a folder, and return what came out."""
    return Run(folder, plan).run()


def main() -> int:
    """Print the figures; returns 1 if the claim does not hold."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--serve", type=int, metavar="PORT", help=argparse.SUPPRESS)
    parser.add_argument("--log", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--stall-every", type=int, default=Endurance.stall_every, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        asyncio.run(Server(options.log, options.stall_every).run(options.serve))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        report = run_endurance(Path(folder), Endurance(rows=options.rows, concurrency=options.concurrency))
    print(f"{report.rows} rows answered, {report.failed} not, in {report.seconds:.0f} s; {report.asked} questions")
    print(f"asked again though in the journal: {report.after_journal}; for no reason: {report.unexplained}")
    for what, count in report.kills:
        print(f"  {what} killed: {count} rows had been answered, and the answer had not been received")
    print("memory of verify in MB, each half minute: " + ", ".join(
        f"{used}" + (f" (session {session + 1})" if index == 0 or report.memory_mb[index - 1][0] != session else "")
        for index, (session, _, used) in enumerate(report.memory_mb)
    ))  # fmt: skip
    return 0 if report.is_sound else 1


if __name__ == "__main__":
    raise SystemExit(main())
