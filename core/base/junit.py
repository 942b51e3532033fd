"""JUnit XML, which every CI shows, piece by piece: a suite of very many cases is never in memory whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from prompt_debugger.core.base.text import xml_text

JUNIT_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


class JUnitCase(NamedTuple):
    """One case of a suite.

    Attributes:
        group: What it belongs to; JUnit's class.
        name: What it is called, within its group.
        problem: What is wrong; `None` if it passed.
        message: The same in short.
        kind: `failure` if it is not as it has to be, `error` if that could not be found out.
    """

    group: str
    name: str
    problem: str | None = None
    message: str = ""
    kind: Literal["failure", "error"] = "failure"


def suite_lines(name: str, cases: Iterable[JUnitCase], *, counts: tuple[int, int] | None = None) -> Iterator[str]:
    """Yield the lines of a `<testsuite>`, which follow `JUNIT_HEAD`; `counts`: how many cases there are, and failed."""
    reported = "" if counts is None else f' tests="{counts[0]}" failures="{counts[1]}"'
    yield f"<testsuite name={_attribute(name)}{reported}>\n"
    for case in cases:
        yield _case(case)
    yield "</testsuite>"


def _case(case: JUnitCase) -> str:
    head = f"<testcase classname={_attribute(case.group)} name={_attribute(case.name)}"
    if case.problem is None:
        return f"{head}/>\n"
    problem = f"<{case.kind} message={_attribute(case.message)}>{escape(xml_text(case.problem))}</{case.kind}>"
    return f"{head}>{problem}</testcase>\n"


def _attribute(text: str) -> str:
    return quoteattr(xml_text(text))
