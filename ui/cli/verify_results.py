"""How a `verify` ends: results, summary, JUnit, report, output, exit status; and `verify merge` for shards."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.files import write_named
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import Api, JSONObject
from prompt_debugger.core.report.wire import trace_from_json, write_json
from prompt_debugger.core.report.wire.verification import PairedRecord
from prompt_debugger.core.tools.verify import (
    About,
    Kept,
    Outcome,
    Plan,
    Suite,
    Tally,
    check_figures,
    cluster_rows,
    compare_rows,
    gated_summary,
    merged_rows,
    read_gate,
    read_results,
    summary_of,
    wilson,
    write_junit,
    write_rows,
)
from prompt_debugger.ui.cli.github import add_summary, annotate, verify_summary
from prompt_debugger.ui.cli.output import COULD_NOT_RUN, FOUND, OK, print_result, sentences
from prompt_debugger.ui.cli.progress import log
from prompt_debugger.ui.cli.verify_words import summary_to_terminal
from prompt_debugger.ui.report import share_trace, times_of, verification_to_html

INTERRUPTED = 130
_Rows = Callable[[], Iterable[JSONObject]]


def check_gates(options: argparse.Namespace) -> None:
    """Refuse a gate that cannot be read or names no figure, before anything is asked.

    Raises:
        RequestError: A gate cannot be read; says what was expected.
    """
    gates = [read_gate(text) for text in options.fail_if]
    has_baseline = bool(options.baseline or options.baseline_endpoint)
    about = About("", "", "1/1", 0, 0, None, "", 0, differing=wilson(0, 0) if options.api == "all" else None)
    baseline = compare_rows((), (), "") if has_baseline else None
    empty = summary_of(Tally(), about, baseline=baseline)
    for gate in gates:
        check_figures(gate, empty)


class Judged(NamedTuple):
    """The rows of a server, judged; `held` says of each gate whether it triggers."""

    name: str
    api: Api
    rows: _Rows
    summary: JSONObject
    held: Mapping[str, bool]


def finish(options: argparse.Namespace, plan: Plan, journal: Kept, outcome: Outcome) -> int:
    """Write the files of all servers, print the summary of the first, and return the exit status."""
    baseline: tuple[str, _Rows] | None = None
    if len(outcome.names) > 1:
        other = _next_to(Path(options.output))
        write_rows(other, journal.rows(1))
        summary = summary_of(Tally().add_all(journal.rows(1)), outcome.about(plan, 1))
        _write_text(_next_to(Path(options.summary)), write_json(summary) + "\n")
        baseline = (outcome.names[1], lambda: journal.rows(1))
    elif options.baseline:
        baseline = (Path(options.baseline).name, lambda: read_results(Path(options.baseline)))
    one = _end_one(options, lambda: journal.rows(0), outcome.about(plan), baseline)
    if options.report:
        report_rows(Path(options.report), one, journal, plan.journal)
    return status_of(options, outcome, [one])


def merge(options: argparse.Namespace) -> int:
    """Put the results of all shards together and write them as one verification's.

    Raises:
        RequestError: A file is missing, or does not contain results.
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
    one = _end_one(options, rows, about, None if baseline is None else (baseline.name, lambda: read_results(baseline)))
    if options.report:
        report_rows(Path(options.report), one, None, None)
    return status_of(options, None, [one])


def report_rows(folder: Path, one: Judged, journal: Kept | None, file: Path | None, side: int = 0) -> None:
    """Write the report and, of every row that it shows, the page of its run."""
    clusters = cluster_rows(one.rows())
    pages: dict[int, str] = {}
    for index in (example.row for cluster in clusters for example in cluster.smallest):
        document = None if journal is None else journal.trace(side, index)
        if document is not None:
            shared = share_trace(trace_from_json(document))
            pages[index] = f"rows/{index}.html"
            _write_text(folder / pages[index], shared.html, encoding="utf-8")
            _write_text(folder / "rows" / f"{index}.json", shared.bundle, encoding="utf-8")
    html = verification_to_html(one.summary, clusters, times_of(one.rows()), pages, None if file is None else str(file))
    _write_text(folder / "index.html", html, encoding="utf-8")
    log(f"Report: {folder / 'index.html'}")


def judge_rows(
    options: argparse.Namespace, rows: _Rows, about: About, output: Path, paired: PairedRecord | None
) -> Judged:
    """Write the rows of a server, and return them judged."""
    summary, held = gated_summary(rows(), about, [read_gate(text) for text in options.fail_if], paired)
    write_rows(output, rows())
    by = "" if about.api is Api.CHAT else f" by {about.api.label}"
    return Judged(f"{about.dataset} against {about.endpoint}{by}", about.api, rows, summary, held)


def write_and_print(options: argparse.Namespace, judged: Sequence[Judged], document: JSONObject, text: str) -> None:
    """Write summary and JUnit, and print the summary: `document` as JSON, `text` for a person."""
    _write_text(Path(options.summary), write_json(document) + "\n")
    if options.junit:
        write_junit(Path(options.junit), (Suite(one.name, one.rows(), one.held) for one in judged))
    if options.github:
        for one in judged:
            holding = [gate for gate, holds in one.held.items() if holds]
            by = "" if len(judged) == 1 else f" by {one.api.label}"
            for gate in holding:
                annotate("error", "verify --fail-if", f"{gate} holds{by}.")
            add_summary(verify_summary(one.summary, holding))
    print_result(options, document, text)


def _end_one(options: argparse.Namespace, rows: _Rows, about: About, baseline: tuple[str, _Rows] | None) -> Judged:
    """Write rows, summary and JUnit, and print the summary."""
    paired: PairedRecord | None = None
    if baseline is not None:
        paired = compare_rows(rows(), baseline[1](), baseline[0])
    one = judge_rows(options, rows, about, Path(options.output), paired)
    write_and_print(options, [one], one.summary, summary_to_terminal(one.summary))
    return one


def status_of(
    options: argparse.Namespace, outcome: Outcome | None, judged: Sequence[Judged], *, differs: bool = False
) -> int:
    """Return the exit status: whether a gate triggers, or, without gates, whether anything is wrong."""
    if outcome is not None and outcome.error is not None:
        error = outcome.error
        log(f"{type(error).__name__}: {sentences(error.message, error.hint)}")
        return COULD_NOT_RUN
    if outcome is not None and outcome.stopped == "interrupted":
        return INTERRUPTED
    if options.fail_if:
        return FOUND if any(any(one.held.values()) for one in judged) else OK
    return FOUND if differs or any(_has_errors(one.summary) for one in judged) else OK


def _has_errors(summary: JSONObject) -> bool:
    rates = as_object(as_object(summary["debugger"])["rates"])
    return bool(as_object(rates["error_rate"])["value"] or summary["failure_count"])


def _next_to(path: Path) -> Path:
    return path.with_name(f"{path.stem}-baseline{path.suffix}")


def _write_text(path: Path, text: str, encoding: str = "ascii") -> None:
    write_named(path, (text,), encoding=encoding)
