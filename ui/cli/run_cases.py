"""`run --cases FILE.jsonl`: one run per line, several at a time, one document a line out in the order of the lines.

A line is a chat body, `{"request": body}`, or a line of a batch file (`{"custom_id", "body"}`).
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeAlias

from prompt_debugger.core.base.errors import DebuggerError, RequestError
from prompt_debugger.core.base.types import JSON, JSONObject, Request, Trace
from prompt_debugger.core.request import read_request
from prompt_debugger.ui.cli.case_lines import Chunk, answered, read_chunks
from prompt_debugger.ui.cli.cases import opened
from prompt_debugger.ui.cli.output import FOUND, OK
from prompt_debugger.ui.cli.progress import clear

RunOne: TypeAlias = Callable[[Request], Awaitable[Trace]]
DocumentOf: TypeAlias = Callable[[Trace], Awaitable[JSONObject]]
_AROUND = ("request", "body")


async def run_cases(name: str, run: RunOne, document_of: DocumentOf, *, jobs: int) -> int:
    """Run every line of a file; a bad line gives an `error` object and the rest still runs.

    Returns:
        1 if any line has an error or a finding of severity `error`, else 0.

    Raises:
        RequestError: The file cannot be opened, or fewer than one run at a time is asked for.
    """
    if jobs < 1:
        raise RequestError("At least one run at a time is needed.", field="--jobs")
    waiting: deque[asyncio.Task[JSONObject]] = deque()
    has_error = False
    with opened(name) as source:
        lines = _lines(read_chunks(source))
        try:
            while True:
                following = await asyncio.to_thread(next, lines, None) if len(waiting) < jobs else None
                if following is not None:
                    waiting.append(asyncio.create_task(_answer(*following, run, document_of)))
                elif waiting:
                    has_error |= _write(await waiting.popleft())
                else:
                    return FOUND if has_error else OK
        finally:
            for task in waiting:
                task.cancel()


def _lines(chunks: Iterator[Chunk]) -> Iterator[tuple[int, bytes]]:
    for first_number, lines in chunks:
        yield from ((number, line) for number, line in enumerate(lines, first_number) if line.strip())


def _write(document: JSONObject) -> bool:
    done = answered(document)
    clear()
    sys.stdout.write(done.text)
    sys.stdout.flush()
    return done.has_error


async def _answer(number: int, line: bytes, run: RunOne, document_of: DocumentOf) -> JSONObject:
    """Run one line; what is wrong with it becomes an `error` object."""
    named: JSONObject = {"id": number}
    try:
        value = _read(line, number)
        named = {"id": value.get("id", number)} | {key: value[key] for key in ("custom_id",) if key in value}
        trace = await run(read_request(json.dumps(_body_of(value, number), ensure_ascii=False)))
        return {**await document_of(trace), **named}
    except DebuggerError as error:
        return {**named, "error": error.to_json()}
    except Exception as error:  # noqa: BLE001 - a bug of ours costs one line, not all after it
        fault = DebuggerError(f"This program failed on line {number}: {type(error).__name__}: {error}")
        return {**named, "error": fault.to_json()}


def _read(line: bytes, number: int) -> JSONObject:
    try:
        value: JSON = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"Line {number} is not JSON: {error}", line=number) from None
    if not isinstance(value, dict):
        raise RequestError(f"Line {number} is not a JSON object.", line=number)
    return value


def _body_of(value: JSONObject, number: int) -> JSONObject:
    """Return the chat body of a line; a plain body may carry an `id`, which no server knows."""
    key = next((key for key in _AROUND if key in value and "messages" not in value), None)
    body = {name: field for name, field in value.items() if name != "id"} if key is None else value[key]
    if not isinstance(body, dict):
        raise RequestError(f"Line {number} contains no request.", "Give a chat body, `request` or `body`.", line=number)
    return body
