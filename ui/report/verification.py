"""The report of a verification as one HTML file: rates with intervals, causes with their smallest requests, plots.

Opens offline, in light and dark; every plot is an SVG in the page. What rows
say is masked and escaped here and nowhere else.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from prompt_debugger.core.base.assets import assets_dir
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.text import clipped, printable
from prompt_debugger.core.base.types import JSON, Api, JSONObject
from prompt_debugger.core.report import redact_text
from prompt_debugger.core.tools.verify import Cluster, wilson
from prompt_debugger.ui.present.verification import RATE_WORDS, cause_words

_LONGEST = 300  # characters of a text in a cell
_MAX_TIMES = 20_000
_MAX_LISTED = 5000  # rows at fault, over all causes
_WIDTH, _LABEL, _NOTE, _ROW = 760, 270, 245, 26
_SMALLEST_SCALE = 0.05


class Bar(NamedTuple):
    """A bar of a plot: what it is of, its share with both ends of its interval, and its numbers in words."""

    label: str
    value: float
    low: float
    high: float
    note: str


def verification_to_html(
    summary: JSONObject,
    clusters: Sequence[Cluster],
    times: Sequence[tuple[str, bool]],
    pages: Mapping[int, str],
    journal: str | None = None,
) -> str:
    """Return the report; `pages` has by number of a row the address of its whole trace."""
    own = as_object(summary["debugger"])
    title = f"{own['dataset']} against {own['endpoint']}"
    opener = None if journal is None else f"--journal {shlex.quote(journal)}"
    if opener is not None and own["api"] != Api.CHAT:
        opener += f" --api {own['api']}"
    causes = _causes(clusters, pages, opener)
    parts = [*_header(summary, own), *_plots(own), _timeline(times), *causes, *_baseline(own)]
    return _page(title, parts)


def apis_to_html(document: JSONObject) -> str:
    """Return the page of a document of `verify --api all`: each API's report, how many rows differ, and why."""
    summaries = {name: as_object(summary) for name, summary in as_object(document["apis"]).items()}
    rates = as_object(document["rows_that_differ"])
    own = as_object(next(iter(summaries.values()))["debugger"])
    title = f"{own['dataset']} against {own['endpoint']} by {len(summaries)} APIs"
    links = "".join(
        f'<li><a href="{name}/index.html">{_text(Api(name).label)}</a>: {summary["success_count"]} answered, '
        f"{summary['failure_count']} failed, {summary['successful_tool_call_count']} with valid calls</li>"
        for name, summary in summaries.items()
    )
    differing = [_bar(Api(name).label, as_object(rate)) for name, rate in rates.items() if as_object(rate)["n"]]
    parts = [f"<h1>{_text(title)}</h1><ul>{links}</ul>"]
    parts += [_section("Rows that differ from chat completions, with 95 % intervals", _plot(differing))]
    parts += [_differences_table(document["differences"])]
    return _page(title, parts)


def _differences_table(found: JSON) -> str:
    differences = [as_object(one) for one in found] if isinstance(found, list) else []
    if not differences:
        return _section("What differs", "<p>Nothing.</p>")
    rows = "".join(
        f"<tr><td>{_text(Api(str(between[1])).label)}: {_text(str(one['where']))}</td><td>{one['rows']}</td>"
        f"<td><b>{_text(str(one['cause'] or 'not explained'))}</b>, first in row {one['first_row']}: "
        f"{_text(clipped(str(one['example']), _LONGEST))}</td></tr>"
        for one in differences
        if isinstance(between := one["between"], list)
    )
    head = "".join(f"<th>{name}</th>" for name in ("what differs", "rows", "cause"))
    return _section("What differs", f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>")


def _page(title: str, parts: Iterable[str]) -> str:
    css = (assets_dir() / "css" / "verify.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(title)}</title><style>{css}</style></head><body><main>\n"
        + "\n".join(parts)
        + "\n</main></body></html>\n"
    )


def _header(summary: JSONObject, own: JSONObject) -> Iterator[str]:
    yield f"<h1>{_text(str(own['dataset']))} <small>against {_text(str(own['endpoint']))}</small></h1>"
    if own["stopped"]:
        yield f'<p class="stopped">Ended early: {_text(str(own["stopped"]))}. {own["remaining"]} rows are not done.</p>'
    tiles = {
        "rows": own["rows"],
        "calls written": own["written"],
        "dropped": own["dropped"],
        "altered": own["altered"],
        "cut": own["cut"],
        "in the text": own["leaked"],
        "schema errors": summary["schema_validation_error_count"],
        "failed": summary["failure_count"],
    }
    cells = "".join(f"<div><b>{_text(str(value))}</b><span>{name}</span></div>" for name, value in tiles.items())
    yield f'<section class="tiles">{cells}</section>'
    evidence = ", ".join(f"{name} {count}" for name, count in as_object(own["evidence"]).items())
    yield (
        f"<p>Calls are counted in {own['compared']} rows whose raw output could be compared with the answer. "
        f"Evidence: {_text(evidence)}.</p>"
    )


def _plots(own: JSONObject) -> Iterator[str]:
    rates = as_object(own["rates"])
    bars = [_bar(words, as_object(rates[name])) for name, words in RATE_WORDS.items() if as_object(rates[name])["n"]]
    yield _section("Rates, with 95 % intervals", _plot(bars))
    judged = int(str(as_object(rates["fault_rate"])["n"]))
    for title, key in (("Causes, as a share of the rows read", "by_code"), ("Stages at fault", "by_stage")):
        counts = as_object(own[key])
        if counts and judged:
            yield _section(title, _plot([_share(cause_words(name), int(str(n)), judged) for name, n in counts.items()]))
    tools = as_object(own["by_tool"])
    pairs = [(name, counts) for name, counts in tools.items() if isinstance(counts, list)]
    if pairs:
        lost = [_share(name, int(str(counts[1])), int(str(counts[0]))) for name, counts in pairs]
        yield _section("Calls lost, by tool", _plot(lost))


def _causes(clusters: Sequence[Cluster], pages: Mapping[int, str], opener: str | None) -> Iterator[str]:
    if not clusters:
        yield _section("Rows with faults", "<p>None.</p>")
        return
    yield "<h2>Rows with faults, by cause</h2>"
    left = _MAX_LISTED
    for cluster in clusters:
        name = ", ".join(cause_words(code) for code in cluster.codes) or "no rule explains it"
        stage = f" · stage {_text(cluster.stage)}" if cluster.stage else ""
        rows = "".join(_example(one, pages) for one in cluster.smallest)
        count = "1 row" if cluster.count == 1 else f"{cluster.count} rows"
        yield (
            f"<details open><summary><b>{_text(name)}</b> · {count}{stage}</summary>"
            "<table><thead><tr><th>row</th><th>asked</th><th>what happened</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>"
            f"{_all_rows(cluster, cluster.rows[:left], pages, opener)}</details>"
        )
        left -= min(left, len(cluster.rows))


def _all_rows(cluster: Cluster, listed: Sequence[int], pages: Mapping[int, str], opener: str | None) -> str:
    """Return the numbers of a cause's rows, each with the command that opens its run, and how many are left out."""
    more = cluster.count - len(listed)
    rest = f"<p>{more} more are not listed here; `debugger.codes` of the results names their cause.</p>" if more else ""
    if not listed:
        return rest
    label = "All rows of this cause" if not more else f"The first {len(listed)} rows of this cause"
    lines = "".join(f"<li>{_row_line(index, pages, opener)}</li>" for index in listed)
    return f'<details class="all"><summary>{label}</summary><ul>{lines}</ul>{rest}</details>'


def _row_line(index: int, pages: Mapping[int, str], opener: str | None) -> str:
    if opener is None:
        return _row_link(index, pages)
    command = f"prompt-debugger verify row {index} {opener}"
    return f"{_row_link(index, pages)} <code>{_text(command)}</code>"


def _row_link(index: int, pages: Mapping[int, str]) -> str:
    return f'<a href="{escape(pages[index])}">row {index}</a>' if index in pages else f"row {index}"


def _example(one: tuple[int, int, str, str], pages: Mapping[int, str]) -> str:
    _, index, question, verdict = one
    cells = (_row_link(index, pages), _text(clipped(question, _LONGEST)), _text(clipped(verdict, _LONGEST)))
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _baseline(own: JSONObject) -> Iterator[str]:
    baseline = own["baseline"]
    if not isinstance(baseline, dict):
        return
    cells = "".join(
        f"<tr><td>{_text(name.replace('_', ' '))}</td><td>{_interval(as_object(rate), signed=True)}</td></tr>"
        for name, rate in as_object(baseline["differences"]).items()
    )
    f1 = _interval(as_object(baseline["tool_call_f1"]))
    plot = _differences_plot(as_object(baseline["differences"]))
    yield _section(
        f"Compared with {_text(str(baseline['source']))}",
        f"<p>{baseline['n_compared']} rows compared, {baseline['n_skipped']} skipped. TP {baseline['tp']}, "
        f"FP {baseline['fp']}, FN {baseline['fn']}, TN {baseline['tn']}; tool call F1 {f1}.</p>"
        f'<div class="beside">{plot}<table><thead><tr><th>rows</th><th>here less there</th></tr></thead>'
        f"<tbody>{cells}</tbody></table></div>",
    )


def _differences_plot(differences: JSONObject) -> str:
    """Return each difference as a bar to the right (more here) or left (fewer) of none, with its interval."""
    rates = {name: as_object(rate) for name, rate in differences.items()}
    reported = [(name, _ends(rate)) for name, rate in rates.items() if rate["value"] is not None]
    if not reported:
        return ""
    most = max(_SMALLEST_SCALE, *(abs(end) for _, ends in reported for end in ends))
    middle, half = 270, 140
    lines = []
    for number, (name, ends) in enumerate(reported):
        y = number * _ROW
        low, value, high = (middle + half * end / most for end in ends)
        start, length = min(middle, value), abs(value - middle)
        lines.append(
            f'<text x="0" y="{y + 17}">{_text(name.replace("_", " "))}</text>'
            f'<rect class="track" x="{middle - half}" y="{y + 5}" width="{2 * half}" height="15" rx="2"/>'
            f'<rect class="bar" x="{start:.1f}" y="{y + 5}" width="{length:.1f}" height="15"/>'
            f'<path class="whisker" d="M{low:.1f} {y + 12.5}H{high:.1f}M{low:.1f} {y + 8}v9M{high:.1f} {y + 8}v9"/>'
        )
    foot = _ROW * len(reported)
    ends_said = (
        (middle - half, "start", f"{-most:+.0%}"),
        (middle, "middle", "0"),
        (middle + half, "end", f"{most:+.0%}"),
    )
    scale = "".join(
        f'<text x="{x}" y="{foot + 14}" text-anchor="{anchor}" class="note">{text}</text>'
        for x, anchor, text in ends_said
    )
    axis = f'<path class="axis" d="M{middle} 0V{foot}"/>'
    return f'<svg viewBox="0 0 {middle + half} {foot + 18}" role="img">{"".join(lines)}{axis}{scale}</svg>'


def _ends(rate: JSONObject) -> tuple[float, float, float]:
    value = float(str(rate["value"]))
    return (
        value if rate["low"] is None else float(str(rate["low"])),
        value,
        value if rate["high"] is None else float(str(rate["high"])),
    )


def _interval(rate: JSONObject, *, signed: bool = False) -> str:
    if rate["value"] is None:
        return "unknown"
    form = "{:+.1%}" if signed else "{:.1%}"
    value = form.format(float(str(rate["value"])))
    if rate["low"] is None:
        return value
    return f"{value} ({form.format(float(str(rate['low'])))} to {form.format(float(str(rate['high'])))})"


def _bar(label: str, rate: JSONObject) -> Bar:
    value, low, high = (float(str(rate[name])) for name in ("value", "low", "high"))
    return Bar(label, value, low, high, f"{_interval(rate)} of {rate['n']}")


def _share(label: str, count: int, n: int) -> Bar:
    rate = wilson(count, n)
    return Bar(label, rate.value or 0.0, rate.low or 0.0, rate.high or 0.0, f"{count} of {n}")


def _plot(bars: Sequence[Bar]) -> str:
    """Return bars with whiskers; the numbers are next to them, so nothing is said by length or colour alone."""
    width = _WIDTH - _LABEL - _NOTE
    lines = []
    for number, bar in enumerate(bars):
        y = number * _ROW
        at = [_LABEL + width * value for value in (bar.low, bar.value, bar.high)]
        lines.append(
            f'<text x="0" y="{y + 17}">{_text(clipped(bar.label, 42))}</text>'
            f'<rect class="track" x="{_LABEL}" y="{y + 5}" width="{width}" height="15" rx="2"/>'
            f'<rect class="bar" x="{_LABEL}" y="{y + 5}" width="{at[1] - _LABEL:.1f}" height="15" rx="2"/>'
            f'<path class="whisker" '
            f'd="M{at[0]:.1f} {y + 12.5}H{at[2]:.1f}M{at[0]:.1f} {y + 8}v9M{at[2]:.1f} {y + 8}v9"/>'
            f'<text x="{_LABEL + width + 8}" y="{y + 17}" class="note">{_text(bar.note)}</text>'
        )
    height = _ROW * len(bars)
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img">{"".join(lines)}</svg>'


def _timeline(times: Sequence[tuple[str, bool]]) -> str:
    """Return how many rows were answered over time, those at fault below."""
    ordered = sorted(times)
    if len(ordered) < 2:
        return ""
    count = min(60, len(ordered))
    bins = [[0, 0] for _ in range(count)]
    for place, (_, is_faulty) in enumerate(ordered):
        bins[place * count // len(ordered)][is_faulty] += 1
    most, width = max(sum(one) for one in bins), _WIDTH / count
    bars = []
    for number, (good, bad) in enumerate(bins):
        x, tall, low = number * width, 80 * (good + bad) / most, 80 * bad / most
        bars.append(
            f'<rect class="bar" x="{x:.1f}" y="{84 - tall:.1f}" width="{width - 1:.1f}" height="{tall - low:.1f}"/>'
        )
        bars.append(f'<rect class="fault" x="{x:.1f}" y="{84 - low:.1f}" width="{width - 1:.1f}" height="{low:.1f}"/>')
    svg = f'<svg viewBox="0 0 {_WIDTH} 88" role="img">{"".join(bars)}</svg>'
    span = f"{ordered[0][0][:19]} to {ordered[-1][0][:19]} UTC"
    return _section("Answers in their order; the lower part has faults", f"{svg}<p>{_text(span)}</p>")


def _section(title: str, inner: str) -> str:
    return f"<section><h2>{title}</h2>{inner}</section>"


def _text(text: str) -> str:
    return escape(printable(redact_text(text)))


def times_of(rows: Iterable[JSONObject]) -> list[tuple[str, bool]]:
    """Return when each row was answered, and whether it is at fault; of very many, evenly chosen ones."""
    times = Times()
    for row in rows:
        times.add(row)
    return times.kept


class Times:
    """Takes rows one by one, and keeps when each was answered and whether it is at fault; of very many, some."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, bool]] = []
        self._number, self._step = 0, 1

    def add(self, row: JSONObject) -> None:
        """Take one row."""
        if self._number % self._step == 0:
            own = as_object(row.get("debugger"))
            is_faulty = row.get("status") != "success" or own.get("stage") is not None
            self.kept.append((str(row.get("last_run_at") or ""), is_faulty))
        self._number += 1
        if len(self.kept) > _MAX_TIMES:
            self.kept, self._step = self.kept[::2], self._step * 2
