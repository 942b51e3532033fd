"""`verify row N`: the whole run of a row, from the journal, as `run` shows one."""

from __future__ import annotations

import argparse
from pathlib import Path

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.report import trace_to_json, trace_to_terminal
from prompt_debugger.core.report.wire import trace_from_json
from prompt_debugger.core.tools.verify import Journal
from prompt_debugger.ui.cli.output import exit_status, print_json, print_text
from prompt_debugger.ui.cli.sharing import write_trace


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
    if options.json:
        print_json({"data_index": index, **trace_to_json(trace)})
    else:
        print_text(trace_to_terminal(trace, title_of))
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
