"""The smallest request that still fails in the same way: the same finding, and the same calls not returned.

What request and prompt alone show is asked offline, which costs no model; what only an answer shows
is asked of the server, within a budget. The smallest is confirmed there by repeated runs. What leaves a fault in
the request that was not there before, such as a tool result without its call, is not taken: it would be another report.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.errors import DebuggerError, RequestError
from prompt_debugger.core.base.types import CallOutcome, JSONObject, Request, Severity, Stage, Trace
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.pipeline.render_only import render_request
from prompt_debugger.core.report.wire.form import dump_document
from prompt_debugger.core.tools.fixes.reduce import reduce_request, size_of
from prompt_debugger.core.tools.lab import LabPool

_CONFIRMATIONS = 3
Runner: TypeAlias = Callable[[JSONObject], Awaitable[Trace]]


class Shrinking(NamedTuple):
    """How far it is: the smallest request so far that fails in the same way, and its characters before and now.

    Of the reductions that were tried, `asked` were runs on the server; `finding` is the code that stays.
    """

    request: JSONObject
    steps: int
    asked: int
    size: tuple[int, int]
    finding: str
    offline: bool


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What came of it.

    Attributes:
        request: The smallest request found.
        steps: How many reductions were tried.
        asked: How many of them were runs on the server, the confirming ones included.
        size: Characters before and after.
        finding: Code of the finding that stayed.
        confirmed: In how many confirming runs it was there.
    """

    request: JSONObject
    steps: int
    asked: int
    size: tuple[int, int]
    finding: str
    confirmed: int

    def to_json(self) -> JSONObject:
        """Return it as the command prints it."""
        return dump_document(self)


@dataclass(slots=True)
class _RequestAsker:
    """Checks whether a request still fails in the same way, and counts what that took."""

    request: Request
    target: Target
    run: Runner
    code: str
    lost: tuple[str | None, ...]
    budget: int
    on_step: Callable[[Shrinking], None]
    faults: frozenset[str] = frozenset()
    offline: bool = False
    steps: int = 0
    asked: int = 0
    smallest: JSONObject = field(default_factory=dict)

    async def holds(self, body: JSONObject) -> bool:
        """Return whether the finding is there; no once the budget is used up."""
        if not self.offline and self.asked >= self.budget:
            return False
        self.steps += 1
        holds = await (self.holds_offline(body) if self.offline else self.holds_live(body))
        if holds:
            self.smallest = body
        self.report()
        return holds

    def report(self) -> None:
        """Report the progress."""
        size = (size_of(self.request.body), size_of(self.smallest))
        self.on_step(Shrinking(self.smallest, self.steps, self.asked, size, self.code, self.offline))

    async def holds_offline(self, body: JSONObject) -> bool:
        """Ask request and prompt alone."""
        trace = await self.rendered(body)
        return trace is not None and self.code in _codes(trace) and _request_faults(trace) <= self.faults

    async def holds_live(self, body: JSONObject) -> bool:
        """Ask the server, unless the request has a fault that it had not."""
        rendered = await self.rendered(body)
        if rendered is not None and not _request_faults(rendered) <= self.faults:
            return False
        self.asked += 1
        try:
            trace = await self.run(body)
        except DebuggerError:
            return False
        return self.code in _codes(trace) and _lost(trace) == self.lost

    async def rendered(self, body: JSONObject) -> Trace | None:
        """Return what request and prompt show; `None` where the request cannot be rendered here."""
        try:
            return await render_request(replace(self.request, body=body), self.target)
        except DebuggerError:
            return None


async def shrink_request(
    request: Request,
    target: Target,
    labs: LabPool | None = None,
    *,
    finding: str | None = None,
    budget: int = 100,
    report: Callable[[str], None] | None = None,
) -> Shrunk:
    """Return the smallest request that still fails as `request` does: with that finding, by default the first error.

    The budget is of runs on the server, before the confirming ones.

    Raises:
        RequestError: The request does not fail, or not with that finding.
    """
    say = report or (lambda _: None)

    async def run(body: JSONObject) -> Trace:
        return await pipeline.run(replace(request, body=body), target, labs)

    first = await run(request.body)
    reported: list[bool] = []

    def on_step(step: Shrinking) -> None:
        if not reported or reported[-1] != step.offline:
            how = "shown by the request alone, checked offline" if step.offline else "asked of the server"
            say(f"{step.finding}: {how}")
            reported.append(step.offline)

    shrunk = await shrink_run(first, target, run, finding=finding, budget=budget - 1, on_step=on_step)
    return replace(shrunk, asked=shrunk.asked + 1)


async def shrink_run(
    first: Trace,
    target: Target,
    run: Runner,
    *,
    finding: str | None = None,
    budget: int,
    on_step: Callable[[Shrinking], None],
) -> Shrunk:
    """Return the smallest request that still fails as a run did: with that finding, by default the first error.

    The budget is of runs on the server, before the confirming ones; `on_step` gets the progress after each reduction.

    Raises:
        RequestError: The run has no error, or not that finding.
    """
    code = _wanted(first, finding)
    body = first.request.body
    asker = _RequestAsker(first.request, target, run, code, _lost(first), budget, on_step, smallest=body)
    asker.faults = _request_faults(first, await asker.rendered(body))
    asker.offline = await asker.holds_offline(body)
    asker.report()
    smallest = await reduce_request(body, asker.holds)
    confirmed = 0
    if asker.offline and not await asker.holds_live(smallest):
        # The server needs more of the request than the prompt shows.
        asker.offline, asker.smallest = False, body
        smallest = await reduce_request(body, asker.holds)
    for _ in range(_CONFIRMATIONS):
        confirmed += await asker.holds_live(smallest)
    return Shrunk(smallest, asker.steps, asker.asked, (size_of(body), size_of(smallest)), code, confirmed)


def _wanted(trace: Trace, finding: str | None) -> str:
    codes = _codes(trace)
    if finding is not None:
        if finding not in codes:
            raise RequestError(f"The run has no finding {finding}.", f"It has: {', '.join(sorted(codes)) or 'none'}.")
        return finding
    errors = [one.code for one in trace.findings if one.severity is Severity.ERROR]
    if not errors:
        raise RequestError(
            "The run has no finding with severity error.", "There is nothing to shrink; or choose one with --finding."
        )
    return errors[0]


def _codes(trace: Trace) -> frozenset[str]:
    return frozenset(finding.code for finding in trace.findings)


def _request_faults(*traces: Trace | None) -> frozenset[str]:
    """Return the codes of what is wrong with the request itself."""
    found = (one for trace in traces if trace is not None for one in trace.findings)
    return frozenset(one.code for one in found if one.stage is Stage.REQUEST and one.severity is not Severity.NOTE)


def _lost(trace: Trace) -> tuple[str | None, ...]:
    """Return the names of the calls that were written and not returned."""
    if trace.parse is None:
        return ()
    calls = trace.parse.parsed.calls
    lost = (match.raw_index for match in trace.parse.ledger.matches if match.outcome is CallOutcome.DROPPED)
    return tuple(calls[index].name for index in lost if index is not None)
