"""What `parse --splits` and `parse --releases` print for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prompt_debugger.core.base.types import JSONObject, SplitTrial, VllmOutcome
from prompt_debugger.core.tools.experiments import ReleaseTable

_SHOWN_DELTAS = 12


def splits_to_terminal(outcomes: Mapping[str, VllmOutcome]) -> str:
    """Return which chunkings stream to another message, and the smallest of them with the place where they part."""
    lines = ["", "streamed in every chunking:"]
    for name, outcome in outcomes.items():
        failing = [trial for trial in outcome.trials if trial.difference is not None]
        if outcome.error is not None:
            lines.append(f"  {name}: failed: {outcome.error}")
        elif not failing:
            lines.append(f"  {name}: the same message in all {len(outcome.trials)}")
        else:
            lines.append(f"  {name}: a different message in {len(failing)} of {len(outcome.trials)}: {_names(failing)}")
            lines.append(f"    smallest: {outcome.first_unequal}")
            lines += _deltas(outcome)
    return "\n".join(lines) + "\n"


def releases_to_terminal(table: ReleaseTable) -> str:
    """Return what each release makes of the output, and where calls appear and vanish."""
    lines = ["", f"{table.parser} by release:"]
    for row in table.rows:
        names = [] if row.outcome is None else [_name(call) for call in row.outcome.tool_calls]
        found = f"calls {', '.join(names)}" if names else "no call"
        lines.append(f"  {row.version:10} {row.error or found}")
    for call in table.calls:
        lines += [f"  {call.name} disappears in {after}; {before} still reads it" for before, after in call.vanishes_in]
        if call.since is not None:
            lines.append(f"  {call.name} is read since {call.since}, of the releases tested")
        lines += [f"  {call.name} appears in {after}; {before} does not read it" for before, after in call.appears_in]
    return "\n".join(lines) + "\n"


def _names(trials: Sequence[SplitTrial]) -> str:
    names = [trial.name for trial in trials]
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")


def _deltas(outcome: VllmOutcome) -> list[str]:
    parts_at = outcome.parts_at
    if parts_at is None:
        return []
    first = max(0, parts_at - _SHOWN_DELTAS // 2)
    shown = list(enumerate(outcome.smallest_split))[first : first + _SHOWN_DELTAS]
    return [f"    {'->' if index == parts_at else '  '} {index + 1:4} {text!r}" for index, text in shown]


def _name(call: JSONObject) -> str:
    function = call.get("function")
    return str(function.get("name")) if isinstance(function, dict) else "?"
