"""`verify --api`: a dataset by one or all APIs of a server."""

from __future__ import annotations

import argparse
import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.files import write_named
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, Api, JSONObject
from prompt_debugger.core.report.wire import write_json
from prompt_debugger.core.tools.apis.dataset import ByApi, verify_by_api
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.core.tools.verify import Plan, Stop, write_rows
from prompt_debugger.core.tools.verify.dataset import count_rows
from prompt_debugger.ui.cli.output import FOUND, OK, log, print_json, print_text
from prompt_debugger.ui.cli.verify_words import percent, summary_to_terminal
from prompt_debugger.ui.present.words import count_of

_NOT_WITH = ("baseline", "baseline_endpoint", "ray", "report", "junit", "fail_if", "github")
_SAY_EVERY = 10


def add_api_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the option."""
    parser.add_argument(
        "--api",
        choices=(*Api, "all"),
        default=Api.CHAT,
        help="ask by this API, or by all three and compare them (default: chat)",
    )


def verify_apis(options: argparse.Namespace, plan: Plan) -> int:
    """Ask for a dataset by the API, or all, that the options name; return the exit status.

    Raises:
        RequestError: Something was asked for that is for chat completions alone.
    """
    for name in _NOT_WITH:
        if getattr(options, name):
            flag = f"--{name.replace('_', '-')}"
            raise RequestError(f"`--api {options.api}` cannot be combined with `{flag}`.", "Leave one out.", field=flag)
    apis = tuple(Api) if options.api == "all" else (Api(options.api),)
    labs, n_rows = LabPool(), count_rows(plan.dataset, shard=plan.shard, limit=plan.limit)
    try:
        found = asyncio.run(_verify(plan, apis, labs, n_rows))
    finally:
        labs.stop_all()
    output = Path(options.output)
    for api in apis:
        write_rows(output.with_name(f"{output.stem}-{api}{output.suffix}"), found.of(api))
    document = found.document(plan.dataset.name, n_rows)
    write_named(Path(options.summary), (write_json(document) + "\n",), encoding="ascii")
    if options.json:
        print_json(document)
    else:
        print_text("\n".join(_lines(document)) + "\n")
    summaries = [as_object(one) for one in as_object(document["apis"]).values()]
    errors = [as_object(as_object(as_object(one["debugger"])["rates"])["error_rate"])["value"] for one in summaries]
    is_bad = any(errors) or any(one["failure_count"] for one in summaries) or bool(document["differences"])
    return FOUND if is_bad else OK


async def _verify(plan: Plan, apis: tuple[Api, ...], labs: LabPool, n_rows: int) -> ByApi:
    stop = Stop()
    loop = asyncio.get_running_loop()

    def say(done: int) -> None:
        if done % _SAY_EVERY == 0 or done == n_rows:
            log(f"{done} of {count_of(n_rows, 'row')} by {count_of(len(apis), 'API')}")

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.ask)
    try:
        return await verify_by_api(plan, apis, labs, stop, say)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


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
