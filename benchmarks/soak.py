"""Memory of `verify` and `parse --cases` over many rows: at a tenth of the time, at half of it and at the end.

    python -m benchmarks.soak [verify|parse] [--rows N] [--seconds N]

Claim: from the tenth on it does not grow with the rows. Each runs as its command does, in a process of its own;
`verify` against a server that answers each row at once with a tool call. `--seconds` interrupts `verify` then.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, NamedTuple

from benchmarks.bulk import ROOT, case_line, family, memory_mb
from benchmarks.verify import body, serve

GROWTH_LIMIT_MB = 24.0
_LOOK_S = 0.5


class Sample(NamedTuple):
    """Memory at one time, in MB.

    Attributes:
        at_s: Seconds since the start.
        own: Of the command's process.
        others: Of those that it started.
    """

    at_s: float
    own: float
    others: float


def watch(process: subprocess.Popen[bytes], seconds: float = math.inf) -> list[Sample]:
    """Look at the memory of a process and its children until it ends; interrupt it after so long."""
    began_s = time.monotonic()
    samples = []
    while process.poll() is None:
        if time.monotonic() - began_s > seconds:
            process.send_signal(signal.SIGINT)
            seconds = math.inf
        try:
            own, *others = (memory_mb(pid) for pid in family(process.pid))
        except (OSError, ValueError):  # one of them ended meanwhile
            continue
        samples.append(Sample(time.monotonic() - began_s, own, sum(others)))
        time.sleep(_LOOK_S)
    return samples


def soak_verify(rows: int, seconds: float = math.inf) -> tuple[int, list[Sample]]:
    """Verify so many rows, or as many as the time allows; returns how many."""
    ready: multiprocessing.Queue[int] = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(ready, 0.0), daemon=True)
    server.start()
    try:
        with tempfile.TemporaryDirectory() as name:
            dataset = Path(name) / "rows.jsonl"
            with dataset.open("w", encoding="utf-8") as file:
                file.writelines(json.dumps(body(index)) + "\n" for index in range(rows))
            url = f"http://127.0.0.1:{ready.get()}/v1"
            files = ("--output", f"{name}/results.jsonl", "--summary", f"{name}/summary.json", "--concurrency", "32")
            command = [sys.executable, "app.py", "verify", str(dataset), "--endpoint", url, *files]
            with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                samples = watch(process, seconds)
            with Path(f"{name}/results.jsonl").open("rb") as file:
                written = sum(1 for _ in file)
            assert written == rows or seconds < math.inf, f"{written} rows were written"
            return written, samples
    finally:
        server.terminate()


def soak_parse(rows: int, _: float = math.inf) -> tuple[int, list[Sample]]:
    """Parse so many lines; returns how many."""

    def send(stream: IO[bytes]) -> None:
        for index in range(rows):
            stream.write(case_line(index))
        stream.close()

    command = [sys.executable, "app.py", "parse", "--cases", "-", "--jobs", "1"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        threading.Thread(target=send, args=(process.stdin,), daemon=True).start()
        return rows, watch(process)


def main() -> int:
    """Print the figures; returns 1 if the claim does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["verify", "parse"], help="which; both if none is named")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=math.inf)
    options = parser.parse_args()
    soaks = {"verify": soak_verify, "parse": soak_parse}
    grown = False
    for name in [options.what] if options.what else soaks:
        rows, samples = soaks[name](options.rows, options.seconds)
        tenth, half, end = (samples[round(part * (len(samples) - 1))] for part in (0.1, 0.5, 1.0))
        most = max(one.own + one.others for one in samples)
        print(
            f"{name}, {rows:,} rows in {end.at_s:,.0f} s, memory at a tenth, at half and at the end: "
            f"{tenth.own:.0f}, {half.own:.0f}, {end.own:.0f} MB itself, "
            f"{tenth.others:.0f}, {half.others:.0f}, {end.others:.0f} MB its helpers; {most:.0f} MB at most",
            flush=True,
        )
        growth = max(0.0, end.own - tenth.own) + max(0.0, end.others - tenth.others)
        grown = grown or growth > GROWTH_LIMIT_MB
    return int(grown)


if __name__ == "__main__":
    raise SystemExit(main())
