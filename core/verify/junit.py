"""Rows and gates as JUnit XML, which every CI shows: a failed row or one with an error finding is a failed test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from prompt_debugger.core.errors import RequestError
from prompt_debugger.core.text import xml_text
from prompt_debugger.core.types import JSONObject

_LONGEST = 2000


def write_junit(path: Path, rows: Iterable[JSONObject], gates: Mapping[str, bool], *, name: str) -> None:
    """Write the file, row by row.

    Raises:
        RequestError: It cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as file:
            file.write(
                f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites><testsuite name={quoteattr(xml_text(name))}>\n'
            )
            file.writelines(_case(f"row {row['data_index']}", "rows", *_failure(row)) for row in rows)
            for gate, holds in gates.items():
                file.write(_case(gate, "gates", "the gate holds" if holds else None, "failure"))
            file.write("</testsuite></testsuites>\n")
    except OSError as error:
        raise RequestError(f"cannot write {str(path)!r}: {error.strerror or error}", field="--junit") from None


def _failure(row: JSONObject) -> tuple[str | None, str]:
    """Return what is wrong with a row, and whether that is an `error` (no answer) or a `failure`."""
    if row.get("status") != "success":
        response = row.get("response")
        return str(response.get("error") if isinstance(response, dict) else response), "error"
    own = row.get("debugger")
    if not isinstance(own, dict) or not own.get("errors"):
        return None, "failure"
    codes = own["errors"]
    named = ", ".join(map(str, codes)) if isinstance(codes, list) else ""
    return f"{named}: {own.get('verdict')}", "failure"


def _case(name: str, group: str, problem: str | None, kind: str) -> str:
    head = f"<testcase classname={quoteattr(group)} name={quoteattr(xml_text(name))}"
    if problem is None:
        return f"{head}/>\n"
    text = xml_text(problem)[:_LONGEST]
    return (
        f"{head}><{kind} message={quoteattr(text.splitlines()[0] if text else '')}>{escape(text)}</{kind}></testcase>\n"
    )
