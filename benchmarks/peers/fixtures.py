"""Suites that keep their cases as JSON lines: raw output, tools, and the message that is right (canitoolcall)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.peers.cases import PeerCase


def read_fixtures(folder: Path) -> Iterator[PeerCase]:
    """Yield the cases of every `*.jsonl` with a `raw_output`; those without one right message only bound the calls."""
    for path in sorted(folder.rglob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if '"raw_output"' in line:
                yield _case(path, json.loads(line))


def _case(path: Path, fields: dict[str, Any]) -> PeerCase:
    expected = fields.get("expected")
    common = {
        "origin": str(fields.get("id", path.name)),
        "family": str(fields.get("family", path.parent.name)),
        "raw": fields["raw_output"],
        "tools": tuple(fields.get("tools", ())),
        "prompt_tail": fields.get("generation_prompt") or "",
        "is_cut": "truncated" in fields.get("tags", ()),
    }
    if expected is None:
        return PeerCase(**common, n_calls=0)
    return PeerCase(
        **common,
        calls=tuple((call["name"], call["arguments"]) for call in expected["tool_calls"]),
        content=expected["content"] or "",
        reasoning=expected["reasoning_content"] or "",
    )
