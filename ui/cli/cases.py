"""`--cases FILE.jsonl`: one JSON object per line in, one per line out, same order, flat memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from core.errors import DebuggerError, RequestError
from core.types import JSON, JSONObject
from ui.cli.output import FOUND, OK, dump_json


def run_cases(name: str, answer: Callable[[JSONObject], JSONObject]) -> int:
    """Answer every line of a file; a bad line gives an `error` object and the rest still runs.

    Args:
        name: The file, or `-` for standard input.
        answer: Turns a case into a document; may raise DebuggerError.

    Returns:
        1 if any line has an error or a finding of severity `error`, else 0.

    Raises:
        RequestError: The file cannot be opened.
    """
    status = OK
    for number, line in enumerate(_lines(name), start=1):
        if not line.strip():
            continue
        document = answer_line(line, number, answer)
        if document.get("error") is not None or _has_error(document.get("findings")):
            status = FOUND
        sys.stdout.write(dump_json(document) + "\n")
    sys.stdout.flush()
    return status


def answer_line(line: bytes, number: int, answer: Callable[[JSONObject], JSONObject]) -> JSONObject:
    """Answer one line of a case file; what is wrong with it becomes an `error` object."""
    case_id: JSON = None
    try:
        case = json.loads(line)
        if not isinstance(case, dict):
            raise RequestError(f"line {number} is not a JSON object", line=number)
        case_id = case.get("id")
        return {**answer(case), "id": case_id}
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        cause = RequestError(f"line {number} is not JSON: {error}", line=number)
        return {"id": case_id, "error": cause.to_json()}
    except DebuggerError as error:
        return {"id": case_id, "error": error.to_json()}


def _lines(name: str) -> Iterator[bytes]:
    if name == "-":
        yield from sys.stdin.buffer
        return
    try:
        with Path(name).open("rb") as stream:
            yield from stream
    except OSError as error:
        raise RequestError(f"cannot read {name!r}: {error.strerror or error}") from None


def _has_error(findings: JSON) -> bool:
    return isinstance(findings, list) and any(isinstance(f, dict) and f.get("severity") == "error" for f in findings)
