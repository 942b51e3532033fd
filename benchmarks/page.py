"""The page and a run, as a person meets them: start, memory, and from Run to verdict on the lab.

The bounds that the project promises stand beside the figures. They are for an idle machine of
2 cores; on a busy one read the ratio of wall to CPU seconds first.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import NamedTuple

import psutil

from prompt_debugger.core import pipeline
from prompt_debugger.core.pipeline import Target, find_example
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.lab import LabPool

ROOT = Path(__file__).resolve().parents[1]
RUNS = 5
UP_S = 4


def main() -> None:
    """Print one line per figure."""
    start_page()
    asyncio.run(run_cases())


class PageStart(NamedTuple):
    """How the page came up without a lab.

    Attributes:
        up_s: Seconds from the command to its first answer.
        own_s, others_s: Processor time by then and two seconds of rest, its own and that of its processes.
        memory_mb: Of both.
    """

    up_s: float
    own_s: float
    others_s: float
    memory_mb: float


def start_page() -> None:
    """Print how the page came up."""
    load = psutil.getloadavg()[0]
    page = measure_start()
    used = f"{page.own_s:.1f} s CPU, {page.others_s:.1f} s of its processes"
    print(f"page up              {page.up_s:6.1f} s wall, {used}, load {load:.1f}   (promised: {UP_S} s)")
    print(f"page memory          {page.memory_mb:6.0f} MB   (promised: under 400 MB)")


def measure_start() -> PageStart:
    """Start the page without a lab, ask it, and end it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    began = time.monotonic()
    page = subprocess.Popen(
        [sys.executable, "app.py", "--no-lab", "--endpoint", "http://127.0.0.1:9/v1", "--port", str(port)], cwd=ROOT
    )
    try:
        while not _answers(f"http://127.0.0.1:{port}/"):
            time.sleep(0.05)
        up_s = time.monotonic() - began
        time.sleep(2)
        process = psutil.Process(page.pid)
        own_s, others_s = _cpu_s(process), sum(_cpu_s(child) for child in process.children(recursive=True))
        return PageStart(up_s, own_s, others_s, _memory_mb(process))
    finally:
        page.terminate()
        page.wait()


async def run_cases() -> None:
    """Boot a lab, run a healthy and a faulty case, median of a few."""
    labs = LabPool()
    try:
        began = time.monotonic()
        lab = await labs.get(find_example("healthy-call").lab)
        memory = 0.0 if lab.pid is None else _memory_mb(psutil.Process(lab.pid))
        print(f"lab boot             {time.monotonic() - began:6.1f} s   (promised: 20 s)")
        print(f"lab memory           {memory:6.0f} MB   (promised: 1,300 MB)")
        for name in ("healthy-call", "dropped-call", "polluted-content"):
            example = find_example(name)
            times = []
            for _ in range(RUNS):
                began = time.monotonic()
                await pipeline.run(read_request(example.request_text), Target(lab=example.lab), labs)
                times.append(time.monotonic() - began)
            median = sorted(times)[RUNS // 2]
            print(f"Run to verdict       {median:6.2f} s median, {times[0]:.2f} s first, {name}   (promised: 3 s)")
    finally:
        labs.stop_all()


def _cpu_s(process: psutil.Process) -> float:
    """Return the processor time that a process used so far."""
    used = process.cpu_times()
    return float(used.user + used.system)


def _memory_mb(process: psutil.Process) -> float:
    """Return the proportional set size of a process and its children, in MB."""
    family = [process, *process.children(recursive=True)]
    return float(sum(member.memory_full_info().pss for member in family)) / 1e6


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1):
            return True
    except (urllib.error.URLError, OSError):
        return False


if __name__ == "__main__":
    main()
