"""A check as JUnit XML, which pipelines show: one case per answer, per finding of the template and per change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prompt_debugger.core.base.junit import JUNIT_HEAD, JUnitCase, suite_lines
from prompt_debugger.core.base.types import Severity
from prompt_debugger.core.tools.check.changes import Change
from prompt_debugger.core.tools.check.run import Check

_LONGEST_MESSAGE = 400


def check_to_junit(check: Check, changes: Sequence[Change] = ()) -> str:
    """Return the XML; what fails is what makes the command fail, and errors of the template."""
    cases = [*_answers(check), *_template(check), *_changes(changes)]
    counts = (len(cases), sum(case.problem is not None for case in cases))
    return JUNIT_HEAD + "".join(suite_lines(f"check {check.model.name}", cases, counts=counts)) + "\n"


def _case(group: str, name: str, failure: str | None = None) -> JUnitCase:
    return JUnitCase(group, name, failure, (failure or "")[:_LONGEST_MESSAGE])


def _answers(check: Check) -> Iterator[JUnitCase]:
    chosen = check.recommendation
    if chosen.name is None:
        yield _case("parsers", "a parser reads the simplest call", "\n".join(chosen.reasons))
        return
    for answer, cell in check.cells[chosen.name].items():
        yield _case(f"parsers {chosen.name}", answer, None if cell.is_passed else cell.problem)


def _template(check: Check) -> Iterator[JUnitCase]:
    for one in check.template.findings:
        failure = f"{one.title}\n{one.detail}\n{one.fix}" if one.severity is Severity.ERROR else None
        yield _case("template", f"{one.code} {one.title}", failure)


def _changes(changes: Sequence[Change]) -> Iterator[JUnitCase]:
    for change in changes:
        yield _case("changes", change.sentence[:160], change.sentence if change.is_worse else None)
