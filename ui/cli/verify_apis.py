"""`verify --api all`: what it leaves of a dataset that was asked by several APIs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.files import write_named
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, Api, JSONObject
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.report.wire import dump_document
from prompt_debugger.core.tools.apis import COMPARED
from prompt_debugger.core.tools.apis.dataset import differences_of
from prompt_debugger.core.tools.verify import Kept, Outcome, Plan, compare_rows
from prompt_debugger.ui.cli.progress import log
from prompt_debugger.ui.cli.verify_results import judge_rows, report_rows, status_of, write_and_print
from prompt_debugger.ui.cli.verify_words import percent, summary_to_terminal
from prompt_debugger.ui.present.words import count_of
from prompt_debugger.ui.report import apis_to_html

SCHEMA_VERSION = 1
ALL = "all"
_NOT_WITH_ALL = ("baseline", "baseline_endpoint")


def add_api_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the option."""
    parser.add_argument(
        "--api",
        choices=(*Api, ALL),
        default=Api.CHAT,
        help="ask by this API, or by chat, responses and messages and compare them (default: chat)",
    )


def targets_by_api(options: argparse.Namespace, targets: tuple[Target, ...]) -> tuple[Target, ...]:
    """Return what is asked: the targets by the API that the options name, or the first by all of them.

    Raises:
        RequestError: All are wanted, and something else to compare with.
    """
    if options.api != ALL:
        return tuple(replace(target, api=Api(options.api)) for target in targets)
    for name in _NOT_WITH_ALL:
        if getattr(options, name):
            flag = f"--{name.replace('_', '-')}"
            raise RequestError(f"`--api all` cannot be combined with `{flag}`.", "Leave one out.", field=flag)
    return tuple(replace(targets[0], api=api) for api in COMPARED)


def finish_apis(options: argparse.Namespace, plan: Plan, kept: Kept, outcome: Outcome) -> int:
    """Write rows, summary, JUnit and reports of all APIs, print the summary, and return the exit status."""
    found = differences_of(kept, plan.apis)
    first, *others = plan.apis
    output, by_api = Path(options.output), []
    for side, api in enumerate(plan.apis):
        about = outcome.about(plan, side)._replace(differing=found.rate_of(api))
        rows = partial(kept.rows, side)
        paired = compare_rows(rows(), kept.rows(0), first.label) if side else None
        file = output.with_name(f"{output.stem}-{api}{output.suffix}")
        by_api.append(judge_rows(options, rows, about, file, paired))
    document: JSONObject = {
        "schema_version": SCHEMA_VERSION,
        "apis": {one.api.value: one.summary for one in by_api},
        "rows_that_differ": {api.value: dump_document(found.rate_of(api)) for api in others},
        "differences": [*found.document()],
    }
    write_and_print(options, by_api, document, "\n".join(_lines(document)) + "\n")
    if options.report:
        folder = Path(options.report)
        for side, one in enumerate(by_api):
            report_rows(folder / one.api, one, kept, plan.journal, side)
        write_named(folder / "index.html", (apis_to_html(document),), encoding="utf-8")
        log(f"Report: {folder / 'index.html'}")
    return status_of(options, outcome, by_api, differs=bool(found.kinds))


def _lines(document: JSONObject) -> Iterator[str]:
    for api, summary in as_object(document["apis"]).items():
        yield f"== {Api(api).label}"
        yield summary_to_terminal(as_object(summary))
    for api, rate in as_object(document["rows_that_differ"]).items():
        yield f"rows that differ by {Api(api).label}: {percent(rate)}"
    differences: JSON = document["differences"]
    for one in map(as_object, differences if isinstance(differences, list) else []):
        between, n_rows = one["between"], one["rows"]
        assert isinstance(between, list)
        assert isinstance(n_rows, int)
        yield (
            f"  {between[0]} / {between[1]} · {one['where']} · {one['cause'] or 'not explained'}: "
            f"{count_of(n_rows, 'row')}, first row {one['first_row']}: {one['example']}"
        )
