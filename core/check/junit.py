"""A check as JUnit XML, which pipelines show: one case per answer, per finding of the template and per change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from prompt_debugger.core.check.lock import Change
from prompt_debugger.core.check.run import Check
from prompt_debugger.core.text import xml_text
from prompt_debugger.core.types import Severity


class _Case(NamedTuple):
    group: str
    name: str
    failure: str | None = None


def check_to_junit(check: Check, changes: Sequence[Change] = ()) -> str:
    """Return the XML; what fails is what makes the command fail, and errors of the template."""
    cases = [*_answers(check), *_template(check), *_changes(changes)]
    suite = ElementTree.Element(
        "testsuite",
        name=xml_text(f"check {check.model.name}"),
        tests=str(len(cases)),
        failures=str(sum(case.failure is not None for case in cases)),
    )
    for case in cases:
        element = ElementTree.SubElement(suite, "testcase", classname=xml_text(case.group), name=xml_text(case.name))
        if case.failure is not None:
            ElementTree.SubElement(element, "failure", message=xml_text(case.failure[:400])).text = xml_text(
                case.failure
            )
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _answers(check: Check) -> Iterator[_Case]:
    chosen = check.recommendation
    if chosen.name is None:
        yield _Case("parsers", "some parser reads the simplest call", "\n".join(chosen.reasons))
        return
    for answer, cell in check.cells[chosen.name].items():
        yield _Case(f"parsers {chosen.name}", answer, None if cell.is_passed else cell.problem)


def _template(check: Check) -> Iterator[_Case]:
    for one in check.template.findings:
        failure = f"{one.title}\n{one.detail}\n{one.fix}" if one.severity is Severity.ERROR else None
        yield _Case("template", f"{one.code} {one.title}", failure)


def _changes(changes: Sequence[Change]) -> Iterator[_Case]:
    for change in changes:
        yield _Case("changes", change.sentence[:160], change.sentence if change.is_worse else None)
