"""What `check` prints for people: what to start a server with, the matrix, the template."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from prompt_debugger.core.base.errors import shorten
from prompt_debugger.core.base.types import Finding
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.tools.check import Cell, Change, Check, plugin_commands, serve_commands

_VERDICTS = {
    "works": "WORKS",
    "works-with-limits": "WORKS, WITH LIMITS",
    "unknown": "UNKNOWN",
    "nothing-works": "NOTHING WORKS",
}
_ROWS, _PROBLEMS, _DELTAS = 8, 6, 12
_RIGHT, _STREAMED_WRONG, _WRONG, _NOT_ASKED = "+", "~", "-", "."


def check_to_terminal(check: Check, changes: Sequence[Change] | None = None, *, since: str = "") -> str:
    """Return a check as text, signs without colour; `since` is the model it was compared with, "" for a lock."""
    parts = (
        _head(check),
        _matrix(check),
        _findings(check.findings),
        _supports(check),
        _engines(check),
        _changes(changes, since),
    )
    return "\n".join([*chain.from_iterable(parts), ""])


def _head(check: Check) -> Iterator[str]:
    chosen = check.recommendation
    vocabulary = "its own vocabulary" if check.has_vocabulary else "an approximate vocabulary"
    asked = f"{title_of(check.engine)} {check.release} ({vocabulary})"
    yield f"{check.model.name}: {_VERDICTS[chosen.verdict]} with {asked}"
    commands = serve_commands(check)
    for one in commands.values():
        yield f"\n  {one.command}" + ("" if one.is_tried else "   # not tested here")
        for flag in one.flags if one.is_tried else ():
            yield f"      {' '.join(flag.words)}: {flag.reason}"
        if one.is_tried and one.note:
            yield f"      {one.note}"
    if commands:
        yield ""
    for words in check.model.evidence:
        yield f"  {words}"
    for reason in chosen.reasons[:_PROBLEMS]:
        yield f"  {reason}"
    if (plugin := plugin_commands(check)) is not None:
        yield "  Alternative, Prompt Debugger's own reader as a plugin:"
        yield from (f"    {command}" for command in (plugin.write, plugin.check, plugin.serve))
    yield from _smallest_split(check)
    yield from _smallest_answers(check)
    if len(chosen.reasons) > _PROBLEMS:
        yield f"  … and {len(chosen.reasons) - _PROBLEMS} more (--json has all)"


def _smallest_split(check: Check) -> Iterator[str]:
    """Yield the deltas of the shortest chunking in which a chosen parser fails."""
    row = check.cells.get(check.recommendation.name or "", {})
    split = {name: cell.split for name, cell in row.items() if cell.streamed is False and cell.split}
    if split:
        name = min(split, key=lambda one: (len(split[one]), sum(map(len, split[one]))))
        count = f"{len(split[name])} delta{'' if len(split[name]) == 1 else 's'}"
        yield f"  The smallest chunking that fails, `{name}` in {count}:"
        yield from (f"    {number + 1}  {shorten(delta, 100)}" for number, delta in enumerate(split[name][:_DELTAS]))
        if len(split[name]) > _DELTAS:
            yield f"    … and {len(split[name]) - _DELTAS} more (--json has all)"


def _smallest_answers(check: Check) -> Iterator[str]:
    """Yield the smallest of the drawn answers that fail, each problem once."""
    every = check.smaller.get(check.recommendation.name or "", {})
    seen: dict[str, str] = {}
    for name, one in every.items():
        call = one.ideal.answer.calls[0]
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        seen.setdefault(f"{call.name}({shorten(arguments, 100)}): {one.cell.problem}.", name)
    for words, name in list(seen.items())[:_PROBLEMS]:
        yield f"  The smallest of `{name}` that fails: {words}"


def _matrix(check: Check) -> Iterator[str]:
    """Yield the best rows, the recommended one first."""
    answers = [ideal.answer.name for ideal in check.ideals if ideal.is_whole]
    if not check.cells or not answers:
        return
    rows = sorted(check.cells, key=lambda name: _order(check, name))
    width = max(len(name.removeprefix("vllm:")) for name in rows[:_ROWS])
    yield ""
    yield (
        f"answers × parsers: {_RIGHT} returned correctly, {_STREAMED_WRONG} not in every chunking, {_WRONG} "
        f"not returned correctly, {_NOT_ASKED} not tested"
    )
    for index, name in enumerate(answers):
        yield f"  {' ' * width}  {'| ' * index}{name}"
    for name in rows[:_ROWS]:
        signs = " ".join(_sign(check.cells[name].get(answer)) for answer in answers)
        chosen = "  <- recommended" if name == check.recommendation.name else ""
        yield f"  {name.removeprefix('vllm:'):<{width}}  {signs}{chosen}"
    if len(rows) > _ROWS:
        yield f"  {len(rows) - _ROWS} more read fewer of them"


def _order(check: Check, name: str) -> tuple[bool, int, int, str]:
    cells = check.cells[name].values()
    passed, whole = sum(cell.is_passed for cell in cells), sum(cell.whole for cell in cells)
    return (name != check.recommendation.name, -passed, -whole, name)


def _sign(cell: Cell | None) -> str:
    if cell is None:
        return _NOT_ASKED
    if cell.is_passed:
        return _RIGHT
    return _STREAMED_WRONG if cell.whole and cell.streamed is False else _WRONG


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    if findings:
        yield "\ntemplate:"
    for one in findings:
        yield f"  {one.severity:<7} {one.code} {one.title}"
        yield f"          {one.detail}"


def _supports(check: Check) -> Iterator[str]:
    changed = {one.name: one.detail for one in check.template.probes if one.support == "changed"}
    supports: Mapping[str, bool] = {
        name: value for name, value in check.template.supports.items() if name not in changed
    }
    for words, answer in (("supports", True), ("does not support", False)):
        names = [name for name, value in supports.items() if value is answer]
        if names:
            yield f"  {words}: {', '.join(names)}"
    for name, detail in changed.items():
        yield f"  prints differently: {name} ({detail.rstrip('.')})"


def _engines(check: Check) -> Iterator[str]:
    """Yield which conversations transformers and an engine render differently, and why."""
    engines = check.engines
    if engines.skipped:
        yield f"\ntransformers and {engines.engine} were not compared: {engines.skipped}"
    compared = [one for one in engines.conversations if one.agrees is not None]
    if not compared:
        return
    same = sum(one.agrees is True for one in compared)
    yield f"\ntransformers and {engines.engine}: {same} of {len(compared)} conversations give the same prompt"
    if engines.note:
        yield f"  {engines.note}"
    for one in compared:
        if one.agrees is False:
            names = {"engine": engines.engine}
            refused = [f"{names.get(name, name)} refuses: {why}" for name, why in one.refusals.items()]
            yield f"  {one.name}: {'; '.join([*one.causes, *refused]) or 'for an unknown reason'}"


def _changes(changes: Sequence[Change] | None, since: str) -> Iterator[str]:
    if changes is None:
        return
    words = f"compared with {since}" if since else "since the lock"
    yield f"\n{words}:" if changes else f"\n{words} nothing has changed"
    for one in changes:
        yield f"  {'worse  ' if one.is_worse else '       '} {one.sentence}"
