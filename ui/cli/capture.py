"""Record what a client really sends: a proxy before a server, one file per exchange."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from prompt_debugger.core.base.text import printable
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete import may_carry_key
from prompt_debugger.core.report import redact_text
from prompt_debugger.core.tools.capture import Capture, Outcome, is_loopback, serve_capture
from prompt_debugger.ui.cli.front import until_stopped
from prompt_debugger.ui.cli.output import COULD_NOT_RUN, OK, masked_line, print_json, print_text
from prompt_debugger.ui.cli.progress import log

_PORT = 8765
_FOLDER = "captures"


def add_proxy_arguments(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Declare the options of a proxy."""
    parser.add_argument(
        "--upstream", required=required, metavar="URL", help="base URL of the server, such as http://localhost:8000/v1"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument(
        "--port", type=int, default=_PORT, help=f"port to listen on, 0 for any free one (default: {_PORT})"
    )
    parser.add_argument(
        "--host-name",
        action="append",
        default=[],
        metavar="NAME",
        help="additional host name that clients use for it, repeatable",
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_proxy_arguments(parser)
    parser.add_argument(
        "--out",
        default=_FOLDER,
        metavar="DIR_OR_FILE.jsonl",
        help=f"folder for one file per exchange, or file for one line per exchange (default: {_FOLDER})",
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON lines: one with base_url, then one per exchange"
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    printer = Printer()

    def ready(base_url: str, upstream: str) -> None:
        started = CaptureStarted(base_url=base_url, upstream=upstream, out=options.out, pid=os.getpid())
        printer.print(asdict(started) if options.json else base_url)
        log(f"Forwarding everything to {upstream}; exchanges are saved in {options.out}. Press Ctrl-C to end.")
        warn_of_exposure(options.host, upstream)

    def reported(outcome: Outcome) -> None:
        if outcome.failure is not None:
            log(masked_line(f"{outcome.failure.message} {outcome.failure.hint}"))
        printer.print(_outcome_json(outcome) if options.json else outcome_line(outcome))

    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # an answer that breaks off is reported in our line
    capture = Capture(options.upstream, Path(options.out), options.host, options.port, tuple(options.host_name))

    async def serve() -> int:
        with until_stopped() as ending:
            return await serve_capture(capture, ending, ready, reported)

    n_failed = asyncio.run(serve())
    if n_failed:
        log(f"{n_failed} exchange{'' if n_failed == 1 else 's'} could not be written.")
    return COULD_NOT_RUN if n_failed else OK


def warn_of_exposure(host: str, upstream: str) -> None:
    """Warn if others on the network can use a proxy, or read what goes through it."""
    if not is_loopback(host):
        log(
            f"Warning: others on the network can reach {host}: they can use the server through "
            "it, and what they send is saved here."
        )
    if not may_carry_key(upstream):
        log(f"Warning: {upstream} is not encrypted: keys that clients send are transmitted in clear text.")


class Printer:
    """Prints lines; anyone who stops reading them does not end the capture."""

    def __init__(self) -> None:
        self._is_heard = True

    def print(self, line: str | JSONObject) -> None:
        """Print, as long as there is someone to read it."""
        if not self._is_heard:
            return
        try:
            if isinstance(line, str):
                print_text(f"{line}\n")
            else:
                print_json(line)
        except BrokenPipeError:
            self._is_heard = False
            sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115  # what is left in its buffer is not written


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureStarted:
    """The first line of `capture --json`.

    Attributes:
        schema_version: Of this form.
        base_url: For clients, in place of the server's.
        upstream: The server.
        out: Where exchanges are written.
        pid: Process to end.
    """

    schema_version: int = 1
    base_url: str
    upstream: str
    out: str
    pid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedLine:
    """A line of `capture --json` for each exchange.

    Attributes:
        schema_version: Of this form.
        id: Its number; `null` for what is not kept.
        method: Of the request.
        path: Of the request.
        status: Of the answer.
        duration_s: How long it took.
        tool_calls: How many calls the answer has; `null` if it has no place for them.
        file: Where it was written.
        problem: Why it broke off.
        error: Why it could not be written.
    """

    schema_version: int = 1
    id: int | None
    method: str
    path: str
    status: int | None
    duration_s: float
    tool_calls: int | None
    file: str | None
    problem: str | None
    error: JSONObject | None


def outcome_line(outcome: Outcome) -> str:
    """Return what is printed of an exchange."""
    exchange = outcome.exchange
    status = "no answer" if exchange.status is None else str(exchange.status)
    path = printable(_path_of(outcome), on_one_line=True)
    parts = [f"{exchange.method} {path} {status} in {exchange.ended_s or 0.0:.2f} s"]
    if outcome.n_calls is not None:
        parts.append(f"{outcome.n_calls} tool call{'' if outcome.n_calls == 1 else 's'}")
    if exchange.error:
        parts.append(masked_line(exchange.error))
    if outcome.file is not None:
        parts.append(str(outcome.file))
    elif exchange.api is None:
        parts.append("not kept")
    return ", ".join(parts)


def _outcome_json(outcome: Outcome) -> JSONObject:
    exchange = outcome.exchange
    line = CapturedLine(
        id=exchange.number or None,
        method=exchange.method,
        path=_path_of(outcome),
        status=exchange.status,
        duration_s=round(exchange.ended_s or 0.0, 4),
        tool_calls=outcome.n_calls,
        file=None if outcome.file is None else str(outcome.file),
        problem=redact_text(exchange.error) or None,
        error=None if outcome.failure is None else outcome.failure.to_json(),
    )
    return asdict(line)


def _path_of(outcome: Outcome) -> str:
    path = outcome.exchange.path
    for secret in outcome.exchange.secrets:
        path = path.replace(secret, "[removed]")
    return redact_text(path)
