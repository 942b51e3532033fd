"""The worked cases as they really ran on a lab, for where there is no lab (yet).

`scripts/record_worked_cases.py` runs them and writes one bundle each. A recording is
evidence: what the server was sent and what it answered. What is made of that (census,
ledger, findings, verdict) is worked out again by today's rules, so it cannot go stale.
"""

from __future__ import annotations

import gzip
import json
from datetime import date
from pathlib import Path
from typing import NamedTuple

from prompt_debugger.core.base.assets import assets_dir
from prompt_debugger.core.base.types import JSONObject, Trace
from prompt_debugger.core.pipeline.reading import apply_step, judge_outcomes, read_run
from prompt_debugger.core.report import read_bundle

FACTS_NAME = "recorded.json"


class Recording(NamedTuple):
    """A worked case that ran once: the run, judged by today's rules, and its day."""

    trace: Trace
    recorded_on: date


def recordings_dir() -> Path:
    """Return the folder of the recordings; it may not be there."""
    return assets_dir() / "recordings"


def pack_recording(bundle: str) -> bytes:
    """Return a bundle as it is stored; equal bundles give equal bytes."""
    return gzip.compress(bundle.encode("utf-8"), 9, mtime=0)


def load_recording(case: str, folder: Path | None = None) -> Recording | None:
    """Return the recorded run of a worked case, `None` if there is none.

    Raises:
        RequestError: The file is not one that this program reads: it was not recorded again after a change of the form.
    """
    folder = folder or recordings_dir()
    try:
        bundle = gzip.decompress((folder / f"{case}.json.gz").read_bytes()).decode("utf-8")
        facts: JSONObject = json.loads((folder / FACTS_NAME).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return Recording(judge_again(read_bundle(bundle).trace), date.fromisoformat(str(facts["recorded_on"])))


def judge_again(trace: Trace) -> Trace:
    """Return a run of this program, read and judged by today's rules; what other parsers made of it is kept."""
    outcomes = {} if trace.parse is None else dict(trace.parse.parsers)
    special = frozenset[str]() if trace.vocabulary is None else frozenset(trace.vocabulary.special.values())
    for step in read_run(trace, special):
        trace = apply_step(trace, step)
    if not outcomes or trace.parse is None:
        return trace
    for found in judge_outcomes(trace, outcomes):
        trace = apply_step(trace, found)
    return trace
