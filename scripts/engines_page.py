"""Write docs/engines.md: which engine's parsers read what each family writes, whole and streamed.

python scripts/engines_page.py            ask every engine and write the page; needs vLLM and the wheels
python scripts/engines_page.py FAMILY …   print the rows of some families, and write nothing

Asked are the outputs of `tests/cases` whose calls are all complete, of each engine the parsers that it has for the
family.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from prompt_debugger.core.base.protocols import ReadContext  # noqa: E402  # the checkout comes first
from prompt_debugger.core.base.types import JSONObject, VllmOutcome  # noqa: E402  # likewise
from prompt_debugger.core.complete import parser_names_of, title_of  # noqa: E402  # likewise
from prompt_debugger.core.parse.engines import WHEELS, RawOutput, VllmEngine, VllmReleases  # noqa: E402  # likewise
from prompt_debugger.core.parse.engines.names import read_parser_name  # noqa: E402  # likewise
from prompt_debugger.core.pipeline import add_accounts  # noqa: E402  # likewise
from prompt_debugger.core.pipeline.census import read_raw  # noqa: E402  # likewise
from prompt_debugger.core.pipeline.parsers import names_of_engine  # noqa: E402  # likewise
from scripts.engine_causes import Output, cause_of, is_read  # noqa: E402  # likewise

PAGE = ROOT / "docs" / "engines.md"
ENGINES = ("vllm", *WHEELS)
_HEAD = """\
# Engines: who reads which family

Written by `python scripts/engines_page.py` on {date}, with {releases}. Asked are {outputs} outputs of {families}
families, of our own making, whose calls are all complete (`tests/cases`), also those with text around the calls or
headers that a model garbled; each parser goes with the family's reasoning parser where the output holds reasoning,
and has an approximate vocabulary. How it is asked: [parsers](parsers.md). For one model,
[`check MODEL --engine all`](check.md#other-engines) asks with its own template and vocabulary.

* `✓` every output, whole and in every chunking
* `~` every output, whole and token by token; some not in larger deltas
* `whole` every output whole, some not when streamed token by token
* `2 of 3` some outputs only
* `–` the engine has no parser of that name for the family; whether another one reads it, `parse --parsers all` says

Of several parsers that an engine has for a family, the table shows the one that the family would use first, by its
record. Where another of them reads more of these outputs, or streams more of them alike, the list of differences names
it: that one may read more because it takes JSON wherever it finds it. [`check`](check.md) weighs them with the model's
own template.

"""
_AFTER = """
## Engines that are not asked

* Rapid-MLX 0.16.10 and vllm-mlx 0.6.0: the parsers of their wheels (`rapid_mlx/tool_parsers`, 50 names;
  `vllm_mlx/tool_parsers`, 38) run without a GPU or MLX when they are called by hand, which `parse` does not offer yet:
  what their servers do around them is a large part of what a client gets. Families without a parser in mlx-lm, such as
  Functionary, xLAM and Nemotron, have one there.
* llama.cpp makes its parser from the template inside its own binary; `report --upstream-test llama.cpp` writes a test
  for a build of its `tests/test-chat.cpp`.
* LMDeploy's `gpt-oss` wants ids in harmony's own vocabulary. `transformers serve` takes the model's own response
  template where it ships one; asked here are those that the server has for some model types.

## Differences, one by one

What the parser of the table made of the first output that it does not read, or of the first that streams to something
else. What the engine said itself stands in quotation marks. *Because* is by trial: the parser reads the output, or
streams it alike, once that one thing is changed, and our own reader still finds whole calls in it. Where no trial of
`scripts/engine_causes.py` helps, nothing is said.

"""


@dataclass(frozen=True)
class Row:
    """What one engine made of a family's outputs.

    Attributes:
        parser: Its parser for the family that the family would use first; "" if it has none.
        outcomes: What that parser made of each output.
        cause: Why the first that is not as it should be is not; "" where no trial shows it.
        better: Another of its parsers for the family that does better, with what it does; "" if none does.
    """

    parser: str = ""
    outcomes: tuple[VllmOutcome, ...] = ()
    cause: str = ""
    better: str = ""

    @property
    def at_fault(self) -> int | None:
        """The first outcome that is not as it should be; `None` if all are."""
        unread = (index for index, one in enumerate(self.outcomes) if not is_read(one))
        unequal = (index for index, one in enumerate(self.outcomes) if one.stream_equal is False)
        return next(unread, next(unequal, None))

    @property
    def reading(self) -> list[VllmOutcome]:
        """The outcomes that return every call as it was written."""
        return [one for one in self.outcomes if is_read(one)]

    @property
    def cell(self) -> str:
        """What is in the table."""
        if not self.parser:
            return "–"
        if len(self.reading) < len(self.outcomes):
            return f"`{self.parser}` {len(self.reading)} of {len(self.outcomes)}"
        if any(one.usual_stream_equal is False for one in self.outcomes):
            return f"`{self.parser}` whole"
        return f"`{self.parser}` {'~' if any(one.stream_equal is False for one in self.outcomes) else '✓'}"

    @property
    def difference(self) -> str:
        """The first thing that is not as it should be, and its cause; "" if all is."""
        if self.at_fault is None:
            return ""
        one = self.outcomes[self.at_fault]
        seen = f"{one.usual_unequal or one.first_unequal}" if is_read(one) else f"{_fault(one)}{_words(one)}"
        told = f"{seen.rstrip('.')}, because {self.cause}" if self.cause else seen
        return f"{told.rstrip('.')} ({self.better})" if self.better else told


def outputs_of(family: str) -> list[JSONObject]:
    """Return the cases of a family whose calls are all complete: `raw`, with `tools` and `prompt_tail` where known."""
    found: list[JSONObject] = []
    for file in sorted((ROOT / "tests" / "cases" / family).glob("*/raw.txt")):
        calls = json.loads(file.with_name("parsed.json").read_text(encoding="utf-8"))["calls"]
        context = file.with_name("context.json")
        known = json.loads(context.read_text(encoding="utf-8")) if context.is_file() else {}
        if calls and all((one["status"], one["place"]) == ("complete", "body") and one["name"] for one in calls):
            found.append({**known, "raw": file.read_text(encoding="utf-8")})
    return found


async def row_of(engine: VllmEngine, family: str, outputs: Sequence[JSONObject]) -> Row:
    """Ask the parsers that an engine has for a family, and try why the one used first fails where it does."""
    own = parser_names_of(engine.engine, family).tools
    if not own:
        return Row()
    given = [_output_of(one) for one in outputs]
    row = first_of(own, await _ask(engine, own, given))
    if row.at_fault is None:
        return row
    output = given[row.at_fault]
    return replace(row, cause=await cause_of(engine, await _name_of(engine, row.parser, output), output, family))


def _output_of(one: JSONObject) -> Output:
    raw, tail = str(one["raw"]), str(one.get("prompt_tail") or "")
    parse = read_raw(raw, ReadContext(prompt_tail=tail), message=None)
    declared = one.get("tools")
    asked = RawOutput(
        raw,
        tools=tuple(tool for tool in declared if isinstance(tool, dict)) if isinstance(declared, list) else None,
        prompt_text=tail or None,
        finish_reason="stop",
        called=tuple(call.name or "" for call in parse.parsed.calls),
    )
    return Output(asked, parse)


async def _name_of(engine: VllmEngine, tool: str, output: Output) -> str:
    names = names_of_engine(engine.engine, await engine.parsers(), output.parse.parsed)
    return next(name for name in names if read_parser_name(name).tool == tool)


async def _ask(
    engine: VllmEngine, tools: Sequence[str], outputs: Sequence[Output]
) -> Mapping[str, tuple[VllmOutcome, ...]]:
    """Return what parsers made of each output, by the tool parser's name."""
    known = await engine.parsers()
    found: dict[str, list[VllmOutcome]] = {}
    for one in outputs:
        every = names_of_engine(engine.engine, known, one.parse.parsed)
        names = [name for name in every if read_parser_name(name).tool in tools]
        for name, outcome in add_accounts(one.parse, await engine.parse_with(names, one.asked)).items():
            if isinstance(outcome, VllmOutcome):
                found.setdefault(read_parser_name(name).tool or "", []).append(outcome)
    return {name: tuple(every) for name, every in found.items() if len(every) == len(outputs)}


def first_of(own: Sequence[str], asked: Mapping[str, tuple[VllmOutcome, ...]]) -> Row:
    """Return the row of the parser that a family names first, with the one that does better, if one does."""
    name = next((name for name in own if name in asked), "")
    if not name:
        return Row()
    best = max(asked, key=lambda one: (_rank(asked[one]), one == name))
    row, other = Row(name, asked[name]), Row(best, asked[best])
    if best == name:
        return row
    more = f"reads {len(other.reading)} of {len(other.outcomes)} whole"
    if len(other.reading) == len(row.reading):
        more = "reads as many and streams more of them alike"
    return replace(row, better=f"`{best}` {more}")


def _rank(every: Sequence[VllmOutcome]) -> tuple[int, int, int]:
    right = [one for one in every if is_read(one)]
    usual = sum(one.usual_stream_equal is not False for one in right)
    return len(right), usual, sum(one.stream_equal is not False for one in right)


def _fault(outcome: VllmOutcome) -> str:
    if outcome.error is not None or outcome.account is None:
        return "it fails"
    account = outcome.account
    counts = ((account.dropped, "dropped"), (account.altered, "altered"), (account.invented, "invented"))
    return ", ".join(f"{count} {word}" for count, word in counts if count) or "calls differ"


def _words(outcome: VllmOutcome) -> str:
    return f': "{outcome.words}"' if outcome.words else ""


def page_of(rows: Mapping[str, Mapping[str, Row]], date: str) -> str:
    """Return the page."""
    releases = {
        engine: next((one.release for row in rows.values() for one in row[engine].outcomes), "") for engine in ENGINES
    }
    titles = [f"{title_of(engine)} {releases[engine]}".strip() for engine in ENGINES]
    head = _HEAD.format(date=date, releases=", ".join(titles), **counts_of(rows))
    titled = f"| family | {' | '.join(titles)} |\n|---|{'---|' * len(titles)}\n"
    return head + titled + "".join(cells_of(rows)) + _AFTER + "".join(differences_of(rows))


def counts_of(families: Iterable[str]) -> Mapping[str, int]:
    """Return how many outputs of how many families are asked, as the head of the page says it."""
    outputs = [len(outputs_of(family)) for family in families]
    return {"outputs": sum(outputs), "families": len(outputs)}


def cells_of(rows: Mapping[str, Mapping[str, Row]]) -> Iterator[str]:
    """Yield the lines of the table."""
    for family, row in rows.items():
        yield f"| {family} | {' | '.join(row[engine].cell for engine in ENGINES)} |\n"


def differences_of(rows: Mapping[str, Mapping[str, Row]]) -> Iterator[str]:
    """Yield the lines of the differences."""
    for family, row in rows.items():
        told = [
            f"{title_of(engine)} `{row[engine].parser}`: {' '.join(row[engine].difference.split())}"
            for engine in ENGINES
            if row[engine].difference
        ]
        if told:
            yield f"* **{family}** – {'; '.join(told).rstrip('.')}.\n"


async def ask_all(families: Iterable[str]) -> dict[str, dict[str, Row]]:
    """Return what every engine made of the outputs of some families that have any; prints each row as it is known.

    Raises:
        EngineError: An engine is not here and cannot be fetched.
    """
    outputs = {family: found for family in families if (found := outputs_of(family))}
    rows: dict[str, dict[str, Row]] = {family: {} for family in outputs}
    async with VllmReleases(max_warm=1) as engines:
        for kind in ENGINES:
            engine = await engines.engine(None, kind)
            for family, cases in outputs.items():
                row = rows[family][kind] = await row_of(engine, family, cases)
                print(family, kind, row.cell, row.difference, sep=" | ", flush=True)
    return rows


async def main(families: Sequence[str]) -> int:
    """Ask all engines; write the page, or print the rows of some families."""
    rows = await ask_all(families or _families())
    if not families:
        date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
        PAGE.write_text(page_of(rows, date), encoding="utf-8")
        print(f"{len(rows)} families → {PAGE.relative_to(ROOT)}")
    return 0


def families_of(arguments: Sequence[str]) -> list[str]:
    """Return the families that the command line names, none for all of them; `--help` prints help and exits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    help_text = "print the rows of these families and write nothing (default: all, and write the page)"
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=help_text)
    named: list[str] = parser.parse_args(arguments).families
    if unknown := sorted({*named} - {*_families()}):
        parser.error(f"no such family: {', '.join(unknown)}; each is a folder of tests/cases")
    return named


def _families() -> list[str]:
    return sorted(folder.name for folder in (ROOT / "tests" / "cases").iterdir() if folder.is_dir())


if __name__ == "__main__":
    sys.exit(asyncio.run(main(families_of(sys.argv[1:]))))
