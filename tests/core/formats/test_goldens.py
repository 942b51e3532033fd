"""Golden cases: one folder per raw output, with what it is read as.

    tests/cases/<format>/<case>/raw.txt        the raw output, exact
                                context.json   tools, prompt tail, finish reason (optional)
                                parsed.json    reading and ledger

`pytest tests/core/formats/test_goldens.py --update-goldens` rewrites `parsed.json`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prompt_debugger.core.formats import FORMATS, pick_format
from prompt_debugger.core.parse import build_ledger
from prompt_debugger.core.protocols import ReadContext

CASES = Path(__file__).resolve().parents[2] / "cases"
FOLDERS = sorted(path.parent for path in CASES.glob("*/*/raw.txt"))


def reading(folder):
    raw = (folder / "raw.txt").read_bytes().decode()
    options = folder / "context.json"
    given = json.loads(options.read_text(encoding="utf-8")) if options.exists() else {}
    context = ReadContext(
        tools=tuple(given.get("tools", ())),
        prompt_tail=given.get("prompt_tail", ""),
        finish_reason=given.get("finish_reason"),
    )
    parsed = FORMATS[folder.parent.name].read(raw, context)
    ledger = build_ledger(raw, parsed, None)
    calls = [
        {
            "name": call.name,
            "id": call.id,
            "arguments": call.arguments,
            "arguments_json": call.arguments_json,
            "status": call.status,
            "place": call.place,
            "problem": call.problem,
            "text": raw[slice(*call.char_span)],
        }
        for call in parsed.calls
    ]
    return {
        "detected": pick_format(raw, context).name,
        "reasoning": parsed.reasoning,
        "content": parsed.content,
        "calls": calls,
        "ledger": [[entry.fate, entry.target, raw[slice(*entry.char_span)]] for entry in ledger.entries],
    }


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_a_case_is_read_as_its_golden_says(folder, update_goldens):
    text = json.dumps(reading(folder), ensure_ascii=False, indent=1) + "\n"
    golden = folder / "parsed.json"
    if update_goldens:
        golden.write_text(text, encoding="utf-8", newline="\n")

    assert golden.exists(), "no parsed.json: run pytest with --update-goldens"
    assert json.loads(golden.read_text(encoding="utf-8")) == json.loads(text)


def test_every_format_has_a_case():
    assert {folder.parent.name for folder in FOLDERS} >= set(FORMATS)
