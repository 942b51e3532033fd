"""The request of the last run by chat completions, Responses and Messages, side by side.

On one's own machine alone: what bounds a stranger's request knows chat completions.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.apis import run_by_all
from prompt_debugger.ui.present.apis import apis_payload, asking_payload
from prompt_debugger.ui.present.experiments import bench_error_payload
from prompt_debugger.ui.web.failures import shown_as
from prompt_debugger.ui.web.fixes.runs import PageRuns, Ran, RunProgress
from prompt_debugger.ui.web.redraw_rate import ticks_until


class AllApis:
    """Asks the last run's request by every API, on the server of that run."""

    def __init__(self, runs: PageRuns) -> None:
        self._runs = runs

    @shown_as(bench_error_payload)
    async def ask(self, ran: Ran) -> AsyncGenerator[str, None]:
        """Ask by one after the other; yield the progress, and at the end what differs."""
        if self._runs.is_public:
            raise RequestError("A public page uses only chat completions.", "Run the program on your own machine.")
        trace, target = self._runs.target(ran)
        progress, shown = RunProgress(), ""
        task = asyncio.ensure_future(run_by_all(trace.request, target, self._runs.handlers.labs.pool, progress.take))
        async with aclosing(ticks_until(task, self._runs.redraw_rate)) as ticks:
            async for _ in ticks:
                if shown != progress.sentence:
                    shown = progress.sentence
                    yield asking_payload(shown)
        yield await in_thread(apis_payload, task.result())
