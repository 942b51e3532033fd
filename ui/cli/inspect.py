"""Show what pasted evidence holds: a request, a raw output, a response, a stream, an error, a log, a saved run."""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import asdict, dataclass

from prompt_debugger.core.complete import title_of
from prompt_debugger.core.evidence import Form, gather_evidence, parts_of, show_evidence
from prompt_debugger.core.report import trace_to_json, trace_to_terminal
from prompt_debugger.ui.cli.output import add_output_arguments, exit_status, print_json, print_text, read_input
from prompt_debugger.ui.cli.progress import log
from prompt_debugger.ui.cli.sharing import write_trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What `inspect --json` says besides the document of `run`.

    Attributes:
        taken_for: The form that the evidence was read as.
        holds: The parts of a run that it contains.
        row: Which of several records was read.
        rows: How many there are.
    """

    taken_for: str
    holds: tuple[str, ...]
    row: int
    rows: int


_OF_ANOTHER = " is shown: no problem was found in "  # of a note on which of several answers is shown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "evidence",
        metavar="FILE",
        nargs="+",
        help="file with what was copied, or - for standard input; several files are parts of one run",
    )
    parser.add_argument("--request", metavar="FILE", help="file with the request, if FILE is the answer")
    parser.add_argument("--prompt", metavar="FILE", help="file with the prompt that the model read")
    parser.add_argument(
        "--as",
        dest="form",
        choices=[form.value.replace(" ", "-") for form in Form],
        metavar="FORM",
        help="what to read it as instead of auto-detecting: "
        + ", ".join(form.value.replace(" ", "-") for form in Form),
    )
    parser.add_argument(
        "--row", type=int, default=1, metavar="N", help="which line, or which recorded exchange, from 1"
    )
    add_output_arguments(parser)
    parser.set_defaults(run=_run, doing="Reading the evidence")


def _run(options: argparse.Namespace) -> int:
    wanted = None if options.form is None else Form(options.form.replace("-", " "))
    texts = [read_input(name) for name in options.evidence]
    request, prompt = (None if name is None else read_input(name) for name in (options.request, options.prompt))
    evidence = gather_evidence(texts, wanted, options.row, request=request, prompt=prompt)
    log(f"Read as {evidence.words}")
    trace = asyncio.run(show_evidence(evidence))
    for note in trace.notes if exit_status(trace.findings) else ():  # else the notes are printed below
        if note not in evidence.notes and _OF_ANOTHER in note:
            log(note)
    if options.report:
        write_trace(options.report, trace)
    if options.json:
        holds = tuple(part.value for part in parts_of(trace))
        taken = Taken(taken_for=evidence.form.value, holds=holds, row=evidence.row, rows=evidence.rows)
        print_json({**asdict(taken), "holds": [*holds], **trace_to_json(trace)})
    else:
        print_text(trace_to_terminal(trace, title_of))
    return exit_status(trace.findings)
