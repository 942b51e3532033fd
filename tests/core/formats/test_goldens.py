"""Golden cases: one folder per raw output, with what it is read as.

    tests/cases/<format>/<case>/raw.txt        the raw output, exact
                                context.json   tools, prompt tail, finish reason (optional)
                                parsed.json    reading and ledger

`make goldens` rewrites `parsed.json`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.formats import FORMATS, pick_format
from prompt_debugger.core.parse import build_ledger

CASES = Path(__file__).resolve().parents[2] / "cases"
FOLDERS = sorted(path.parent for path in CASES.glob("*/*/raw.txt") if path.parts[-3] in FORMATS)


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

    assert golden.exists(), f"run `make goldens`, which writes {folder.parent.name}/{folder.name}/parsed.json; read it"
    assert json.loads(golden.read_text(encoding="utf-8")) == json.loads(text)


def faults(cases):
    """Say what in the folder of cases is none that is read, and which format has no case."""
    found = []
    for folder in sorted(path for path in cases.iterdir() if path.is_dir()):
        if folder.name not in FORMATS:
            found.append(
                f"tests/cases/{folder.name}: no family has this name; core/formats/{folder.name}.py is not there"
            )
        for case in sorted(path for path in folder.iterdir() if path.is_dir()):
            if not (case / "raw.txt").is_file():
                found.append(f"tests/cases/{folder.name}/{case.name}: without raw.txt, the raw output, it is no case")
    without = sorted(name for name in FORMATS if not any((cases / name).glob("*/raw.txt")))
    return found + [f"{name} has no case: write tests/cases/{name}/CASE/raw.txt and `make goldens`" for name in without]


def test_every_folder_is_a_case_and_every_format_has_one():
    assert faults(CASES) == []


def test_a_folder_that_would_not_be_read_is_named(tmp_path):
    for name in FORMATS:
        (tmp_path / name / "case").mkdir(parents=True)
        (tmp_path / name / "case" / "raw.txt").touch()
    (tmp_path / "hermes" / "one-call").mkdir()
    (tmp_path / "hermes" / "one-call" / "raw.text").touch()
    (tmp_path / "nobody" / "case").mkdir(parents=True)
    (tmp_path / "nobody" / "case" / "raw.txt").touch()
    (tmp_path / "glm45" / "case" / "raw.txt").rename(tmp_path / "glm45" / "case" / "context.json")

    assert [fault.split(": ")[0] for fault in faults(tmp_path)] == [
        "tests/cases/glm45/case",
        "tests/cases/hermes/one-call",
        "tests/cases/nobody",
        "glm45 has no case",
    ]
