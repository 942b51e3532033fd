"""The three faults of the Kimi K2 report, one by one and all in one request, proved and fixed on the lab.

    python scripts/fix_lab.py             run the experiments on the lab; write the record and the tables
    python scripts/fix_lab.py --table     write the tables anew from the record
    python scripts/fix_lab.py --check     run nothing; fail if the tables are not those of the record

Experiments and fixes are those of `run --experiments`. The record is docs/fix-lab.json, the page docs/fix-a-run.md.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from prompt_debugger.core import pipeline  # noqa: E402
from prompt_debugger.core.base.types import Trace  # noqa: E402
from prompt_debugger.core.pipeline import Target  # noqa: E402
from prompt_debugger.core.request import read_request  # noqa: E402
from prompt_debugger.core.tools.fixes.try_fixes import Experiment, run_experiments, tried_fixes  # noqa: E402
from prompt_debugger.core.tools.lab import LabPool  # noqa: E402  # the checkout must be on the path first

RECORD = ROOT / "docs" / "fix-lab.json"
PAGE = ROOT / "docs" / "fix-a-run.md"
BEGIN, END = "<!-- tables of the three faults -->", "<!-- end of the tables -->"
Body = dict[str, Any]

_TOOL_NAMES = (("get_weather", "city"), ("search", "query"))
GENERATION_PROMPT, CONTENT, IDS = "no generation prompt", "empty content", "ids without a number"
ALL = "all three"


def _tool(name: str, argument: str) -> Body:
    parameters = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    return {"type": "function", "function": {"name": name, "description": f"A {argument}.", "parameters": parameters}}


def _history(*, content: str | None = None, call_id: str = "functions.search:0") -> list[Body]:
    call = {
        "id": call_id,
        "type": "function",
        "function": {"name": "search", "arguments": '{"query": "gradio"}'},
    }
    return [
        {"role": "user", "content": "Search for gradio"},
        {"role": "assistant", "content": content, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": "3 results"},
    ]


def _request(history: list[Body], **fields: object) -> Body:
    messages = [
        {"role": "system", "content": "You are a helpful assistant"},
        *history,
        {"role": "user", "content": "What's the weather in Paris?"},
    ]
    tools = [_tool(*one) for one in _TOOL_NAMES]
    return {"model": "lab-model", "temperature": 0, "messages": messages, "tools": tools, "max_tokens": 128} | fields


REQUESTS: dict[str, Body] = {
    GENERATION_PROMPT: _request([], add_generation_prompt=False),
    CONTENT: _request(_history(content="")),
    IDS: _request(_history(call_id="search")),
    ALL: _request(_history(content="", call_id="search"), add_generation_prompt=False),
}
# The finding that names each fault, and the finding whose fix removes it.
CAUSES = {GENERATION_PROMPT: "PD203", CONTENT: "PD205", IDS: "PD104"}


async def experiments_on(body: Body, labs: LabPool, target: Target | None = None) -> tuple[Trace, list[Experiment]]:
    """Run a request on the lab, and then its experiments."""
    target = target or Target()
    trace = await pipeline.run(read_request(json.dumps(body)), target, labs)
    return trace, [one async for one in run_experiments(trace, target, labs)]


async def measure() -> Body:
    """Return what the tables need."""
    labs = LabPool()
    record: Body = {}
    try:
        for name, body in REQUESTS.items():
            trace, experiments = await experiments_on(body, labs)
            fixes = tried_fixes(trace, experiments)
            record[name] = {
                "experiments": [one.to_json(experiments[0]) for one in experiments],
                "fixes": {one.name: one.worked for fix in fixes.values() for one in fix.each},
            }
    finally:
        labs.stop_all()
    return record


def returned_fault_by_fault(record: Body) -> list[tuple[str, int, int]]:
    """Return calls written and returned by all requests together: as they are, and as one fault after another goes."""
    last = {name: record[name]["experiments"] for name in record}
    rows = []
    for fixed in range(len(CAUSES) + 1):
        gone = list(CAUSES)[:fixed]
        shown = [last[name][1 if name in gone else 0] for name in CAUSES] + [_of_all(last[ALL], fixed)]
        title = f"+ {gone[-1]} fixed" if gone else "as they are"
        rows.append((title, sum(one["written"] for one in shown), sum(one["returned"] for one in shown)))
    return rows


def _of_all(experiments: list[Body], fixed: int) -> Body:
    """Return the row of the request with all faults in which the first ones are fixed."""
    if fixed < 2:
        return experiments[fixed]
    return next(one for one in experiments if one["name"] == f"the first {fixed} changes together")


def tables_of(record: Body) -> str:
    """Return the tables of the page."""
    count = len(record)
    lines = [f"| {count} requests, one call asked of each | calls written | calls returned |", "|---|--:|--:|"]
    lines += [f"| {name} | {written} | **{got}** |" for name, written, got in returned_fault_by_fault(record)]
    lines += [
        "",
        "| request | variant | for | written | returned | dropped | valid | finding gone |",
        "|---|---|---|--:|--:|--:|--:|---|",
    ]
    for name, one in record.items():
        for row in one["experiments"]:
            worked = {True: "yes", False: "no", None: ""}[one["fixes"].get(row["name"])]
            counts = " | ".join(str(row[key]) for key in ("written", "returned", "dropped", "valid"))
            lines.append(f"| {name} | {row['name']} | {row['finding'] or ''} | {counts} | {worked} |")
    return "\n".join(lines)


def page_of(record: Body) -> str:
    """Return the text of the page with the record's tables in it."""
    head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    return f"{head}{BEGIN}\n{tables_of(record)}\n{END}{rest.partition(END)[2]}"


def main() -> int:
    """Write, run or check."""
    if "--check" in sys.argv:
        return int(page_of(json.loads(RECORD.read_text("utf-8"))) != PAGE.read_text("utf-8"))
    if "--table" not in sys.argv:
        RECORD.write_text(json.dumps(asyncio.run(measure()), indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page_of(json.loads(RECORD.read_text("utf-8"))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
