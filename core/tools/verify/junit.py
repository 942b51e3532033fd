"""Rows and gates as JUnit XML: a failed row or one with an error finding is a failed test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

from prompt_debugger.core.base.files import write_named
from prompt_debugger.core.base.junit import JUNIT_HEAD, JUnitCase, suite_lines
from prompt_debugger.core.base.text import xml_text
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.report import redact_text

_LONGEST = 2000


class Suite(NamedTuple):
    """The rows of a server."""

    name: str
    rows: Iterable[JSONObject]
    gates: Mapping[str, bool]


def write_junit(path: Path, suites: Iterable[Suite]) -> None:
    """Write the file, row by row.

    Raises:
        RequestError: It cannot be written.
    """
    lines = (line for suite in suites for line in suite_lines(suite.name, _cases(suite.rows, suite.gates)))
    write_named(path, chain((f"{JUNIT_HEAD}<testsuites>",), lines, ("</testsuites>\n",)), field="--junit")


def _cases(rows: Iterable[JSONObject], gates: Mapping[str, bool]) -> Iterator[JUnitCase]:
    for row in rows:
        yield _case_of(row)
    for gate, holds in gates.items():
        yield JUnitCase("gates", gate, *(("the gate triggers",) * 2 if holds else ()))


def _case_of(row: JSONObject) -> JUnitCase:
    """Return the case of a row: an `error` where there is no answer, a `failure` where a rule found an error."""
    name = f"row {row['data_index']}"
    if row.get("status") != "success":
        response = row.get("response")
        return _failed(name, str(response.get("error") if isinstance(response, dict) else response), "error")
    own = row.get("debugger")
    if not isinstance(own, dict) or not own.get("errors"):
        return JUnitCase("rows", name)
    codes = own["errors"]
    named = ", ".join(map(str, codes)) if isinstance(codes, list) else ""
    return _failed(name, f"{named}: {own.get('verdict')}", "failure")


def _failed(name: str, problem: str, kind: Literal["failure", "error"]) -> JUnitCase:
    text = xml_text(redact_text(problem))[:_LONGEST]
    return JUnitCase("rows", name, text, text.splitlines()[0] if text else "", kind)
