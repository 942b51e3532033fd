"""What `verify` leaves: results, summary, JUnit, what is printed, and the exit status; `verify merge` for shards."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.files import write_named
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.report.wire import trace_from_json, write_json
from prompt_debugger.core.report.wire.verification import PairedRecord
from prompt_debugger.core.tools.verify import (
    About,
    Outcome,
    Plan,
    Tally,
    check_figures,
    cluster_rows,
    compare_rows,
    gated_summary,
    merged_rows,
    read_gate,
    read_results,
    summary_of,
    write_junit,
    write_rows,
)
from prompt_debugger.ui.cli.github import add_summary, annotate, verify_summary
from prompt_debugger.ui.cli.output import COULD_NOT_RUN, FOUND, OK, log, print_json, print_text, sentences
from prompt_debugger.ui.cli.verify_words import summary_to_terminal
from prompt_debugger.ui.report import share_trace, times_of, verification_to_html

INTERRUPTED = 130
_Rows = Callable[[], Iterable[JSONObject]]


def check_gates(options: argparse.Namespace) -> None:
    """Refuse a gate that cannot be read or names no figure, before anything is asked.

    Raises:
        RequestError: One is none; says what was expected.
    """
    gates = [read_gate(text) for text in options.fail_if]
    has_baseline = bool(options.baseline or options.baseline_endpoint)
    about = About("", "", "1/1", 0, 0, None, "", 0)
    baseline = compare_rows((), (), "") if has_baseline else None
    empty = summary_of(Tally(), about, baseline=baseline)
    for gate in gates:
        check_figures(gate, empty)


class Kept(Protocol):
    """What was kept of a verification: a journal, or those of all its shards."""

    def rows(self, side: int) -> Iterable[JSONObject]:
        """Yield the rows of the results, by their number."""

    def trace(self, side: int, index: int) -> JSONObject | None:
        """Return the whole run of a row."""


def finish(options: argparse.Namespace, plan: Plan, journal: Kept, outcome: Outcome) -> int:
    """Write the files of all servers, say what came out, and return the exit status."""
    baseline: tuple[str, _Rows] | None = None
    if len(outcome.names) > 1:
        other = _next_to(Path(options.output))
        write_rows(other, journal.rows(1))
        summary = summary_of(Tally().add_all(journal.rows(1)), outcome.about(plan, 1))
        _write_text(_next_to(Path(options.summary)), write_json(summary) + "\n")
        baseline = (outcome.names[1], lambda: journal.rows(1))
    elif options.baseline:
        baseline = (Path(options.baseline).name, lambda: read_results(Path(options.baseline)))
    summary = _leave(options, lambda: journal.rows(0), outcome.about(plan), baseline)
    if options.report:
        _report(Path(options.report), summary, lambda: journal.rows(0), journal, plan.journal)
    return _status(options, outcome, summary)


def merge(options: argparse.Namespace) -> int:
    """Put the results of all shards together and write them as one verification's.

    Raises:
        RequestError: A file is missing, or is none.
    """
    if not options.files:
        raise RequestError("Nothing to merge.", "Give the results of all shards after `merge`.", field="RESULTS")
    paths = [Path(name) for name in options.files]
    if Path(options.output) in paths:
        raise RequestError(f"{options.output!r} is one of the files to merge.", "Choose another --output.")

    def rows() -> Iterable[JSONObject]:
        return merged_rows([read_results(path) for path in paths])

    count = sum(1 for _ in rows())
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    about = About("merged", ", ".join(path.name for path in paths), "1/1", count, 0, None, now, 0)
    baseline = Path(options.baseline) if options.baseline else None
    summary = _leave(
        options, rows, about, None if baseline is None else (baseline.name, lambda: read_results(baseline))
    )
    if options.report:
        _report(Path(options.report), summary, rows, None, None)
    return _status(options, None, summary)


def _report(folder: Path, summary: JSONObject, rows: _Rows, journal: Kept | None, file: Path | None) -> None:
    """Write the report and, of every row that it shows, the page of its run."""
    clusters = cluster_rows(rows())
    pages: dict[int, str] = {}
    for index in (example.row for cluster in clusters for example in cluster.smallest):
        document = None if journal is None else journal.trace(0, index)
        if document is not None:
            shared = share_trace(trace_from_json(document))
            pages[index] = f"rows/{index}.html"
            _write_text(folder / pages[index], shared.html, encoding="utf-8")
            _write_text(folder / "rows" / f"{index}.json", shared.bundle, encoding="utf-8")
    html = verification_to_html(summary, clusters, times_of(rows()), pages, None if file is None else str(file))
    _write_text(folder / "index.html", html, encoding="utf-8")
    log(f"Report: {folder / 'index.html'}")


def _leave(options: argparse.Namespace, rows: _Rows, about: About, baseline: tuple[str, _Rows] | None) -> JSONObject:
    """Write rows, summary and JUnit, and print the summary."""
    paired: PairedRecord | None = None
    if baseline is not None:
        paired = compare_rows(rows(), baseline[1](), baseline[0])
    summary, held = gated_summary(rows(), about, [read_gate(text) for text in options.fail_if], paired)
    write_rows(Path(options.output), rows())
    _write_text(Path(options.summary), write_json(summary) + "\n")
    if options.junit:
        write_junit(Path(options.junit), rows(), held, name=f"{about.dataset} against {about.endpoint}")
    if options.github:
        for text in (text for text, holds in held.items() if holds):
            annotate("error", "verify --fail-if", f"{text} holds.")
        add_summary(verify_summary(summary, [text for text, holds in held.items() if holds]))
    if options.json:
        print_json(summary)
    else:
        print_text(summary_to_terminal(summary))
    return summary


def _status(options: argparse.Namespace, outcome: Outcome | None, summary: JSONObject) -> int:
    if outcome is not None and outcome.error is not None:
        error = outcome.error
        log(f"{type(error).__name__}: {sentences(error.message, error.hint)}")
        return COULD_NOT_RUN
    if outcome is not None and outcome.stopped == "interrupted":
        return INTERRUPTED
    own = summary["debugger"]
    assert isinstance(own, dict)
    gates, rates = own["gates"], own["rates"]
    assert isinstance(gates, dict)
    assert isinstance(rates, dict)
    if options.fail_if:
        return FOUND if any(gates.values()) else OK
    errors = rates["error_rate"]
    has_errors = isinstance(errors, dict) and bool(errors["value"])
    return FOUND if has_errors or summary["failure_count"] else OK


def _next_to(path: Path) -> Path:
    return path.with_name(f"{path.stem}-baseline{path.suffix}")


def _write_text(path: Path, text: str, encoding: str = "ascii") -> None:
    write_named(path, (text,), encoding=encoding)
