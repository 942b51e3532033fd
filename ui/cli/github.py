"""What GitHub shows of a command: annotations at a file's line, and a summary of the step in Markdown."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from prompt_debugger.core.base.errors import DebuggerError, RenderError
from prompt_debugger.core.base.types import Finding, JSONObject, Severity
from prompt_debugger.core.report import redact_text
from prompt_debugger.core.tools.check import Change, Check
from prompt_debugger.core.tools.fixes.exports import template_line
from prompt_debugger.ui.present.words import count_of

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_MAX_PARSERS = 8  # of the matrix
_OUTCOMES = {"returned": "🟩", "dropped": "🟥", "altered": "🟧", "cut": "🟨", "invented": "🟪", "leaked": "🟫"}
_WIDEST = 30  # squares


def annotate(level: str, title: str, message: str, file: str = "", line: int | None = None) -> None:
    """Print an annotation; on stderr, where a document on stdout stays whole."""
    properties = {"file": file, "line": "" if line is None else str(line), "title": title}
    reported = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    print(f"::{level} {reported}::{_data(redact_text(message))}", file=sys.stderr, flush=True)


def annotate_findings(findings: Iterable[Finding], file: str) -> None:
    """Print an annotation for each finding about a file."""
    for one in findings:
        reported = f"{one.title} {one.fix}".strip()
        annotate(_LEVELS[one.severity], f"{one.code} {one.name}", reported, file, template_line(one, None))


def annotate_error(error: DebuggerError, file: str) -> None:
    """Print an annotation for what could not be done, at the template's line where it has one."""
    line = error.template_line if isinstance(error, RenderError) else None
    annotate("error", type(error).__name__, f"{error.message} {error.hint}".strip(), file, line)


def add_summary(markdown: str) -> None:
    """Add to the step's summary; does nothing where there is none."""
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(redact_text(markdown) + "\n")


def check_summary(check: Check, changes: Sequence[Change] | None, file: str = "") -> str:
    """Return a check as Markdown: what to start, which parsers read which answers, what is wrong, what has changed."""
    chosen = check.recommendation
    verdict = chosen.verdict if check.cells else f"{count_of(len(check.findings), 'finding')} in the template"
    lines = [f"## check {_cell(file or check.model.name)}: {verdict}", ""]
    lines += [_cell(reason) for reason in chosen.reasons[:4]]
    best = sorted(check.cells, key=lambda name: -sum(cell.is_passed for cell in check.cells[name].values()))
    answers = [ideal.answer.name for ideal in check.ideals]
    if best:
        lines += ["", "🟩 comes back whole and in every chunking, 🟥 does not"]
        lines += ["", f"| parser | {' | '.join(map(_cell, answers))} |", "|---" * (len(answers) + 1) + "|"]
    for name in best[:_MAX_PARSERS]:
        cells = check.cells[name]
        marks = ["" if answer not in cells else "🟩" if cells[answer].is_passed else "🟥" for answer in answers]
        lines.append(f"| `{name}` | {' | '.join(marks)} |")
    lines += ["", *findings_table(check.findings)]
    for change in changes or ():
        lines.append(f"- {'**worse**: ' if change.is_worse else ''}{_cell(change.sentence)}")
    return "\n".join(lines) + "\n"


def findings_table(findings: Sequence[Finding]) -> list[str]:
    """Return findings as a table in Markdown."""
    if not findings:
        return ["No findings."]
    rows = [f"| {one.code} | {one.severity.value} | {_cell(one.title)} | {_cell(one.fix)} |" for one in findings]
    return ["| code | severity | finding | fix |", "|---|---|---|---|", *rows, ""]


def verify_summary(summary: JSONObject, held: Iterable[str]) -> str:
    """Return a verification as Markdown: the counts, the causes, the gates that hold."""
    own = summary["debugger"]
    assert isinstance(own, dict)
    lines = [f"## verify {_cell(str(own['dataset']))} against {_cell(str(own['endpoint']))}", ""]
    lines += [f"{own['rows']} requests; the model wrote {own['written']} calls.", "", "| calls | | |", "|---|--:|---|"]
    lines += _picture({name: count for name in _OUTCOMES if isinstance(count := own[name], int)})
    by_code = own["by_code"]
    lines += [f"- {code}: {count}" for code, count in (by_code.items() if isinstance(by_code, dict) else ())]
    return "\n".join([*lines, *(f"- **gate holds**: `{text}`" for text in held)]) + "\n"


def _picture(counts: Mapping[str, int]) -> list[str]:
    """Return rows of a table with squares, to scale; what there is gets at least one."""
    most = max(counts.values(), default=0)
    squares = {name: -(-count * _WIDEST // most) if most else 0 for name, count in counts.items()}
    return [f"| {name} | {count} | {_OUTCOMES[name] * squares[name]} |" for name, count in counts.items()] + [""]


def _cell(text: str) -> str:
    """Return a text that ends no cell and no line, and begins no markup of its own."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
