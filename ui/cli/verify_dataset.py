"""`verify --make-dataset OUT.jsonl FILE …`: a dataset from recorded requests."""

from __future__ import annotations

import argparse
from pathlib import Path

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.tools.verify.making import Made, make_dataset
from prompt_debugger.core.tools.verify.results import write_rows
from prompt_debugger.ui.cli.output import OK, print_json, print_text
from prompt_debugger.ui.cli.progress import log


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
