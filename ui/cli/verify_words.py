"""How far a verification is, and what came out of it, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.tools.verify import Progress

_BAR = 24
RATES = {
    "dropped_rate": "calls dropped",
    "altered_rate": "calls altered",
    "cut_rate": "calls cut short",
    "invented_rate": "calls invented",
    "leaked_rate": "answers with a call in their text",
    "schema_accuracy": "calls valid by their schema",
    "tool_call_rate": "answers with calls",
    "success_rate": "rows answered",
    "first_attempt_success_rate": "answered at the first attempt",
}


def progress_line(progress: Progress, elapsed_s: float) -> str:
    """Return the progress in one line: bar, rate, time left, calls lost so far."""
    done, total = progress.read + progress.failed, max(progress.total, 1)
    filled = min(_BAR, round(_BAR * done / total))
    rate = (done - progress.read_before) / elapsed_s if elapsed_s > 0 else 0.0
    eta = f"{_duration((progress.total - done) / rate)} left" if rate > 0 else "time left unknown"
    return (
        f"[{'#' * filled}{'.' * (_BAR - filled)}] {done}/{progress.total} · {rate:.1f}/s · {eta} · "
        f"{progress.limit} at once · {progress.failed} failed · {progress.lost} calls lost"
    )


def summary_to_terminal(summary: JSONObject) -> str:
    """Return a summary as a person reads it."""
    return "\n".join(_lines(summary)) + "\n"


def percent(rate: JSON) -> str:
    """Return a share with its interval and denominator."""
    if not isinstance(rate, dict) or rate["value"] is None:
        return "unknown (0 of 0)"
    value, low, high, n = (rate[name] for name in ("value", "low", "high", "n"))
    shown = f"{_percent(value)}"
    return f"{shown} of {n}" if low is None else f"{shown} ({_percent(low)} to {_percent(high)}) of {n}"


def _lines(summary: JSONObject) -> Iterator[str]:
    own = as_object(summary["debugger"])
    yield f"{own['dataset']} against {own['endpoint']}: {own['rows']} rows, {own['remaining']} not done"
    if own["stopped"]:
        yield f"Ended early: {own['stopped']}. Run the same command to continue."
    yield (
        f"finish: {summary['finish_stop']} stop, {summary['finish_tool_calls']} tool_calls, "
        f"{summary['finish_others']} other · {summary['failure_count']} failed · "
        f"{summary['successful_tool_call_count']} successful calls, "
        f"{summary['schema_validation_error_count']} schema errors"
    )
    yield (
        f"calls: {own['written']} written, {own['returned']} returned, {own['dropped']} dropped, "
        f"{own['altered']} altered, {own['cut']} cut, {own['invented']} invented, {own['leaked']} in the text"
    )
    rates = as_object(own["rates"])
    for name, words in RATES.items():
        yield f"  {words:32} {percent(rates[name])}"
    yield from _minimax_lines(own)
    yield from _baseline_lines(own["baseline"])
    for gate, holds in as_object(own["gates"]).items():
        yield f"gate {gate}: {'holds, so this fails' if holds else 'does not hold'}"
    for title, key in (("by cause", "by_code"), ("by stage", "by_stage"), ("evidence", "evidence")):
        counts = as_object(own[key])
        if counts:
            yield f"{title}: " + ", ".join(f"{name} {count}" for name, count in counts.items())


def _minimax_lines(own: JSONObject) -> Iterator[str]:
    figures = as_object(own.get("minimax"))
    if figures:
        yield "by MiniMax's labels:"
    for name, rate in figures.items():
        yield f"  {name.replace('_', ' '):32} {percent(rate)}"
    checks = as_object(own.get("not_judged"))
    if checks:
        yield "checks without a result, by rows: " + ", ".join(f"{name} {count}" for name, count in checks.items())


def _baseline_lines(baseline: JSON) -> Iterator[str]:
    if not isinstance(baseline, dict):
        return
    yield (
        f"against {baseline['source']}: {baseline['n_compared']} rows compared, {baseline['n_skipped']} skipped · "
        f"TP {baseline['tp']}, FP {baseline['fp']}, FN {baseline['fn']}, TN {baseline['tn']}"
    )
    yield f"  {'tool call F1':32} {percent(baseline['tool_call_f1'])}"
    for name, rate in as_object(baseline["differences"]).items():
        yield f"  {name.replace('_', ' ') + ', here minus there':32} {percent(rate)}"


def _percent(value: JSON) -> str:
    return f"{100 * float(str(value)):.1f}%"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
