"""`--cases FILE --ray ADDRESS`: a case file in pieces through Ray Data; answers in the order of the file.

A file is local (and then at the same place on every machine), a URL that fsspec opens (`s3://…`), or Parquet, whose
columns are the fields of a case. A piece whose machine dies is answered by another.
"""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.ui.cli.case_lines import Chunk, OpenAnswer, read_chunks
from prompt_debugger.ui.cli.case_workers import CaseWorkers
from prompt_debugger.ui.cli.output import FOUND, OK
from prompt_debugger.ui.cli.spread.cluster import joined

_SMALLEST = 1 << 14  # bytes of a piece
_LARGEST = 1 << 23
_PIECES_PER_PROCESSOR = 4
_READ_BYTES = 1 << 20
_PARQUET_ROWS = 1024  # of a batch
_CHUNK_ROWS = 64


class _Table(Protocol):
    def to_pylist(self) -> list[dict[str, Any]]:
        """Return the rows of a batch, as `pyarrow.Table` does."""


class Piece(NamedTuple):
    """Whole lines of a file.

    Attributes:
        start: First byte.
        stop: Byte after the last.
        first_number: Number of the first line, from 1.
    """

    start: int
    stop: int
    first_number: int


def run_on_ray(name: str, open_answer: OpenAnswer, address: str, *, open_locked: OpenAnswer | None = None) -> int:
    """Answer every line of a file on a cluster; as `run_bulk` does here, in processes that are locked as there.

    Raises:
        RequestError: The file cannot be opened, or the cluster not be joined.
    """
    has_error, out = False, sys.stdout
    with joined(address) as processors:
        for row in _answered_rows(name, (open_answer, open_locked), processors):
            has_error |= bool(row["has_error"])
            out.write(row["text"])
            out.flush()
    return FOUND if has_error else OK


def pieces_of(name: str, processors: int) -> Iterator[Piece]:
    """Cut a file at ends of lines, into some pieces for every processor.

    Raises:
        RequestError: It cannot be read.
    """
    import fsspec

    try:
        with fsspec.open(_place(name), "rb") as file:
            size = file.seek(0, 2)
            wanted = min(_LARGEST, max(_SMALLEST, size // (processors * _PIECES_PER_PROCESSOR)))
            file.seek(0)
            yield from _cut(iter(lambda: file.read(_READ_BYTES), b""), wanted)
    except (OSError, ValueError, ImportError) as error:
        raise RequestError(f"Cannot read {name!r}: {error}", field="--cases") from None


def _cut(blocks: Iterator[bytes], wanted: int) -> Iterator[Piece]:
    start = position = 0
    first_number = number = 1
    for block in blocks:
        begin = 0
        while (end := block.find(b"\n", begin)) >= 0:
            number += 1
            begin = end + 1
            if position + begin - start >= wanted:
                yield Piece(start, position + begin, first_number)
                start, first_number = position + begin, number
        position += len(block)
    if position > start:
        yield Piece(start, position, first_number)


def _answered_rows(name: str, opening: tuple[OpenAnswer, OpenAnswer | None], processors: int) -> Iterator[Any]:
    import ray.data

    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context.execution_options.preserve_order = True
    if name.endswith((".parquet", ".pq")):
        try:
            source = ray.data.read_parquet(_place(name))
        except (OSError, ValueError) as error:
            raise RequestError(f"Cannot read {name!r}: {error}", field="--cases") from None
        size = _PARQUET_ROWS
    else:
        pieces = list(pieces_of(name, processors))
        if not pieces:
            return
        source = ray.data.from_items(
            [{"name": _place(name), **piece._asdict()} for piece in pieces], override_num_blocks=len(pieces)
        )
        size = 1
    answered = source.map_batches(
        _Answering,
        fn_constructor_args=opening,
        batch_size=size,
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=processors),
        num_cpus=1,
    )
    yield from answered.iter_rows()


class _Answering:
    """What a worker of the cluster does: the lines of a piece, in a process that may hang and be ended."""

    def __init__(self, open_answer: OpenAnswer, open_locked: OpenAnswer | None = None) -> None:
        self._open_answer = open_answer
        self._open_locked = open_locked

    def __call__(self, batch: _Table) -> dict[str, list[Any]]:
        rows = batch.to_pylist()
        is_piece = bool(rows) and "first_number" in rows[0] and "raw" not in rows[0]
        chunks = _chunks_of(rows[0]) if is_piece else _chunk_of_parquet(rows)
        with closing(CaseWorkers(self._open_answer, 1, open_locked=self._open_locked)) as workers:
            done = list(workers.answers(chunks))
        return {"text": ["".join(one.text for one in done)], "has_error": [any(one.has_error for one in done)]}


def _chunks_of(row: dict[str, Any]) -> Iterator[Chunk]:
    import fsspec

    with fsspec.open(row["name"], "rb") as file:
        file.seek(row["start"])
        data = file.read(row["stop"] - row["start"])
    for number, lines in read_chunks(io.BytesIO(data)):
        yield Chunk(row["first_number"] + number - 1, lines)


def _chunk_of_parquet(rows: list[dict[str, Any]]) -> Iterator[Chunk]:
    for start in range(0, len(rows), _CHUNK_ROWS):
        cases = [
            {key: _plain(key, value) for key, value in row.items() if value is not None}
            for row in rows[start : start + _CHUNK_ROWS]
        ]
        yield Chunk(start + 1, tuple(json.dumps(case, default=str).encode() for case in cases))


def _plain(key: str, value: object) -> object:
    """Return a field of a case; what Parquet has no type for is JSON in a string."""
    if key in ("tools", "message", "parsers") and isinstance(value, str):
        try:
            read: object = json.loads(value)
        except ValueError:
            return value
        return read
    return value


def _place(name: str) -> str:
    return name if "://" in name else str(Path(name).resolve())
