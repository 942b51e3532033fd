"""`verify vendor`: does a vendor's server refuse, count and constrain as the model's publisher says?"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.complete import ServerClient, Timeouts
from prompt_debugger.core.tools.verify.vendor import Case, Checked, check_vendor, parameter_cases, read_cases, report_of
from prompt_debugger.ui.cli.connection import extra_headers
from prompt_debugger.ui.cli.output import COULD_NOT_RUN, FOUND, OK, print_json, print_text
from prompt_debugger.ui.cli.run import api_key_for


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
    if options.json:
        print_json(report)
    else:
        print_text(_words(checked))
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
                f"  {one.status.replace('_', ' ')}: {one.case.suite} {one.case.id} ({one.case.mode}): {one.said}"
            )
    return "\n".join(lines) + "\n"
