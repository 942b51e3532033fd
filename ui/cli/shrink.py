"""Make a failing request as small as it goes: the same finding, the same calls not returned."""

from __future__ import annotations

import argparse
import asyncio
import json

from prompt_debugger.core.lab import LabPool
from prompt_debugger.core.mend.shrink import Shrunk, shrink_request
from prompt_debugger.core.request import read_request
from prompt_debugger.ui.cli.output import FOUND, OK, log, print_json, print_text, read_input
from prompt_debugger.ui.cli.run import add_target_arguments, target_from_options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("request", nargs="?", metavar="REQUEST", help="file with the request, or - for standard input")
    parser.add_argument("--finding", metavar="CODE", help="the finding to keep (default: the first error)")
    parser.add_argument(
        "--budget", type=int, default=100, metavar="N", help="runs on the server at most (default: 100)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    add_target_arguments(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    labs = LabPool()
    try:
        shrunk = asyncio.run(_shrink(options, labs))
    finally:
        labs.stop_all()
    if options.json:
        print_json(shrunk.to_json())
    else:
        print_text(json.dumps(shrunk.request, ensure_ascii=False, indent=2) + "\n")
    before, after = shrunk.size
    log(f"{shrunk.finding}: {before} characters became {after}; seen in {shrunk.confirmed} of 3 confirming runs")
    return FOUND if shrunk.confirmed else OK


async def _shrink(options: argparse.Namespace, labs: LabPool) -> Shrunk:
    request = read_request(read_input(options.request or "-"))
    target = target_from_options(options, request.base_url)
    return await shrink_request(request, target, labs, finding=options.finding, budget=options.budget, tell=log)
