"""The dataset of the lab, with three faults latent in it, and what fixing them one by one brings.

    python scripts/verify_lab.py --dataset     write assets/datasets/lab.jsonl
    python scripts/verify_lab.py               run it on a lab as it is and after each fix; write table and plot
    python scripts/verify_lab.py --table       write table and plot anew from the record
    python scripts/verify_lab.py --check       run nothing; fail if dataset, table or plot is not what it should be

The faults are those of the published report on Kimi K2 (vLLM's blog, 2025-10-28): a prompt without its generation
prompt, an empty content that the server prints into the prompt, and ids in the history that make the model write
calls which the parser drops. The record is docs/verify-lab.json.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from prompt_debugger.core.base.types import JSONObject  # noqa: E402
from prompt_debugger.core.pipeline import Target  # noqa: E402
from prompt_debugger.core.tools.lab import LabPool  # noqa: E402  # the checkout must be on the path first
from prompt_debugger.core.tools.verify import About, Journal, Plan, Tally, summary_of, verify  # noqa: E402

DATASET = ROOT / "assets" / "datasets" / "lab.jsonl"
RECORD = ROOT / "docs" / "verify-lab.json"
PLOT = ROOT / "docs" / "verify-lab.svg"
PAGE = ROOT / "docs" / "verify.md"
README = ROOT / "README.md"
BEGIN, END = "<!-- table of the lab -->", "<!-- end of the table -->"

_CITIES = (
    "Paris",
    "Rome",
    "Oslo",
    "Berlin",
    "Madrid",
    "Lisbon",
    "Vienna",
    "Prague",
    "Dublin",
    "Athens",
    "Cairo",
    "Tokyo",
)
_TOPICS = ("gradio", "python", "templates", "tokens", "parsers", "weather")
_GREETINGS = ("Hello", "Hi", "Good morning", "Thank you", "Thanks")
_ROWS_BY_KIND = {
    "single": 72, "parallel": 36, "multi-turn": 36, "prose": 36,
    "no generation prompt": 48, "empty content": 48, "ids without a number": 48, "both": 12,
}  # fmt: skip
Body = dict[str, Any]


def make_rows() -> list[Body]:
    """Return the requests of the dataset, the same every time."""
    rng = random.Random(20_251_028)
    rows = [_MAKERS[kind](rng) for kind, count in _ROWS_BY_KIND.items() for _ in range(count)]
    rng.shuffle(rows)
    return rows


def _tool(name: str, description: str, argument: str) -> Body:
    parameters = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


_TOOLS = [_tool("get_weather", "Get the weather of a city.", "city"), _tool("search", "Search the web.", "query")]


def _request(*messages: Body, **fields: object) -> Body:
    system = {"role": "system", "content": "You are a helpful assistant"}
    return {
        "model": "lab-model",
        "temperature": 0,
        "messages": [system, *messages],
        "tools": _TOOLS,
        "max_tokens": 128,
    } | fields


def _user(text: str) -> Body:
    return {"role": "user", "content": text}


def _question(rng: random.Random) -> Body:
    return _user(f"What's the weather in {rng.choice(_CITIES)}?")


def _parallel(rng: random.Random) -> Body:
    first, second = rng.sample(_CITIES, 2)
    return _request(_user(f"What's the weather in {first} and {second}?"), max_tokens=192)


def _history(rng: random.Random, *, content: str | None = None, call_id: str = "functions.search:0") -> list[Body]:
    topic = rng.choice(_TOPICS)
    function = {"name": "search", "arguments": json.dumps({"query": topic})}
    return [
        _user(f"Search for {topic}"),
        {
            "role": "assistant",
            "content": content,
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": call_id, "content": f"{rng.randint(1, 9)} results"},
    ]


def _prose(rng: random.Random) -> Body:
    body = _request(_user(rng.choice(_GREETINGS)))
    del body["tools"]
    return body


_MAKERS: dict[str, Callable[[random.Random], Body]] = {
    "single": lambda rng: _request(_question(rng)),
    "parallel": _parallel,
    "multi-turn": lambda rng: _request(*_history(rng), _question(rng)),
    "prose": _prose,
    "no generation prompt": lambda rng: _request(_question(rng), add_generation_prompt=False),
    "empty content": lambda rng: _request(*_history(rng, content=""), _question(rng)),
    "ids without a number": lambda rng: _request(*_history(rng, call_id="search"), _question(rng)),
    "both": lambda rng: _request(*_history(rng, content="", call_id="search"), _question(rng)),
}


def open_turn(body: Body) -> Body:
    """Mend the first fault: the prompt ends where the model is to begin."""
    return {key: value for key, value in body.items() if key != "add_generation_prompt"}


def drop_empty_content(body: Body) -> Body:
    """Mend the second: an assistant that only calls says nothing, not an empty string."""
    messages = [
        {**one, "content": None} if one["role"] == "assistant" and one["content"] == "" else one
        for one in body["messages"]
    ]
    return {**body, "messages": messages}


def number_ids(body: Body) -> Body:
    """Mend the third: ids as the model was trained on them."""
    text = json.dumps(body).replace('"search", "type": "function"', '"functions.search:0", "type": "function"')
    fixed: Body = json.loads(text.replace('"tool_call_id": "search"', '"tool_call_id": "functions.search:0"'))
    return fixed


FIXES: tuple[tuple[str, Callable[[Body], Body]], ...] = (
    ("generation prompt written", open_turn),
    ("empty content left out", drop_empty_content),
    ("ids numbered", number_ids),
)


def dataset_text(rows: list[Body]) -> str:
    """Return rows as the file contains them."""
    return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)


def stages(rows: list[Body]) -> Iterator[tuple[str, list[Body]]]:
    """Yield the dataset as it is, and after each fix on top of those before."""
    yield "as it is", rows
    for name, fix in FIXES:
        rows = [fix(row) for row in rows]
        yield f"+ {name}", rows


async def measure(rows: list[Body]) -> list[JSONObject]:
    """Run every stage on one lab and return what the table and the plot need."""
    labs = LabPool()
    measured: list[JSONObject] = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            for number, (name, stage) in enumerate(stages(rows)):
                dataset, file = Path(folder) / f"{number}.jsonl", Path(folder) / f"{number}.sqlite"
                dataset.write_text(dataset_text(stage), encoding="ascii")
                with Journal(file) as journal:
                    outcome = await verify(Plan(dataset, (Target(),), file), journal, clock=time.monotonic, labs=labs)
                    about = About(DATASET.name, "the lab", "1/1", len(stage), outcome.remaining[0], None, "", 0)
                    summary = summary_of(Tally().add_all(journal.rows(0)), about)
                print(name, summary["finish_stop"], summary["finish_tool_calls"], flush=True)
                measured.append({"name": name, **_kept(cast("dict[str, Any]", summary))})
    finally:
        labs.stop_all()
    return measured


def _kept(summary: dict[str, Any]) -> JSONObject:
    own = summary["debugger"]
    return {
        **{key: summary[key] for key in (
            "finish_stop", "finish_tool_calls", "finish_others", "schema_validation_error_count",
            "successful_tool_call_count",
        )},
        **{key: own[key] for key in ("rows", "written", "returned", "dropped", "by_code", "by_stage", "evidence")},
        "fault_rate": own["rates"]["fault_rate"],
        "dropped_rate": own["rates"]["dropped_rate"],
    }  # fmt: skip


def table_of(record: list[Any]) -> str:
    """Return the table of the docs."""
    lines = [
        "| dataset | stop | tool_calls | other | schema errors | successful | calls written | dropped | rows at fault "
        "| causes found |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    for one in record:
        rate = one["fault_rate"]
        causes = ", ".join(f"{code} {count}" for code, count in list(one["by_code"].items())[:6]) or "none"
        share = f"{rate['value']:.1%} ({rate['low']:.1%} to {rate['high']:.1%})"
        lines.append(
            f"| {one['name']} | {one['finish_stop']} | {one['finish_tool_calls']} | {one['finish_others']} "
            f"| {one['schema_validation_error_count']} | **{one['successful_tool_call_count']}** | {one['written']} "
            f"| {one['dropped']} | {share} | {causes} |"
        )
    return "\n".join(lines)


def short_table_of(record: list[Any]) -> str:
    """Return the table of the README: what got better with each fix."""
    lines = [
        f"| the {record[0]['rows']} requests | answers with successful calls | calls dropped | rows at fault |",
        "|---|--:|--:|--:|",
    ]
    for one in record:
        lines.append(
            f"| {one['name']} | **{one['successful_tool_call_count']}** | {one['dropped']} of {one['written']} "
            f"| {one['fault_rate']['value']:.1%} |"
        )
    return "\n".join(lines)


def plot_of(record: list[Any]) -> str:
    """Return the plot: answers with successful calls at each stage; readable on light and dark."""
    most = max(one["rows"] for one in record)
    bars = []
    for number, one in enumerate(record):
        y, width = 34 + 44 * number, 420 * one["successful_tool_call_count"] / most
        bars.append(
            f'<text x="0" y="{y - 6}">{one["name"]}</text>'
            f'<rect x="0" y="{y}" width="{width:.1f}" height="18" rx="3" fill="#4c8bf5"/>'
            f'<text x="{width + 8:.1f}" y="{y + 14}">{one["successful_tool_call_count"]}</text>'
        )
    height = 34 + 44 * len(record)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="520" height="{height}" viewBox="0 0 520 {height}" role="img" '
        f'aria-label="Successful tool calls after each fix" font-family="system-ui, sans-serif" font-size="13" '
        f'fill="#7d8590"><text x="0" y="12">answers with successful calls, of {most} requests</text>'
        f"{''.join(bars)}</svg>\n"
    )


def files_of(record: list[Any]) -> dict[Path, str]:
    """Return the text of every file that is made from the record."""
    return {
        PAGE: _insert_table(PAGE, table_of(record)),
        README: _insert_table(README, short_table_of(record)),
        PLOT: plot_of(record),
    }


def _insert_table(page: Path, table: str) -> str:
    """Return the text of a page with the table between its marks."""
    head, begin, rest = page.read_text("utf-8").partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page.name} has no place for the table")
    return f"{head}{BEGIN}\n{table}\n{END}{tail}"


def stale_files() -> list[str]:
    """Return the names of files that are not what they should be."""
    record = json.loads(RECORD.read_text("utf-8"))
    wanted = {DATASET: dataset_text(make_rows()), **files_of(record)}
    return sorted(path.name for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text)


def main() -> int:
    """Write, run or check."""
    if "--check" in sys.argv:
        stale = stale_files()
        print("\n".join(stale) or "up to date")
        return 1 if stale else 0
    rows = make_rows()
    DATASET.parent.mkdir(exist_ok=True)
    DATASET.write_text(dataset_text(rows), encoding="ascii")
    if "--dataset" in sys.argv:
        return 0
    if "--table" not in sys.argv:
        record = asyncio.run(measure(rows))
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="ascii")
    for path, text in files_of(json.loads(RECORD.read_text("ascii"))).items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
