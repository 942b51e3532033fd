"""The figures of `docs/benchmarks.md`: what this machine does, each beside something measured in the same run.

    python -m benchmarks.figures [--output docs/benchmarks.json]

Seconds say little about another machine, or about this one while others use it. So every figure is the best
of some tries in processor time, and has a ratio: to the way it was done before or is done without the trick,
or, for growth, to half of the input (2 is linear, 4 is quadratic). `scripts/benchmark_page.py` makes the page
and the curves of it.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from benchmarks.bulk import case_line
from benchmarks.page import UP_S, measure_start
from benchmarks.parsers import all_parsers_s, raw_output
from benchmarks.render import tools
from benchmarks.scan import HOSTILE
from benchmarks.verify_reading import measure as measure_row
from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import Completion, Request, Trace
from prompt_debugger.core.diagnose import RULES, diagnose_trace
from prompt_debugger.core.formats import FORMATS, read_scored, score_formats
from prompt_debugger.core.parse import build_ledger
from prompt_debugger.core.parse.engines import VllmEngine
from prompt_debugger.core.pipeline.census import read_raw
from prompt_debugger.core.render import load_tokenizer
from prompt_debugger.core.render.job import RenderJob
from prompt_debugger.core.render.local import tokens_of
from prompt_debugger.core.render.worker import shared_worker
from prompt_debugger.core.report.wire import write_json
from prompt_debugger.core.tools.lab import packaged_model_dir
from prompt_debugger.ui.cli.case_lines import answer_line
from prompt_debugger.ui.cli.parse import open_parser

ROOT = Path(__file__).resolve().parents[1]
TRIES = 7
BATCH = 16  # so few that a try fits between two turns of the processor
IMPORT_PLAIN = "import gradio"
IMPORT_OURS = "from prompt_debugger.ui.web.start_gradio import start_gradio; start_gradio()"
CONTEXT = ReadContext(finish_reason="stop")


class Figure(NamedTuple):
    """One row of the table: what, how much of it in which unit, and how that compares with what."""

    what: str
    value: float
    unit: str
    ratio: float
    to: str


class Curve(NamedTuple):
    """Seconds of processor time by size of the input, in characters."""

    what: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]


def best_s(work: Callable[[], object], tries: int = TRIES) -> float:
    """Return the least processor time of some tries."""
    found = []
    for _ in range(tries):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


def measure() -> list[Figure]:
    """Return every figure."""
    return [
        bulk_parse(),
        detection(),
        rules_on_a_line(),
        tokens_of_a_prompt(),
        page_up(),
        start_of_the_page(),
        row_of_verify(),
        *parsers(),
    ]


def bulk_parse() -> Figure:
    """`parse --cases` on one core, from bytes to bytes; beside it, JSON in and out alone."""
    lines = [case_line(index).rstrip() for index in range(BATCH)]
    with open_parser({"format": "auto", "prompt_tail": ""}) as answer:

        def whole() -> list[str]:
            return [answer_line(line, number, answer).text for number, line in enumerate(lines, 1)]

        documents = [json.loads(text) for text in whole()]
        taken = best_s(whole, 20 * TRIES)
        codec = best_s(lambda: [write_json(document) for document in documents if json.loads(lines[0])], 20 * TRIES)
    return Figure("bulk parse on one core", BATCH / taken, "lines/s", taken / codec, "its JSON in and out")


def detection() -> Figure:
    """Scores of all families for one output; beside it, asking each family by itself."""
    raws = [json.loads(case_line(index))["raw"] for index in range(BATCH)]
    once = best_s(lambda: [score_formats(raw, CONTEXT) for raw in raws])
    each = best_s(lambda: [[one.match(raw, CONTEXT) for one in FORMATS.values()] for raw in raws])
    what = f"telling {len(FORMATS)} families apart"
    return Figure(what, once / BATCH * 1e6, "µs an output", once / each, "asking one family after the other")


def rules_on_a_line() -> Figure:
    """The diagnosis of a raw output alone; beside it, every rule asked whether or not it can say anything."""
    raw = json.loads(case_line(0))["raw"]
    trace = Trace(Request(body={}, text=""), raw=Completion(raw, None, "stop"))
    trace = replace(trace, parse=read_raw(raw, CONTEXT, message=None))
    asked = best_s(lambda: [diagnose_trace(trace) for _ in range(BATCH)])
    every = best_s(lambda: [[list(rule.check(trace)) for rule in RULES.values()] for _ in range(BATCH)])
    return Figure(
        "rules on a raw output alone", asked / BATCH * 1e6, "µs an output", asked / every, "asking every rule"
    )


def tokens_of_a_prompt() -> Figure:
    """A prompt of many tools as tokens with their origins, ready to be drawn; beside it, its ids alone."""
    template = (ROOT / "assets" / "lab-model" / "chat_template.jinja").read_text(encoding="utf-8")
    tokenizer = load_tokenizer(packaged_model_dir())
    outcome = shared_worker().render(RenderJob(template, tools(376_000)))
    made = best_s(lambda: tokens_of(outcome.text, outcome.spans, tokenizer), 3)
    ids = best_s(lambda: tokenizer.encode(outcome.text), 3)
    count = len(tokenizer.encode(outcome.text))
    return Figure(f"origins of {count:,} tokens", made * 1e3, "ms", made / ids, "their ids alone")


def page_up() -> Figure:
    """From the command to the page's first answer, by the clock, the best of three; beside it, what is promised."""
    up_s = min(measure_start().up_s for _ in range(3))
    return Figure("page up, by the clock", up_s, "s", up_s / UP_S, f"the {UP_S} s that are promised")


def row_of_verify() -> Figure:
    """Reading one answer of `verify`, in all its processes; beside it, JSON in and out of what is kept of a row."""
    cost = measure_row(300)
    whole = cost.own + cost.sandboxes
    return Figure("reading a row of verify", whole, "ms", whole / cost.codec, "its JSON in and out")


def parsers() -> list[Figure]:
    """Every tool parser of vLLM on a long output, whole and with streaming; none where vLLM is not installed."""
    engine = VllmEngine()
    try:
        count = len(engine.wait(engine.parsers()).tool_parsers)
    except EngineError:
        return []
    half, whole = raw_output(10, 1_000), raw_output(20, 2_000)
    found = []
    for streaming, what in ((False, "the whole"), (True, "and in nine chunkings")):
        most, least = (all_parsers_s(engine, raw, streaming=streaming) for raw in (whole, half))
        what = f"{count} parsers of vLLM, {len(whole):,} characters, {what}"
        found.append(Figure(what, most, "s", most / least, f"{len(half):,} characters"))
    engine.close()
    return found


def start_of_the_page() -> Figure:
    """Gradio's import as the page makes it; beside it, `import gradio`."""
    ours = min(_import_s(IMPORT_OURS) for _ in range(3))
    plain = min(_import_s(IMPORT_PLAIN) for _ in range(3))
    return Figure("gradio's import", ours, "s", ours / plain, "`import gradio`")


def _import_s(code: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def curves() -> list[Curve]:
    """Return how the time of reading and of accounting grows with the text."""
    sizes = tuple(4_000 << step for step in range(6))
    made = {
        "prose, detected and read": lambda size: _read("The quick brown fox jumps over it.\n" * (size // 35)),
        "calls, detected and read": lambda size: _read(json.loads(case_line(0))["raw"] * (size // 170)),
        "openers without end": lambda size: _read(HOSTILE["openers"] * (size // len(HOSTILE["openers"]))),
        "strings without end": lambda size: _read(HOSTILE["unclosed strings"] * (size // 14)),
        "ledger of a changed answer": _account,
    }
    return [Curve(what, sizes, tuple(best_s(run(size), 3) for size in sizes)) for what, run in made.items()]


def _read(raw: str) -> Callable[[], object]:
    return lambda: read_scored(raw, CONTEXT)


def _account(size: int) -> Callable[[], object]:
    chance = random.Random(1)
    words = [f"word{chance.randrange(5000)} " for _ in range(size // 9)]
    raw, shown = "".join(words), "".join("other " if index % 97 == 0 else word for index, word in enumerate(words))
    parsed = FORMATS["generic"].read(raw, ReadContext())
    return lambda: build_ledger(raw, parsed, {"content": shown})


def machine() -> dict[str, str]:
    """Say on what the figures were measured, and beside how much else."""
    models = [line for line in _cpu_lines() if line.startswith("model name")]
    name = models[0].partition(":")[2].strip() if models else platform.processor() or platform.machine()
    return {
        "processor": f"{name}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "system": platform.system(),
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def _cpu_lines() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def main() -> None:
    """Measure, and write it all as JSON."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--output", type=Path, default=ROOT / "docs" / "benchmarks.json")
    output = arguments.parse_args().output
    document = {
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "machine": machine(),
        "figures": [figure._asdict() for figure in measure()],
        "curves": [curve._asdict() for curve in curves()],
    }
    output.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"written: {output}")


if __name__ == "__main__":
    main()
