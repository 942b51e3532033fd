"""Make a failing request as small as it goes: the same finding, the same calls not returned."""

from __future__ import annotations

import argparse
import asyncio
import json

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSONObject, Parse
from prompt_debugger.core.pipeline import CaseParser
from prompt_debugger.core.tools.fixes.shrink import Shrunk, shrink_request
from prompt_debugger.core.tools.fixes.shrink_output import shrink_output
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.cli.output import (
    FOUND,
    OK,
    print_result,
    read_input,
    read_json_file,
    read_request_file,
)
from prompt_debugger.ui.cli.progress import log, say
from prompt_debugger.ui.cli.target_options import add_run_time, add_target_arguments, target_from_options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("request", nargs="?", metavar="REQUEST", help="file with the request, or - for standard input")
    parser.add_argument("--finding", metavar="CODE", help="the finding to keep (default: the first error)")
    parser.add_argument(
        "--budget", type=int, default=100, metavar="N", help="maximum number of runs on the server (default: 100)"
    )
    parser.add_argument("--raw", metavar="FILE", help="instead of a request: a raw output that --parser reads wrongly")
    parser.add_argument("--parser", metavar="NAME", help="with --raw: the parser, such as vllm:kimi_k2")
    parser.add_argument("--tools", metavar="FILE", help="with --raw: JSON file with the request's tools")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    add_target_arguments(parser)
    add_run_time(parser)
    parser.set_defaults(run=_run, doing="Making the request smaller")


def _run(options: argparse.Namespace) -> int:
    return _run_raw(options) if options.raw else _run_request(options)


def _run_raw(options: argparse.Namespace) -> int:
    """Shrink a raw output for a parser; nothing is asked of a server."""
    if not options.parser:
        raise RequestError(
            "The parser that reads the output wrongly was not given.", "Give it with --parser.", field="--parser"
        )
    case: JSONObject = {"raw": read_input(options.raw)}
    if options.tools:
        case["tools"] = read_json_file(options.tools, "--tools")
    with CaseParser() as parser:

        def read(one: JSONObject) -> Parse:
            return parser.parse(one)[0]

        shrunk = asyncio.run(shrink_output(case, options.parser, read))
    print_result(options, shrunk.to_json(), shrunk.raw + "\n")
    before, after = shrunk.size
    kept = f"{shrunk.fault} {shrunk.call or ''}".strip()
    log(f"{kept}: {before} characters became {after} in {shrunk.steps} steps")
    return FOUND


def _run_request(options: argparse.Namespace) -> int:
    labs = LabPool()
    try:
        shrunk = asyncio.run(_shrink(options, labs))
    finally:
        labs.stop_all()
    print_result(options, shrunk.to_json(), json.dumps(shrunk.request, ensure_ascii=False, indent=2) + "\n")
    before, after = shrunk.size
    log(f"{shrunk.finding}: {before} characters became {after}; reproduced in {shrunk.confirmed} of 3 confirming runs")
    return FOUND if shrunk.confirmed else OK


async def _shrink(options: argparse.Namespace, labs: LabPool) -> Shrunk:
    request = read_request_file(options.request or "-")
    target = target_from_options(options, request.base_url)
    return await shrink_request(request, target, labs, finding=options.finding, budget=options.budget, report=say)
