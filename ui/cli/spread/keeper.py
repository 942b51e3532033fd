"""The journals of a verification that many machines work on: files next to the output, written from afar.

Every answer is in a journal on the machine that asked for all this, the moment a worker has it. So whatever
becomes of the worker, anyone who continues with its rows knows what was answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.tools.verify import Journal, Shard, merged_rows
from prompt_debugger.core.tools.verify.journal import Answered, Filed

_PIECE_BYTES = 1 << 22


def journal_paths(path: Path, processors: int) -> list[Path]:
    """Return the journals of all shards: as many as were begun with, else two for each processor."""
    begun = sorted(path.parent.glob(f"{path.stem}.shard-*-of-*{path.suffix}"))
    count = int(begun[0].stem.rpartition("-of-")[2]) if begun else max(2, 2 * processors)
    return [path.with_name(f"{path.stem}.shard-{n}-of-{count}{path.suffix}") for n in range(1, count + 1)]


class Keeper:
    """Lives on the machine that has the dataset and the journals, one for each shard; workers call it."""

    def __init__(self, dataset: Path, paths: list[Path]) -> None:
        self._dataset = dataset
        self._journals = [Journal(path) for path in paths]
        self._is_stopping = False
        self._indices: dict[int, int] = {}  # of the last line before a place in the file

    def call(self, number: int, name: str, *values: object) -> object:
        """Do something with the journal of a shard, counted from 1."""
        method = getattr(self._journals[number - 1], name)
        return method(*values) if callable(method) else method

    def lines(self, number: int, offset: int) -> tuple[bytes, int | None]:
        """Return lines of a shard from a place in the file on, and where to continue; those of others hold a 0."""
        shard = Shard(number, len(self._journals))
        kept: list[bytes] = []
        index, size = self._indices.get(offset, 0), 0
        with self._dataset.open("rb") as file:
            file.seek(offset)
            for line in file:
                index += 1
                kept.append(line if shard.has(index) or not line.strip() else b"0\n")
                size += len(line)
                if size >= _PIECE_BYTES:
                    self._indices[offset + size] = index
                    return b"".join(kept), offset + size
        return b"".join(kept), None

    def stop(self) -> None:
        """Ask all workers to end."""
        self._is_stopping = True

    def is_stopping(self) -> bool:
        """Return whether they have been asked to stop."""
        return self._is_stopping

    def count(self) -> tuple[int, int, int]:
        """Return how many rows were answered, read and given up."""
        counted = [
            sum(journal.count(side, state) for journal in self._journals for side in (0, 1))
            for state in ("answered", "done", "failed")
        ]
        return counted[0] + counted[1], counted[1], counted[2]

    def close(self) -> None:
        """Close the journals."""
        for journal in self._journals:
            journal.__exit__(None, None, None)


class FarJournal(Journal):
    """A journal that a keeper has, as a worker sees it."""

    def __init__(self, keeper: Any, number: int, path: Path) -> None:  # noqa: ANN401  # Ray's
        self.path = path
        self._keeper = keeper
        self._number = number

    def _call(self, name: str, *values: object) -> Any:  # noqa: ANN401  # what the method returns
        import ray

        return ray.get(self._keeper.call.remote(self._number, name, *values))

    def begin(self) -> None:
        """See `Journal`."""
        self._call("begin")

    def fact(self, key: str, default: JSON = None) -> JSON:
        """See `Journal`."""
        value: JSON = self._call("fact", key, default)
        return value

    def note_fact(self, key: str, value: JSON) -> None:
        """See `Journal`."""
        self._call("note_fact", key, value)

    @property
    def is_empty(self) -> bool:
        """See `Journal`."""
        return bool(self._call("is_empty"))

    def forget(self) -> None:
        """See `Journal`."""
        self._call("forget")

    def must_ask(self, side: int, index: int, row_hash: str) -> bool:
        """See `Journal`."""
        return bool(self._call("must_ask", side, index, row_hash))

    def note_attempt(self, side: int, index: int) -> None:
        """See `Journal`."""
        self._call("note_attempt", side, index)

    def note_answer(self, side: int, index: int, document: JSONObject) -> None:
        """See `Journal`."""
        self._call("note_answer", side, index, document)

    def note_refusal(self, side: int, index: int, document: JSONObject) -> None:
        """See `Journal`."""
        self._call("note_refusal", side, index, document)

    def note_failure(self, side: int, index: int, row: JSONObject) -> None:
        """See `Journal`."""
        self._call("note_failure", side, index, row)

    def note_results(self, side: int, results: Mapping[int, Filed]) -> None:
        """See `Journal`."""
        self._call("note_results", side, {**results})

    def attempts(self, side: int, index: int) -> int:
        """See `Journal`."""
        return int(self._call("attempts", side, index))

    def next_answered(self, side: int, busy: Iterable[int], most: int) -> list[Answered]:
        """See `Journal`."""
        found: list[Answered] = self._call("next_answered", side, tuple(busy), most)
        return found

    def count(self, side: int, state: str) -> int:
        """See `Journal`."""
        return int(self._call("count", side, state))


class Journals(ExitStack):
    """All journals once the work is done: their rows as of one verification."""

    def __init__(self, paths: list[Path]) -> None:
        super().__init__()
        self._journals = [self.enter_context(Journal(path)) for path in paths]

    def rows(self, side: int) -> Iterator[JSONObject]:
        """Yield the rows of the results, by their number."""
        return merged_rows([journal.rows(side) for journal in self._journals])

    def trace(self, side: int, index: int) -> JSONObject | None:
        """Return the whole run of a row."""
        return self._journals[(index - 1) % len(self._journals)].trace(side, index)
