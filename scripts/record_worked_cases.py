"""Run the worked cases on real labs and store the runs in assets/recordings, for pages that have no lab (yet).

    python scripts/record_worked_cases.py            # all, about two minutes on two cores
    python scripts/record_worked_cases.py healthy-call

Each file is a bundle as `run --report` writes it, compressed. The port that the lab happened to get is made neutral;
nothing else is touched.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.parse.engines import VllmEngine
from prompt_debugger.core.pipeline import EXAMPLE_NAMES, Example, Target, ask_parsers, find_example
from prompt_debugger.core.pipeline.recordings import FACTS_NAME, pack_recording, recordings_dir
from prompt_debugger.core.report import write_bundle
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.lab import LabPool  # the checkout comes first on the path
from prompt_debugger.ui.report import mask_trace

NEUTRAL_URL = "http://127.0.0.1:8000/v1"


def main() -> None:
    """Record what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="worked cases (default: all)")
    parser.add_argument("--into", type=Path, default=recordings_dir(), metavar="DIR")
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    asyncio.run(_record([find_example(name) for name in options.names or EXAMPLE_NAMES], options.into))
    facts = {"recorded_on": datetime.now(UTC).date().isoformat()}
    (options.into / FACTS_NAME).write_text(json.dumps(facts) + "\n", encoding="utf-8")


async def _record(examples: list[Example], folder: Path) -> None:
    """Run the cases, those that share a lab one after the other, and write a file each."""
    labs, engine = LabPool(), VllmEngine()
    try:
        for example in sorted(examples, key=lambda example: str(example.lab)):
            trace = await pipeline.run(read_request(example.request_text), Target(lab=example.lab), labs)
            trace = await ask_parsers(trace, engine, example.lab.model_dir)
            stored = pack_recording(write_bundle(mask_trace(_neutral(trace))))
            (folder / f"{example.name}.json.gz").write_bytes(stored)
            print(f"{example.name}: {len(stored):,} bytes. {trace.verdict.sentence if trace.verdict else ''}")
    finally:
        await asyncio.to_thread(labs.stop_all)
        await asyncio.to_thread(engine.close)


def _neutral(trace: Trace) -> Trace:
    assert trace.server is not None
    return replace(trace, server=replace(trace.server, base_url=NEUTRAL_URL))


if __name__ == "__main__":
    main()
