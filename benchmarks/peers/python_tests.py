# ruff: noqa: ANN401 - what a suite expects is any JSON value
"""Suites in Python that test vLLM's parsers: run, with a listener on the parsers (see `recorder`)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.peers.cases import PeerCase

_ROOT = Path(__file__).resolve().parents[2]
_PLACES = ("tool_parsers", "reasoning", "parser", "tool_use", "entrypoints/tool_parsers")
_MARKS_OF_REASONING = ("think", "thought", "reason", "analysis", "THINK", "response>", "inner_")


def read_python_tests(folder: Path, kept: Path | None = None) -> Iterator[PeerCase]:
    """Run the parser tests below `folder/tests` and yield what they gave to parsers, with the answers.

    Args:
        folder: The unpacked archive.
        kept: Where to keep what was heard; if it is there, nothing is run again.
    """
    if kept is None or not kept.is_file():
        heard = _run(folder)
        if kept is not None:
            kept.write_text(heard, encoding="utf-8")
    else:
        heard = kept.read_text(encoding="utf-8")
    yield from cases_of(heard)


def cases_of(heard: str) -> Iterator[PeerCase]:
    """Yield the cases of what a listener wrote: one JSON object a line, with what a parser was given and answered."""
    yield from map(_case, map(json.loads, heard.splitlines()))


def _run(folder: Path) -> str:
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        (work / "tests").symlink_to((folder / "tests").resolve())
        record = work / "record.jsonl"
        record.touch()
        (work / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n", encoding="utf-8")
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([place, str(_ROOT)]),
            "PEER_RECORD": str(record),
            "HF_HUB_OFFLINE": "1",
        }
        for name in _PLACES:
            if (folder / "tests" / name).is_dir():
                subprocess.run(
                    [sys.executable, "-m", "pytest", "-q", "-p", "benchmarks.peers.recorder", "-p", "no:cacheprovider",
                     "-c", "pytest.ini", "--rootdir", place, "--confcutdir", f"{place}/tests/{name}",
                     "--continue-on-collection-errors", f"tests/{name}"],
                    cwd=place, env=environment, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )  # fmt: skip
        return record.read_text(encoding="utf-8")


def _case(heard: dict[str, Any]) -> PeerCase:
    calls = heard.get("calls")
    raw = heard["raw"]
    has_reasoning = "reasoning" in heard
    # A tool parser is given what the reasoning parser left, so its content says nothing where tags of reasoning occur.
    content_counts = has_reasoning or not any(mark in raw for mark in _MARKS_OF_REASONING)
    return PeerCase(
        heard["origin"],
        heard["family"],
        raw,
        tuple(heard["tools"]),
        calls=None if calls is None else tuple((name, _arguments(text)) for name, text in calls),
        content=heard["content"] if content_counts else None,
        reasoning=heard.get("reasoning"),
    )


def _arguments(text: str) -> Any:
    try:
        return json.loads(text) if text else {}
    except ValueError:
        return text
