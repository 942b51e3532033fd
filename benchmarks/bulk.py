"""`parse --cases`: lines per second with one process and with two, and the memory of each through the file.

Claims: with a second processor free, two processes read clearly more than one; memory does not grow with the file
(the second half of it adds nothing).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LINES = 16_000
MEMORY_GROWTH_LIMIT_MB = 8.0
TOOL = {
    "type": "function",
    "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
}


class Figures(NamedTuple):
    """What one pass took, and the memory of all its processes at half and at the end, in MB."""

    elapsed_s: float
    cpu_s: float
    half_mb: float
    end_mb: float


def case_line(index: int) -> bytes:
    """Return a case with one tool call, no two alike."""
    raw = (
        f"Let me look at {index}.<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
        f'<|tool_call_argument_begin|>{{"city": "Beijing {index}"}}<|tool_call_end|><|tool_calls_section_end|>'
    )
    return json.dumps({"id": index, "raw": raw, "tools": [TOOL]}).encode() + b"\n"


def measure(jobs: int, lines: int = LINES) -> Figures:
    """Send so many lines through `parse --cases -` and return the figures."""
    command = [sys.executable, "app.py", "parse", "--cases", "-", "--jobs", str(jobs)]
    before = os.times()
    began = time.perf_counter()
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        source = process.stdin

        def send() -> None:
            for index in range(lines):
                source.write(case_line(index))
            source.flush()

        threading.Thread(target=send, daemon=True).start()
        for _ in range(lines // 2):
            process.stdout.readline()
        half_mb = sum(memory_mb(pid) for pid in family(process.pid))
        for _ in range(lines - lines // 2):
            process.stdout.readline()
        elapsed_s = time.perf_counter() - began
        end_mb = sum(memory_mb(pid) for pid in family(process.pid))
        source.close()
    after = os.times()
    cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
    return Figures(elapsed_s, cpu_s, half_mb, end_mb)


def family(pid: int) -> Iterator[int]:
    """Yield a process and those that it started (Linux)."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text(encoding="ascii").split():
            yield from family(int(child))


def memory_mb(pid: int) -> float:
    """Return the proportional set size of a process (Linux)."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def main() -> int:
    """Print the figures; returns 1 if memory grows."""
    found = {}
    for jobs in (1, 2):
        figures = found[jobs] = measure(jobs)
        print(
            f"{jobs} process{'es' if jobs > 1 else '  '} {LINES:,} lines in {figures.elapsed_s:6.2f} s   "
            f"{LINES / figures.elapsed_s:7.0f} lines/s   {figures.cpu_s:6.2f} s of processor   "
            f"{figures.half_mb:5.0f} MB at half, {figures.end_mb:5.0f} MB at the end"
        )
    ratio = found[1].elapsed_s / found[2].elapsed_s
    print(
        f"two processes against one: {ratio:.2f} times as fast on {len(os.sched_getaffinity(0))} processors, load "
        f"{os.getloadavg()[0]:.1f} (above 2: others were at work, and the ratio says little)"
    )
    growth = max(figures.end_mb - figures.half_mb for figures in found.values())
    print(f"memory added by the second half: {growth:.1f} MB, claim: under {MEMORY_GROWTH_LIMIT_MB:.0f} MB")
    return int(growth > MEMORY_GROWTH_LIMIT_MB)


if __name__ == "__main__":
    sys.exit(main())
