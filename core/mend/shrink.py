"""The smallest request that still fails in the same way: the same finding, and the same calls not returned.

What request and prompt alone show is asked offline, which costs no model; what only an answer shows
is asked of the server, within a budget. The smallest is confirmed there by repeated runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from prompt_debugger.core.errors import DebuggerError, RequestError
from prompt_debugger.core.lab import LabPool
from prompt_debugger.core.mend.documents import ShrunkDocument
from prompt_debugger.core.mend.reduce import reduce_request, size_of
from prompt_debugger.core.pipeline import Target, run_request
from prompt_debugger.core.pipeline.render_only import render_request
from prompt_debugger.core.types import CallOutcome, JSONObject, Request, Severity, Trace

_CONFIRMATIONS = 3


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
        document = ShrunkDocument(
            request=self.request,
            steps=self.steps,
            asked=self.asked,
            size=self.size,
            finding=self.finding,
            confirmed=self.confirmed,
        )
        return document.model_dump(mode="json")


@dataclass(slots=True)
class _Asker:
    """Says whether a request still fails in the same way, and counts what that took."""

    request: Request
    target: Target
    labs: LabPool | None
    code: str
    lost: tuple[str | None, ...]
    budget: int
    offline: bool
    steps: int = 0
    asked: int = 0

    async def holds(self, body: JSONObject) -> bool:
        """Say whether the finding is there; no once the budget is used up."""
        self.steps += 1
        if not self.offline and self.asked >= self.budget:
            return False
        return await (self.holds_offline(body) if self.offline else self.holds_live(body))

    async def holds_offline(self, body: JSONObject) -> bool:
        """Ask request and prompt alone."""
        try:
            trace = await render_request(replace(self.request, body=body), self.target)
        except DebuggerError:
            return False
        return self.code in _codes(trace)

    async def holds_live(self, body: JSONObject) -> bool:
        """Ask the server."""
        self.asked += 1
        try:
            trace = await run_request(replace(self.request, body=body), self.target, self.labs)
        except DebuggerError:
            return False
        return self.code in _codes(trace) and _lost(trace) == self.lost


async def shrink_request(
    request: Request,
    target: Target,
    labs: LabPool | None = None,
    *,
    finding: str | None = None,
    budget: int = 100,
    tell: Callable[[str], None] | None = None,
) -> Shrunk:
    """Return the smallest request that still fails as `request` does.

    Args:
        request: What fails.
        target: Where to run it.
        labs: Labs that may be booted for it.
        finding: Code of the finding to keep; by default that of the first error.
        budget: Runs on the server at most, before the confirming ones.
        tell: Told what is done.

    Raises:
        RequestError: The request does not fail, or not with that finding.
    """
    say = tell or (lambda _: None)
    first = await run_request(request, target, labs)
    code = _wanted(first, finding)
    asker = _Asker(request, target, labs, code, _lost(first), budget, offline=False, asked=1)
    asker.offline = await asker.holds_offline(request.body)
    say(f"{code}: {'shown by the request alone, asked offline' if asker.offline else 'asked of the server'}")
    smallest = await reduce_request(request.body, asker.holds)
    confirmed = 0
    if asker.offline and not await asker.holds_live(smallest):
        say("The server needs more of the request than the prompt shows: asking it")
        asker.offline = False
        smallest = await reduce_request(request.body, asker.holds)
    for _ in range(_CONFIRMATIONS):
        confirmed += await asker.holds_live(smallest)
    return Shrunk(smallest, asker.steps, asker.asked, (size_of(request.body), size_of(smallest)), code, confirmed)


def _wanted(trace: Trace, finding: str | None) -> str:
    codes = _codes(trace)
    if finding is not None:
        if finding not in codes:
            raise RequestError(f"the run has no finding {finding}", f"It has: {', '.join(sorted(codes)) or 'none'}.")
        return finding
    errors = [one.code for one in trace.findings if one.severity is Severity.ERROR]
    if not errors:
        raise RequestError("the run has no finding of severity error", "There is nothing to shrink; or name --finding.")
    return errors[0]


def _codes(trace: Trace) -> frozenset[str]:
    return frozenset(finding.code for finding in trace.findings)


def _lost(trace: Trace) -> tuple[str | None, ...]:
    """Return the names of the calls that were written and not returned."""
    if trace.parse is None:
        return ()
    calls = trace.parse.parsed.calls
    lost = (match.raw_index for match in trace.parse.ledger.matches if match.outcome is CallOutcome.DROPPED)
    return tuple(calls[index].name for index in lost if index is not None)
