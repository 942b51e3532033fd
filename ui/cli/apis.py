"""`run --api all`: one request by chat completions, Responses and Messages, and what differs between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prompt_debugger.core.base.text import printable
from prompt_debugger.core.base.types import Request
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.pipeline import Progress, Target
from prompt_debugger.core.report import trace_to_json, trace_to_terminal
from prompt_debugger.core.tools.apis import ApiRuns, run_by_all
from prompt_debugger.core.tools.experiments.api_difference import ApiDifference
from prompt_debugger.core.tools.experiments.documents import apis_to_json
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.cli.output import exit_status, print_json, print_text
from prompt_debugger.ui.cli.sharing import write_trace


async def ask_all(
    request: Request,
    target: Target,
    labs: LabPool,
    say: Callable[[Progress], None],
    *,
    as_json: bool,
    report: str | None,
) -> int:
    """Run a request by all APIs, print what came, and return the exit status."""
    done = await run_by_all(request, target, labs, say)
    traces = {api: trace for api, trace in done.runs.items() if trace is not None}
    for api, trace in traces.items() if report else ():
        write_trace(str(report), trace, api.value)
    if as_json:
        runs = {api: None if trace is None else trace_to_json(trace) for api, trace in done.runs.items()}
        print_json(apis_to_json(runs, done.differences))
    else:
        print_text("\n".join(_lines(done)) + "\n")
    return exit_status(tuple(finding for trace in traces.values() for finding in trace.findings))


def _lines(done: ApiRuns) -> Iterator[str]:
    for api, trace in done.runs.items():
        yield f"== {api}"
        if trace is not None:
            yield trace_to_terminal(trace, title_of)
        elif api in done.problems:
            yield printable(f"No run: {done.problems[api].message}\n", on_one_line=True)
    yield "== differences"
    yield from map(_line, done.differences)
    if not done.differences:
        yield "None: prompts, outputs, answers and streams agree as far as they are known."


def _line(one: ApiDifference) -> str:
    first, second = one.between
    cause = one.cause or "not explained"
    return printable(f"{first} / {second} · {one.where}: {one.detail} Cause: {cause}", on_one_line=True)
