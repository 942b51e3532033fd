"""One raw output through several releases of an engine: which takes which calls, where one vanishes, since when."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.json_values import as_object, decoded, one_spelling
from prompt_debugger.core.base.types import JSONObject, ParserOutcome, VllmOutcome
from prompt_debugger.core.complete import parser_names_of
from prompt_debugger.core.formats import FORMATS
from prompt_debugger.core.parse.engines import ParserPair, RawOutput, VllmReleases, read_parser_name, write_parser_name


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """What one release made of the output.

    Attributes:
        outcome: The outcome; `None` if the release could not be asked.
        error: Why not, or what went wrong in the parser.
        control: Whether the parser reads a healthy call; without that it tells nothing that it does not read another.
            `None` where none is kept for it.
    """

    version: str
    outcome: VllmOutcome | None
    error: str | None = None
    control: bool | None = None

    @property
    def tells(self) -> bool:
        """Whether it means something what this release reads and what not."""
        return self.outcome is not None and (self.control is not False or bool(self.outcome.tool_calls))


@dataclass(frozen=True, slots=True)
class CallHistory:
    """One tool call through the releases.

    Attributes:
        name: Its name.
        arguments: Its arguments as the oldest release that takes it gives them.
        taken_by: Releases that take it, oldest first.
        appears_in: Releases that take it although the one before did not, each with the one before.
        vanishes_in: Releases that do not take it although the one before did, each with the one before.
        since: The oldest release from which on every one that could be asked takes it; `None` if the newest does not.
    """

    name: str
    arguments: str
    taken_by: tuple[str, ...]
    appears_in: tuple[tuple[str, str], ...]
    vanishes_in: tuple[tuple[str, str], ...]
    since: str | None = None


@dataclass(frozen=True, slots=True)
class ReleaseTable:
    """Which release takes which calls.

    Attributes:
        parser: Name of the parser, without a release.
        rows: One per release, oldest first.
        calls: One per call that any release takes, in the order of the output.
    """

    parser: str
    rows: tuple[ReleaseRow, ...]
    calls: tuple[CallHistory, ...]


async def bisect_releases(
    output: RawOutput, parser: str, versions: Sequence[str], *, releases: VllmReleases | None = None
) -> ReleaseTable:
    """Parse one raw output with the same parser of several releases, one after the other; see `step_releases`."""
    steps = step_releases(output, parser, versions, releases=releases)
    return [table async for table in steps][-1]


async def step_releases(
    output: RawOutput, parser: str, versions: Sequence[str], *, releases: VllmReleases | None = None
) -> AsyncIterator[ReleaseTable]:
    """Parse one raw output with the same parser of several releases, and yield the table as it grows.

    Args:
        output: The raw output.
        parser: Name such as `vllm:kimi_k2` or `kimi_k2+deepseek_r1`.
        versions: The releases, in any order; the installed one may be among them.
        releases: Where the parsers come from; by default from what is installed or was fetched before, one helper at
            a time.

    Yields:
        The table, first empty. A release that cannot be asked has its reason there, and counts for nothing.

    Raises:
        EngineError: The parser's name, or a version, is not valid.
    """
    pair = read_parser_name(parser if ":" in parser else f"vllm:{parser}")
    names = {
        version: write_parser_name(pair.tool, pair.reasoning, version, pair.engine)
        for version in sort_versions(versions)
    }
    for name in names.values():
        read_parser_name(name)
    title = write_parser_name(pair.tool, pair.reasoning, engine=pair.engine)
    source = releases or VllmReleases(max_warm=1)
    rows: list[ReleaseRow] = []
    try:
        yield ReleaseTable(title, (), ())
        for version, name in names.items():
            row = await _row(version, name, source.parse_with([name], output, streaming=False))
            if row.outcome is not None:
                row = replace(row, control=await _control(source, pair._replace(version=version)))
            rows.append(row)
            yield ReleaseTable(title, tuple(rows), histories(rows))
    finally:
        if releases is None:
            await asyncio.to_thread(source.close)


async def _control(source: VllmReleases, pair: ParserPair) -> bool | None:
    try:
        return await reads_healthy_call(source, pair)
    except EngineError:
        return False


async def _row(version: str, name: str, call: Coroutine[object, object, dict[str, ParserOutcome]]) -> ReleaseRow:
    try:
        outcome = (await call)[name]
    except EngineError as error:
        return ReleaseRow(version, None, error.message)
    assert isinstance(outcome, VllmOutcome)
    return ReleaseRow(version, outcome, outcome.error)


def sort_versions(versions: Sequence[str]) -> tuple[str, ...]:
    """Return versions without repetition, oldest first.

    >>> sort_versions(["0.32.0", "0.9.2", "0.11.0"])
    ('0.9.2', '0.11.0', '0.32.0')
    """
    return tuple(sorted(set(versions), key=lambda version: [int(part) for part in re.findall(r"\d+", version)]))


def histories(rows: Sequence[ReleaseRow]) -> tuple[CallHistory, ...]:
    """Return how each call fares through the rows, which are oldest first; those that tell nothing are passed over."""
    asked = [row for row in rows if row.tells]
    taken = {row.version: _calls(row.outcome) for row in asked if row.outcome is not None}
    shown: dict[tuple[str, str, int], str] = {}
    for calls in taken.values():
        for key, arguments in calls.items():
            shown.setdefault(key, arguments)
    pairs = [(before.version, after.version) for before, after in pairwise(asked)]
    return tuple(
        CallHistory(
            name=key[0],
            arguments=arguments,
            taken_by=tuple(version for version, calls in taken.items() if key in calls),
            appears_in=tuple((b, a) for b, a in pairs if key not in taken[b] and key in taken[a]),
            vanishes_in=tuple((b, a) for b, a in pairs if key in taken[b] and key not in taken[a]),
            since=_since([row.version for row in asked if key in taken[row.version]], [row.version for row in asked]),
        )
        for key, arguments in shown.items()
    )


def _since(taken: Sequence[str], asked: Sequence[str]) -> str | None:
    """Return the first of the last releases asked that all take a call."""
    since = None
    for version in reversed(asked):
        if version not in taken:
            break
        since = version
    return since


def versions_by_engine(versions: Sequence[str], engine: str) -> dict[str, list[str]]:
    """Return releases by engine: `ENGINE==VERSION`, or a version alone, which is one of the engine given.

    >>> versions_by_engine(["0.11.0", "sglang==0.5.23"], "vllm")
    {'vllm': ['0.11.0'], 'sglang': ['0.5.23']}
    """
    found: dict[str, list[str]] = {}
    for text in versions:
        kind, is_named, version = text.rpartition("==")
        found.setdefault(kind if is_named else engine, []).append(version)
    return found


def _calls(outcome: VllmOutcome) -> dict[tuple[str, str, int], str]:
    """Return the calls of an outcome by name, canonical arguments and number of repetition."""
    found: dict[tuple[str, str, int], str] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for call in outcome.tool_calls:
        function = call.get("function")
        if not isinstance(function, dict):
            continue
        name, arguments = str(function.get("name")), str(function.get("arguments"))
        key = (name, one_spelling(arguments) or arguments)
        found[*key, seen[key]] = arguments
        seen[key] += 1
    return found


_TOOL: JSONObject = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def samples_for(pair: ParserPair) -> tuple[str, ...]:
    """Return healthy outputs of the families that a tool parser is made for, the one that names it first in front.

    >>> samples_for(ParserPair("no_such_parser", None))
    ()
    """
    made = {
        family: tools.index(pair.tool)
        for family, one in FORMATS.items()
        if one.facts.sample and pair.tool in (tools := parser_names_of(pair.engine, family).tools)
    }
    return tuple(FORMATS[family].facts.sample for family in sorted(made, key=lambda family: made[family]))


async def reads_healthy_call(source: VllmReleases, pair: ParserPair) -> bool | None:
    """Return whether a release's tool parser reads a healthy call; `None` if there is none to try.

    The reasoning parser stays out of it: some take everything for reasoning until its end tag comes.

    Raises:
        EngineError: The release cannot be asked.
    """
    samples = samples_for(pair)
    if pair.tool is None or not samples:
        return None
    name = write_parser_name(pair.tool, None, pair.version, pair.engine)
    for raw in samples:
        output = RawOutput(raw, tools=(_TOOL,), finish_reason="stop")
        if _is_read(await source.parse_with([name], output, streaming=False), name):
            return True
    return False


def _is_read(outcomes: Mapping[str, ParserOutcome], name: str) -> bool:
    calls = [as_object(call.get("function")) for call in outcomes[name].tool_calls]
    return [(call.get("name"), decoded(call.get("arguments"))) for call in calls] == [
        ("get_weather", {"city": "Paris"})
    ]
