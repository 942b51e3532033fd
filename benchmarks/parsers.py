"""Offline parsers: start of the helper, one output with every parser, streaming in all chunkings, memory.

Older releases are measured where they were fetched before (`python -m prompt_debugger.core.parse.engines 0.11.0`).

Claims: the helper is warm within seconds and stays under 700 MB; the matrix of
all tool parsers is answered in well under a tenth of a second for a short output,
and in half a second for one of 12,000 characters. With streaming each parser reads
the output in nine chunkings, a few parsers at a time as the page asks them; what
that takes is the parsers' own time, and some of them are not linear.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.parse.engines import RawOutput, VllmEngine, find_release
from prompt_debugger.core.pipeline.parsers import PARSERS_PER_STEP

MODEL_DIR = Path(__file__).resolve().parents[1] / "assets" / "lab-model"
MEMORY_LIMIT_MB = 700
ROUNDS = 20
OLDER = ("0.11.0", "0.17.0", "0.26.0")
CALL = (
    "<|tool_call_begin|>functions.get_weather:{index}<|tool_call_argument_begin|>"
    '{{"city": "Beijing", "days": {index}}}<|tool_call_end|>'
)
TOOL: JSONObject = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}


def raw_output(calls: int, words: int) -> str:
    """Return an output in the Kimi K2 format."""
    section = "".join(CALL.format(index=index) for index in range(calls))
    return "word " * words + f"<|tool_calls_section_begin|>{section}<|tool_calls_section_end|><|im_end|>"


def median_s(job: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the median time of a job, in seconds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        job()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def memory_mb(pid: int) -> float:
    """Return the proportional set size of a process (Linux)."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def processor_s(pid: int) -> float:
    """Return the processor time of a process so far (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def all_parsers_s(engine: VllmEngine, raw: str, *, streaming: bool) -> float:
    """Return the processor time that every tool parser takes for an output, asked a few at a time as the page does."""
    names = [f"vllm:{name}" for name in engine.wait(engine.parsers()).tool_parsers]
    began = processor_s(engine.pids[0])
    for start in range(0, len(names), PARSERS_PER_STEP):
        few, output = names[start : start + PARSERS_PER_STEP], RawOutput(raw, tools=(TOOL,), tokenizer=MODEL_DIR)
        engine.wait(engine.parse_with(few, output, streaming=streaming))
    return processor_s(engine.pids[0]) - began


def measure_release(version: str) -> None:
    """Print the figures of an older release, if it is there."""
    folder = find_release(version)
    if folder is None:
        print(f"vLLM {version}: not in the cache")
        return
    engine, raw = VllmEngine(overlay=[folder]), raw_output(1, 5)
    began = time.perf_counter()
    layer = engine.wait(engine.parsers()).layer
    started_s = time.perf_counter() - began
    one_s = median_s(
        lambda: engine.wait(engine.parse_with(["vllm:kimi_k2"], RawOutput(raw, tools=(TOOL,), tokenizer=MODEL_DIR)))
    )
    figures = (
        f"start {started_s:6.2f} s   kimi_k2 {one_s * 1e3:7.1f} ms with streaming   {memory_mb(engine.pids[0]):4.0f} MB"
    )
    print(f"vLLM {version} ({layer})   {figures}")
    engine.close()


def main() -> int:
    """Print the figures; returns 1 if the memory claim does not hold."""
    engine = VllmEngine()
    began = time.perf_counter()
    parsers = engine.wait(engine.parsers())
    counts = f"{len(parsers.tool_parsers)} tool parsers, {len(parsers.reasoning_parsers)} reasoning parsers"
    print(f"start of the helper         {time.perf_counter() - began:8.2f} s   vLLM {parsers.version}, {counts}")
    for title, raw in (("short output", raw_output(1, 5)), ("long output", raw_output(20, 2_000))):

        def matrix(raw: str = raw) -> object:
            return engine.wait(engine.matrix(RawOutput(raw, tools=(TOOL,), tokenizer=MODEL_DIR)))

        def one(raw: str = raw) -> object:
            return engine.wait(engine.parse_with(["vllm:kimi_k2"], RawOutput(raw, tools=(TOOL,), tokenizer=MODEL_DIR)))

        began = time.perf_counter()
        matrix()
        print(f"{title}: first matrix  {time.perf_counter() - began:8.3f} s   {len(raw):,} characters")
        print(f"{title}: matrix        {median_s(matrix) * 1e3:8.1f} ms  median of {ROUNDS}")
        print(f"{title}: kimi_k2       {median_s(one) * 1e3:8.1f} ms  with streaming in all chunkings")
    before = 0.0
    for calls, words in ((5, 500), (10, 1_000), (20, 2_000)):
        raw = raw_output(calls, words)
        taken = all_parsers_s(engine, raw, streaming=True)
        growth = f"   {taken / before:.1f} times that of half of it" if before else ""
        print(f"all with streaming          {taken:8.2f} s of processor   {len(raw):,} characters{growth}")
        before = taken
    memory = memory_mb(engine.pids[0])
    print(f"memory of the helper        {memory:8.0f} MB  proportional set size, claim: under {MEMORY_LIMIT_MB} MB")
    engine.close()
    for version in OLDER:
        measure_release(version)
    return int(memory > MEMORY_LIMIT_MB)


if __name__ == "__main__":
    sys.exit(main())
