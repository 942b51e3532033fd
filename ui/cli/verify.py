"""Ask an endpoint for every request of a dataset, and say how many calls are lost, where and why."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete import ServerClient, Timeouts, title_of
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.report import trace_to_json, trace_to_terminal
from prompt_debugger.core.report.wire import trace_from_json
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.core.tools.verify import (
    Budget,
    Journal,
    Outcome,
    Patience,
    Plan,
    Preparation,
    Progress,
    Stop,
    read_shard,
    verify,
)
from prompt_debugger.core.tools.verify.making import Made, make_dataset
from prompt_debugger.core.tools.verify.results import write_rows
from prompt_debugger.core.tools.verify.vendor import Case, Checked, check_vendor, parameter_cases, read_cases, report_of
from prompt_debugger.ui.cli.front import stopped_by
from prompt_debugger.ui.cli.output import COULD_NOT_RUN, FOUND, OK, exit_status, print_json, print_result, print_text
from prompt_debugger.ui.cli.progress import log, say
from prompt_debugger.ui.cli.sharing import write_trace
from prompt_debugger.ui.cli.spread.rows import verify_on_ray
from prompt_debugger.ui.cli.target_options import add_target_arguments, api_key_for, extra_headers, target_from_options
from prompt_debugger.ui.cli.verify_apis import ALL, add_api_argument, finish_apis, targets_by_api
from prompt_debugger.ui.cli.verify_options import add_published_arguments, check_published, count, positive
from prompt_debugger.ui.cli.verify_results import check_gates, finish, merge
from prompt_debugger.ui.cli.verify_words import progress_line

_MERGE = "merge"
_ROW = "row"
_VENDOR = "vendor"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "dataset",
        metavar="DATASET.jsonl",
        help="one chat request per line, as K2VV's or MiniMax's; or `merge`, `row`, `vendor`",
    )
    parser.add_argument(
        "files",
        nargs="*",
        metavar="RESULTS.jsonl",
        help="with `merge`: the results of all shards; with `vendor`: cases",
    )
    add_target_arguments(parser)
    add_published_arguments(parser)
    add_api_argument(parser)
    parser.add_argument("--baseline-endpoint", metavar="URL", help="a second server, which gets the same requests")
    parser.add_argument("--baseline", metavar="RESULTS.jsonl", help="results to compare with, ours or K2VV's")
    parser.add_argument("--output", metavar="FILE", default="results.jsonl", help="rows (default: results.jsonl)")
    parser.add_argument("--summary", metavar="FILE", default="summary.json", help="summary (default: summary.json)")
    parser.add_argument("--journal", metavar="FILE", help="journal of completed requests (default: next to the output)")
    parser.add_argument("--fresh", action="store_true", help="discard the journal and start again")
    parser.add_argument("--limit", type=positive, metavar="N", help="only the first N requests")
    parser.add_argument("--shard", metavar="I/N", default="1/1", help="only every Nth request, starting with the Ith")
    parser.add_argument(
        "--make-dataset", metavar="OUT.jsonl", help="send nothing: write the requests of HARs, logs and saved runs here"
    )
    parser.add_argument("--ray", metavar="ADDRESS", help="a Ray cluster whose machines share the work")
    _add_asking_arguments(parser)
    add_vendor_arguments(parser)
    parser.add_argument(
        "--fail-if", action="append", default=[], metavar="EXPR", help="exit 1 if this holds: 'dropped_rate > 0.5%%'"
    )
    parser.add_argument("--report", metavar="DIR", help="write the report as HTML, with its runs")
    parser.add_argument("--junit", metavar="FILE", help="write rows and gates as JUnit XML")
    parser.add_argument("--github", action="store_true", help="annotations and a step summary for GitHub (docs/ci.md)")
    parser.add_argument("--json", action="store_true", help="print the summary and nothing else on stdout")
    parser.set_defaults(run=_run, doing="Asking the server")


def _add_asking_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--concurrency",
        type=positive,
        metavar="N",
        help="parallel requests (default: as many as the server can handle)",
    )
    parser.add_argument("--retries", type=count, default=3, metavar="N", help="retries (default: 3)")
    parser.add_argument(
        "--backoff", type=float, default=2.0, metavar="S", help="seconds before the first retry, doubled with each"
    )
    parser.add_argument("--timeout", type=float, default=600.0, metavar="S", help="seconds to wait for an answer")
    parser.add_argument(
        "--outage", type=float, default=300.0, metavar="S", help="seconds to wait for a server that cannot be reached"
    )
    parser.add_argument("--extra-body", metavar="JSON", help="additional fields for every request")
    parser.add_argument(
        "--temperature", type=float, metavar="X", help="temperature for every request, instead of the one it has"
    )
    parser.add_argument(
        "--max-tokens", type=positive, metavar="N", help="max_tokens for every request, instead of the one it has"
    )
    parser.add_argument("--budget-requests", type=positive, metavar="N", help="stop after this many requests")
    parser.add_argument("--budget-tokens", type=positive, metavar="N", help="stop after this many tokens")
    parser.add_argument("--budget-seconds", type=float, metavar="S", help="stop after this many seconds")


def _run(options: argparse.Namespace) -> int:
    check_published(options)
    check_gates(options)
    if options.make_dataset:
        return write_dataset(options)
    if options.dataset == _MERGE:
        return merge(options)
    if options.dataset == _ROW:
        return show_row(options)
    if options.dataset == _VENDOR:
        return check(options)
    if options.files:
        raise RequestError(
            f"Only one dataset can be verified at a time, not {options.files[0]!r} as well.", field="DATASET"
        )
    plan = plan_from_options(options)
    if not plan.dataset.is_file():
        raise RequestError(f"There is no dataset {options.dataset!r}.", "Give a file of requests.", field="DATASET")
    end = finish_apis if options.api == ALL else finish
    if options.ray:
        return verify_on_ray(options, plan, partial(end, options), _teller())
    labs = LabPool()
    try:
        with Journal(plan.journal) as journal:
            outcome = asyncio.run(_verify(plan, journal, labs))
            return end(options, plan, journal, outcome)
    finally:
        labs.stop_all()


def plan_from_options(options: argparse.Namespace) -> Plan:
    """Return what the options ask for.

    Raises:
        RequestError: They contradict each other, or a file is missing.
    """
    output = Path(options.output)
    target = target_from_options(options)
    targets: tuple[Target, ...] = (target,)
    if options.baseline_endpoint:
        url = options.baseline_endpoint
        key = api_key_for(url, options.api_key_env)
        targets = (target, replace(target, base_url=url, api_key=key, extra_headers=()))
    return Plan(
        dataset=Path(options.dataset),
        targets=targets_by_api(options, targets),
        journal=Path(options.journal) if options.journal else output.with_suffix(".sqlite"),
        preparation=Preparation(
            model=options.model,
            temperature=options.temperature,
            max_tokens=options.max_tokens,
            extra_body=_json_object(options.extra_body),
            is_streamed=options.stream,
        ),
        shard=read_shard(options.shard),
        limit=options.limit,
        concurrency=options.concurrency,
        timeout_s=options.timeout,
        patience=Patience(options.retries, options.backoff, options.outage),
        budget=Budget(options.budget_requests, options.budget_tokens, options.budget_seconds),
        is_fresh=options.fresh,
    )


async def _verify(plan: Plan, journal: Journal, labs: LabPool) -> Outcome:
    stop = Stop()

    def interrupt(number: signal.Signals) -> None:
        if number is signal.SIGTERM:  # anyone who sends it waits for no answer to be read
            stop.ask()
        if stop.asking.is_set():
            log("Stopping at once; the answers so far are kept for the next run.")
        else:
            log("Stopping: received answers are still being read. Press Ctrl-C again to leave that to the next run.")
        stop.ask()

    with stopped_by(interrupt):
        return await verify(plan, journal, clock=time.monotonic, labs=labs, stop=stop, on_progress=_teller())


def _json_object(text: str | None) -> JSONObject:
    if text is None:
        return {}
    try:
        value: JSON = json.loads(text)
    except ValueError as error:
        raise RequestError(f"--extra-body is not JSON: {error}", field="--extra-body") from None
    if not isinstance(value, dict):
        raise RequestError("--extra-body is not a JSON object.", field="--extra-body")
    return value


def _teller() -> Callable[[Progress], None]:
    """Return a listener that prints the progress."""
    began = time.monotonic()
    return lambda progress: say(progress_line(progress, time.monotonic() - began))


def write_dataset(options: argparse.Namespace) -> int:
    """Write the dataset, say what it holds, and return the exit status.

    Raises:
        RequestError: A file cannot be read or written, or there is no request in any.
    """
    output = Path(options.make_dataset)
    files = [Path(options.dataset), *(Path(name) for name in options.files)]
    if output in files:
        raise RequestError(f"{options.make_dataset!r} is one of the input files.", "Choose another --make-dataset.")
    made = Made()
    rows = list(make_dataset(files, made))
    for problem in made.unread:
        log(f"Left out: {problem}")
    if not rows:
        raise RequestError(
            "None of the files contains a chat request.", "Supported are HARs, logs, saved runs and lines of JSON."
        )
    write_rows(output, rows)
    counts = {"requests": made.found, "rows": made.kept, "folded": made.found - made.kept, "left_out": made.n_unread}
    if options.json:
        print_json({"dataset": str(output), **counts})
    else:
        print_text(
            f"{output}: {made.kept} rows of {made.found} requests; {counts['folded']} near-duplicates folded, "
            f"{made.n_unread} left out\n"
        )
    return OK


def show_row(options: argparse.Namespace) -> int:
    """Print the run of a row, or write its report and bundle; returns the exit status of such a run.

    Raises:
        RequestError: There is no such journal, or no run of that row in it.
    """
    if len(options.files) != 1 or not options.files[0].isdecimal():
        raise RequestError("`verify row` shows one row.", "Give its number (`data_index`), as in `verify row 17`.")
    index = int(options.files[0])
    trace = trace_from_json(_document(_journal_of(options, index), index, options.api))
    if options.report:
        write_trace(options.report, trace)
    print_result(options, {"data_index": index, **trace_to_json(trace)}, trace_to_terminal(trace, title_of))
    return exit_status(trace.findings)


def _journal_of(options: argparse.Namespace, index: int) -> Path:
    """Return the journal that has a row: the one, or that of its shard."""
    path = Path(options.journal) if options.journal else Path(options.output).with_suffix(".sqlite")
    shards = list(path.parent.glob(f"{path.stem}.shard-*-of-*{path.suffix}"))
    if shards and not path.is_file():
        count = int(shards[0].stem.rpartition("-of-")[2])
        path = path.with_name(f"{path.stem}.shard-{(index - 1) % count + 1}-of-{count}{path.suffix}")
    if not path.is_file():
        raise RequestError(f"There is no journal {str(path)!r}.", "Give it with --journal.", field="--journal")
    return path


def _document(path: Path, index: int, api: str) -> JSONObject:
    with Journal(path) as journal:
        apis = as_object(journal.fact("identity")).get("apis")
        side = apis.index(api) if isinstance(apis, list) and api in apis else 0
        document = journal.trace(side, index)
        row = journal.row(side, index)
    if document is not None:
        return document
    response = None if row is None else row.get("response")
    why = f": {response['error']}" if isinstance(response, dict) and "error" in response else ""
    raise RequestError(f"The journal has no run of row {index}{why}")


def add_vendor_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--immutable",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="with `vendor`: a parameter that must be refused with 400",
    )
    parser.add_argument(
        "--think-mode",
        choices=("kimi", "opensource", "none"),
        default="none",
        help="with `vendor`: how thinking is switched, for --immutable with and without it",
    )


def check(options: argparse.Namespace) -> int:
    """Ask every case and say what came; returns the exit status.

    Raises:
        RequestError: There is no endpoint or no case.
    """
    if not options.endpoint:
        raise RequestError("`verify vendor` needs an --endpoint.", field="--endpoint")
    cases = list(_cases(options))
    if not cases:
        raise RequestError("There is nothing to check.", "Give files of cases, or --immutable NAME=VALUE.")
    checked = asyncio.run(_check(options, cases))
    report = report_of(checked)
    print_result(options, report, _words(checked))
    statuses = {one.status for one in checked}
    return FOUND if "failed" in statuses else OK if "passed" in statuses else COULD_NOT_RUN


async def _check(options: argparse.Namespace, cases: list[Case]) -> list[Checked]:
    key = api_key_for(options.endpoint, options.api_key_env)
    timeouts = Timeouts(read_s=options.timeout, total_s=options.timeout)
    headers = extra_headers(options)
    async with ServerClient(
        options.endpoint, api_key=key, timeouts=timeouts, extra_headers=headers, ca_file=options.ca_file
    ) as client:
        server = await client.probe(options.model)
        return await check_vendor(
            client, cases, model=options.model or server.model, concurrency=options.concurrency or 8
        )


def _cases(options: argparse.Namespace) -> Iterator[Case]:
    parameters: dict[str, JSON] = {}
    for text in options.immutable:
        name, _, value = text.partition("=")
        try:
            parameters[name] = json.loads(value)
        except ValueError:
            raise RequestError(f"{text!r} is not NAME=VALUE with a JSON value.", field="--immutable") from None
    yield from parameter_cases(parameters, options.think_mode)
    for name in options.files:
        yield from read_cases(Path(name))


def _words(checked: list[Checked]) -> str:
    counts = {name: sum(one.status == name for one in checked) for name in ("passed", "failed", "infra_error")}
    lines = [f"{counts['passed']} passed, {counts['failed']} failed, {counts['infra_error']} could not be asked"]
    for one in checked:
        if one.status != "passed":
            lines.append(
                f"  {one.status.replace('_', ' ')}: {one.case.suite} {one.case.id} ({one.case.mode}): {one.answer}"
            )
    return "\n".join(lines) + "\n"
