"""The tools under *Bug report*: the smallest request that still fails, a parser plugin, a failing test, a diff."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSONObject, Trace
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.sandbox import in_thread, sandbox_of
from prompt_debugger.core.tools.fixes.forms import request_as
from prompt_debugger.core.tools.fixes.plans import Plan
from prompt_debugger.core.tools.fixes.shrink import Shrinking, shrink_run
from prompt_debugger.core.tools.fixes.trial import Runner, runner_of, try_source, why_not_run
from prompt_debugger.core.tools.fixes.upstream import PARSER_TESTS, case_of_trace
from prompt_debugger.core.tools.fixes.upstream_diff import UpstreamDiff, parser_diff
from prompt_debugger.core.tools.fixes.upstream_template import template_diff
from prompt_debugger.core.tools.plugin.write import PARSER_NAME, write_plugin
from prompt_debugger.ui.present.experiments import bench_error_payload
from prompt_debugger.ui.present.trials import (
    diff_payload,
    shrinking_payload,
    shrunk_payload,
    upstream_payload,
    waiting_payload,
)
from prompt_debugger.ui.web.failures import shown_as
from prompt_debugger.ui.web.fixes.runs import NOTHING, PageRuns, Ran, RunProgress
from prompt_debugger.ui.web.numbered_answers import NumberedAnswers
from prompt_debugger.ui.web.redraw_rate import ticks_until
from prompt_debugger.ui.web.work import upstream_source

PUBLIC_SHRINK_RUNS = 6  # with the three that confirm, no more than a page may run in a minute
SHRINK_RUNS = 100
OF_DIFF = "diff of "  # prefix of the choices that ask for a diff instead of a test


class BugReports:
    """Handlers of the events; holds only what does not change while the page is served."""

    def __init__(self, runs: PageRuns) -> None:
        self._runs = runs
        self._answers = NumberedAnswers()
        self.most_runs = PUBLIC_SHRINK_RUNS if runs.is_public else SHRINK_RUNS

    @shown_as(bench_error_payload)
    async def shrink(self, ran: Ran) -> AsyncGenerator[str, None]:
        """Shrink the request of the last run as far as possible; yield the smallest so far."""
        trace, target = self._runs.target(ran)
        progress, steps = RunProgress(), list[Shrinking]()

        async def run(body: JSONObject) -> Trace:
            return await self._runs.run(ran, target, body, Plan("smaller"), progress)

        task = asyncio.create_task(shrink_run(trace, target, run, budget=self.most_runs, on_step=steps.append))
        shown: tuple[int, str] = (0, "")
        async with aclosing(ticks_until(task, self._runs.redraw_rate)) as ticks:
            async for _ in ticks:
                if steps and shown != (len(steps), progress.sentence):
                    shown = (len(steps), progress.sentence)
                    yield await in_thread(shrinking_payload, steps[-1], progress.sentence)
        shrunk = task.result()
        curl = await in_thread(request_as, "curl", shrunk.request, trace)
        yield await in_thread(shrunk_payload, shrunk, curl)

    def plugin(self, trace: Trace | None) -> str:
        """Return the parser plugin for the family of the last run, as a file."""
        return shown_as(self._answers.failure)(self._plugin)(trace)

    def _plugin(self, trace: Trace | None) -> str:
        if trace is None or trace.parse is None:
            raise NOTHING
        found = trace.parse.parsed.format
        family = "all" if found in ("generic", "harmony") else found
        name = f"prompt_debugger_{family}.py"
        flags = f"--enable-auto-tool-choice --tool-parser-plugin {name} --tool-call-parser {PARSER_NAME}"
        hint = f"Start vLLM with `{flags}`."
        header: JSONObject = {"kind": "file", "name": name, "type": "text/x-python", "hint": hint}
        return self._answers.answer(header, write_plugin(family))

    @shown_as(bench_error_payload)
    async def upstream_test(self, trace: Trace | None, engine: str) -> AsyncGenerator[str, None]:
        """Write a test for maintainers, and run it where that is possible; or prove a diff for them."""
        if trace is None:
            raise NOTHING
        if engine.startswith(OF_DIFF):
            yield waiting_payload("Trying changes, each in a copy")
            found = await self._diff(trace, engine.removeprefix(OF_DIFF))
            yield await in_thread(diff_payload, found)
            return
        known = engine if engine in PARSER_TESTS else next(iter(PARSER_TESTS))
        if trace.server is None or trace.server.tool_parser is None:
            unnamed = "The server does not report which tool parser it uses, and a test needs its name."
            how = f"`report BUNDLE --upstream-test {known} --parser NAME` writes the test."
            raise RequestError(unnamed, f"Save the run as a JSON bundle; {how}")
        source = await sandbox_of().run(upstream_source, trace, known)
        runner, why_not = self._find_runner(known)
        if runner is None:
            yield await in_thread(upstream_payload, known, source, None, why_not)
            return
        yield waiting_payload(f"The test is written; it runs in {title_of(known)}")
        trial = await in_thread(try_source, source, runner)
        yield await in_thread(upstream_payload, known, source, trial, "")

    async def _diff(self, trace: Trace, wanted: str) -> UpstreamDiff:
        """Return a proved diff of the run's template or of a parser; a public page tries no parser's."""
        if wanted == "template":
            return await template_diff(trace, tries_test=not self._runs.is_public)
        known = wanted if wanted in PARSER_TESTS else next(iter(PARSER_TESTS))
        if self._runs.is_public:
            return UpstreamDiff(of=known, says="A public page does not try changes to a parser, so it has no diff.")
        return await parser_diff(await in_thread(case_of_trace, trace, None, known), known)

    def _find_runner(self, engine: str) -> tuple[Runner | None, str]:
        """Return what runs the test, or why it cannot be run."""
        package = PARSER_TESTS[engine].package
        if not package:
            return None, "a test for this project is only written here"
        if self._runs.is_public:
            return None, "a public page runs no tests"
        return runner_of(engine, package), why_not_run(engine)
