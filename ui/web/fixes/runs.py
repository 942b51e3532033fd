"""One more run of a changed request: on the server of the last one, within what a visitor may use."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import NamedTuple

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSONObject, Trace
from prompt_debugger.core.diagnose.trace_queries import asked_server
from prompt_debugger.core.pipeline import Progress, Target
from prompt_debugger.core.request import body_text
from prompt_debugger.core.sandbox import VISITOR, sandbox_of
from prompt_debugger.core.tools.fixes.plans import Plan, target_of
from prompt_debugger.ui.web.asked import bounded_for, trusting_template
from prompt_debugger.ui.web.handlers import Handlers
from prompt_debugger.ui.web.limits import LimitError
from prompt_debugger.ui.web.targets import TargetFields, choose_target, is_same_address
from prompt_debugger.ui.web.work import read_pasted

NOTHING = RequestError("Nothing has been run yet.", "Press Run first.")
_PASTED = RequestError(
    "What is shown was pasted: no server was asked, so there is nothing to repeat.",
    "Paste the request, choose its server under Target and press Run.",
)
PUBLIC_RUNS = 8  # of one experiment of a visitor of a public page


class Ran(NamedTuple):
    """The last run (`None` before the first), and the page as it is now; the key is for the endpoint in the fields."""

    trace: Trace | None
    fields: TargetFields
    session: str
    key: str = ""


@dataclass(slots=True)
class RunProgress:
    """What the current run is doing."""

    sentence: str = ""
    fraction: float | None = None

    def take(self, progress: Progress) -> None:
        """Take down how far a run is."""
        self.sentence, self.fraction = progress.sentence, progress.fraction


class PageRuns:
    """Makes the further runs of all panels; keeps only what does not change while the page is served."""

    def __init__(self, handlers: Handlers) -> None:
        self.handlers = handlers
        self.is_public = handlers.settings.public
        self.redraw_rate = handlers.gate.drawing

    def target(self, ran: Ran) -> tuple[Trace, Target]:
        """Return the last run, and where a further one goes: the server that it was made on.

        Raises:
            DebuggerError: Nothing was run, or the page aims elsewhere by now, or there is no server.
        """
        if ran.trace is None or ran.trace.server is None or ran.trace.verdict is None or not asked_server(ran.trace):
            raise no_run(ran.trace)
        target = choose_target(self.handlers.settings, self.handlers.labs, ran.fields, ran.key)
        _check_same_server(ran.trace, target)
        return ran.trace, target

    async def run(self, ran: Ran, target: Target, body: JSONObject, plan: Plan, progress: RunProgress) -> Trace:
        """Run a changed request as if it had been pasted.

        Raises:
            DebuggerError: It asks for too much, or the run could not be done.
        """
        handlers = self.handlers
        limits = handlers.limits
        text = await asyncio.to_thread(body_text, body)
        request = await sandbox_of().run(read_pasted, text, limits, hides_keys=self.is_public)
        request = bounded_for(target, request, limits)
        aimed = trusting_template(target_of(plan, target), request, is_public=self.is_public)
        if ran.trace is not None:
            aimed = replace(aimed, api=ran.trace.api)
        with handlers.gate.enter(ran.session, VISITOR.get().partition("/")[0]) as turn:
            while handlers.gate.runs_ahead(turn):
                progress.sentence = "Waiting for other visitors' runs"
                await handlers.gate.wait(turn)
            try:
                async with asyncio.timeout(limits.run_s):
                    return await pipeline.run(request, aimed, handlers.labs.pool, progress.take)
            except TimeoutError:
                raise LimitError(f"The run was ended after {limits.run_s:g} s, the time limit.") from None


def no_run(trace: Trace | None) -> RequestError:
    """Return why a run cannot be repeated: there is none, or what is shown is no run but a paste."""
    is_pasted = trace is not None and trace.verdict is not None and not asked_server(trace)
    return _PASTED if is_pasted else NOTHING


def _check_same_server(trace: Trace, target: Target) -> None:
    server = trace.server
    assert server is not None
    if target.base_url is not None:
        is_same = not server.is_lab and is_same_address(target.base_url, server.base_url)
    else:
        parsers = (target.lab.tool_parser, target.lab.reasoning_parser)
        is_same = server.is_lab and (server.tool_parser, server.reasoning_parser) == parsers
    if not is_same:
        raise RequestError(
            "The page is set to a different server than this run.",
            "Set Target back, or run on the new one first: only a run on the same server proves anything.",
        )
