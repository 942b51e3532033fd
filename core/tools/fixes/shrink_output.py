"""The smallest raw output that a parser still reads wrongly in the same way, and the tools that it takes.

The same way: the same call dropped, altered or invented, or else streamed to another message, or an error raised.
Pieces are left out from the largest to the smallest: lines, then markers and words, then tools.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import (
    JSON,
    CallOutcome,
    CallStatus,
    JSONObject,
    Parse,
    ParserOutcome,
    Place,
    ToolCallAttempt,
)
from prompt_debugger.core.complete import ParserCase
from prompt_debugger.core.report.wire.form import dump_document
from prompt_debugger.core.tools.fixes.reduce import least
from prompt_debugger.core.tools.fixes.upstream import arguments_text, write_upstream_test

Reader: TypeAlias = Callable[[JSONObject], Parse]
FaultKind: TypeAlias = Literal["dropped", "altered", "invented", "error", "stream"]
_PIECES = re.compile(r"<[^<>\s]{1,60}>|\[/?[A-Z_]{3,20}\]|\w+|\s+|.", re.DOTALL)
_PREFIX = "vllm:"
_MAX_STEPS = 600  # outputs tried at most


@dataclass(frozen=True, slots=True)
class Fault:
    """What a parser does wrong.

    Attributes:
        kind: What kind of fault it is.
        name: The tool of the call concerned; "" where no call is.
        is_whole: Whether that call is complete and its arguments are an object: a fault of the parser, not of the text.
        is_offered: Whether the request offers that tool.
    """

    kind: FaultKind
    name: str = ""
    is_whole: bool = True
    is_offered: bool = True


@dataclass(frozen=True, slots=True)
class ShrunkOutput:
    """What came of it.

    Attributes:
        raw: The smallest output found.
        tools: The tools that it takes.
        parser: Name of the parser.
        fault: `dropped`, `altered` or `invented` calls, an `error`, or another message in a `stream`.
        call: The tool of the call concerned; `null` where no call is.
        steps: How many outputs were tried.
        size: Characters of output and tools before and after.
        test: A failing test for vLLM's maintainers; "" for other parsers, and where no whole call is left.
    """

    raw: str
    tools: tuple[JSON, ...]
    parser: str
    fault: FaultKind
    call: str | None
    steps: int
    size: tuple[int, int]
    test: str = ""

    def to_json(self) -> JSONObject:
        """Return it as the command prints it."""
        return dump_document(self)


@dataclass(slots=True)
class _OutputAsker:
    """Checks whether an output still fails in the same way, and counts."""

    case: JSONObject
    parser: str
    read: Reader
    fault: Fault
    steps: int = 0
    known: dict[str, bool] = field(default_factory=dict)

    async def holds(self, raw: str, tools: list[JSON]) -> bool:
        """Return whether the parser does the same wrong; no once `_MAX_STEPS` outputs were tried."""
        key = json.dumps([raw, tools])
        if key not in self.known:
            if self.steps >= _MAX_STEPS:
                return False
            self.steps += 1
            parse = await asyncio.to_thread(self.read, {**self.case, "raw": raw, "tools": tools})
            self.known[key] = self.fault in _faults(parse, self.parser, tools)
        return self.known[key]


async def shrink_output(case: JSONObject, parser: str, read: Reader) -> ShrunkOutput:
    """Return the smallest output that a parser reads wrongly as it does the one of a case.

    Raises:
        RequestError: The parser reads the output as it should.
    """
    case = {**case, "parsers": [parser]}
    raw, tools = str(case.get("raw", "")), case.get("tools")
    offered = tools if isinstance(tools, list) else []
    faults = _faults(await asyncio.to_thread(read, case), parser, offered)
    if not faults:
        raise RequestError(f"`{parser}` reads this output correctly.", "There is nothing to shrink.")
    asker = _OutputAsker(case, parser, read, faults[0])
    smallest = await _smaller_text(raw, offered, asker)

    async def holds(kept: list[JSON]) -> bool:
        return await asker.holds(smallest, kept)

    kept = await least(offered, holds) if offered else []
    size = (_size(raw, offered), _size(smallest, kept))
    test = _test(smallest, kept, parser, await asyncio.to_thread(read, {**case, "raw": smallest, "tools": kept}))
    return ShrunkOutput(
        smallest, tuple(kept), parser, asker.fault.kind, asker.fault.name or None, asker.steps, size, test
    )


async def _smaller_text(raw: str, tools: list[JSON], asker: _OutputAsker) -> str:
    while True:
        before = len(raw)
        for pieces in (raw.splitlines(keepends=True), _PIECES.findall(raw)):

            async def holds(kept: list[str]) -> bool:
                return await asker.holds("".join(kept), tools)

            kept = "".join(await least(list(pieces), holds))
            if len(kept) < len(raw):
                raw = kept
                break
        if len(raw) >= before:
            return raw


def _faults(parse: Parse, parser: str, tools: list[JSON]) -> list[Fault]:
    """Return what a parser does wrong with an output, worst first."""
    outcome = parse.parsers.get(parser)
    if outcome is None:
        return []
    if outcome.error is not None:
        return [Fault("error")]
    calls = parse.parsed.calls
    kinds: tuple[tuple[CallOutcome, FaultKind], ...] = (
        (CallOutcome.DROPPED, "dropped"),
        (CallOutcome.ALTERED, "altered"),
    )
    found = [
        _fault_of(kind, calls[match.raw_index], tools)
        for wanted, kind in kinds
        for match in parse.ledger.matches
        if match.outcome is wanted and match.raw_index is not None
    ]
    found += [Fault("invented", name) for name in parse.ledger.invented]
    return [*found, *([Fault("stream")] if _streams_differently(outcome) else [])]


def _fault_of(kind: FaultKind, call: ToolCallAttempt, tools: list[JSON]) -> Fault:
    functions = [tool.get("function") for tool in tools if isinstance(tool, dict)]
    names = [function.get("name") for function in functions if isinstance(function, dict)]
    is_whole = call.status is CallStatus.COMPLETE and call.arguments_json is not None
    return Fault(kind, call.name or "", is_whole, call.name in names)


def _streams_differently(outcome: ParserOutcome) -> bool:
    return outcome.stream_equal is False


def _test(raw: str, tools: list[JSON], parser: str, parse: Parse) -> str:
    """Return a test for vLLM's maintainers, where the fault is one of a whole call."""
    whole = [call for call in parse.parsed.calls if call.status is CallStatus.COMPLETE and call.place is Place.BODY]
    if not parser.startswith(_PREFIX) or not whole:
        return ""
    calls = tuple((call.name or "", arguments_text(call)) for call in whole)
    given = tuple(tool for tool in tools if isinstance(tool, dict))
    name = parser.removeprefix(_PREFIX).partition("+")[0]
    return write_upstream_test(ParserCase(name, raw, given, calls, "test_smallest_output"), "vllm")


def _size(raw: str, tools: list[JSON]) -> int:
    return len(raw) + len(json.dumps(tools, ensure_ascii=False))
