"""Lines of a case file: read in small chunks, answered one by one; a faulty line costs only its own answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol, TypeAlias

from prompt_debugger.core.base.errors import DebuggerError, RequestError
from prompt_debugger.core.base.files import MAX_LINE_BYTES
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.report.wire import write_line

CHUNK_LINES = 64
_READ_BYTES = 1 << 18


class Chunk(NamedTuple):
    """Some lines of a file, and the number of the first of them, from 1."""

    first_number: int
    lines: tuple[bytes, ...]


class Answered(NamedTuple):
    """The documents for a line or a chunk, one per line of text, and whether any reports an error."""

    text: str
    has_error: bool


# What it writes for a case has the case's `id`.
Answer: TypeAlias = Callable[[JSONObject], Answered]
OpenAnswer: TypeAlias = Callable[[], AbstractContextManager[Answer]]


class NeedsMoreError(Exception):
    """A case that a locked process cannot answer: it asks for helpers, files or servers."""


class ByteSource(Protocol):
    """Something that gives the bytes it has, waits if it has none, and gives none at its end: a raw file."""

    def read(self, size: int, /) -> bytes | None:
        """Return at most `size` bytes."""


def read_chunks(source: ByteSource) -> Iterator[Chunk]:
    r"""Yield the lines of a source as they come; a slow one gives small chunks, none waits for the next.

    >>> import io
    >>> list(read_chunks(io.BytesIO(b"a\n\nb")))
    [Chunk(first_number=1, lines=(b'a', b'')), Chunk(first_number=3, lines=(b'b',))]
    """
    number, begun = 1, list[bytes]()
    while data := source.read(_READ_BYTES):
        head, newline, rest = data.rpartition(b"\n")
        if not newline:
            begun = _add_piece(begun, rest)  # a long line; joined once, at its end
            continue
        lines = b"".join([*begun, head]).split(b"\n")
        begun = [rest] if rest else []
        for start in range(0, len(lines), CHUNK_LINES):
            yield Chunk(number + start, tuple(lines[start : start + CHUNK_LINES]))
        number += len(lines)
    if begun:
        yield Chunk(number, (b"".join(begun),))


def _add_piece(begun: list[bytes], further: bytes) -> list[bytes]:
    """Return the pieces of a line that continues; of one too long to be read no more than shows that."""
    if len(begun) * _READ_BYTES <= 2 * MAX_LINE_BYTES or sum(map(len, begun)) <= MAX_LINE_BYTES:
        begun.append(further)
    return begun


def answer_chunk(chunk: Chunk, answer: Answer) -> Answered:
    """Answer every line that is not blank."""
    return joined(
        answer_line(line, number, answer) for number, line in enumerate(chunk.lines, chunk.first_number) if line.strip()
    )


def joined(parts: Iterable[Answered]) -> Answered:
    """Return several answers as one."""
    every = list(parts)
    return Answered("".join(part.text for part in every), any(part.has_error for part in every))


def answered(document: JSONObject) -> Answered:
    """Return a document as it is written."""
    return Answered(write_line(document) + "\n", _reports_error(document))


def answer_line(line: bytes, number: int, answer: Answer) -> Answered:
    """Answer one line of a case file; what is wrong with it becomes an `error` object.

    Raises:
        NeedsMoreError: It is for another process to answer.
    """
    case_id: JSON = None
    try:
        case = _read_case(line, number)
        case_id = case.get("id")
        return answer(case)
    except NeedsMoreError:
        raise
    except DebuggerError as error:
        return answered({"id": case_id, "error": error.to_json()})
    except Exception as error:  # noqa: BLE001 - a bug of ours costs one line, not the millions after it
        fault = DebuggerError(f"This program failed on line {number}: {type(error).__name__}: {error}")
        return answered({"id": case_id, "error": fault.to_json()})


def refuse_line(line: bytes, number: int, error: DebuggerError) -> Answered:
    """Answer a line with an error whose cause is not in the line."""
    try:
        return answered({"id": _read_case(line, number).get("id"), "error": error.to_json()})
    except RequestError as cause:
        return answered({"id": None, "error": cause.to_json()})


def _read_case(line: bytes, number: int) -> JSONObject:
    if len(line) > MAX_LINE_BYTES:
        most = f"{MAX_LINE_BYTES >> 20} MB"
        raise RequestError(f"Line {number} is longer than {most}, the limit.", line=number)
    try:
        # Decoded here, as `json` would guess the encoding of each line again; only UTF-8 begins with these two bytes.
        case = json.loads(line.decode("utf-8", "surrogatepass") if line.startswith(b'{"') else line)
    except RecursionError:
        raise RequestError(f"The values of line {number} are nested too deeply.", line=number) from None
    except ValueError as error:  # a lone byte that is not UTF-8 is one, too
        raise RequestError(f"Line {number} is not JSON: {error}", line=number) from None
    if not isinstance(case, dict):
        raise RequestError(f"Line {number} is not a JSON object.", line=number)
    return case


def _reports_error(document: JSONObject) -> bool:
    findings = document.get("findings")
    return document.get("error") is not None or (
        isinstance(findings, list) and any(isinstance(f, dict) and f.get("severity") == "error" for f in findings)
    )
