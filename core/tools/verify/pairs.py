"""Two sets of answers to the same requests, row by row: who called where the other did not, what got better or worse.

Rows belong together by their number, never by their order, and count only where
both were answered. "Official" is what is compared with: a file of results, ours
or K2VV's, or a second server.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.report.wire.verification import PairedRecord
from prompt_debugger.core.tools.verify.intervals import bootstrap, bounded, paired_difference

_Mark = Callable[[JSONObject], bool | None]


def read_results(path: Path) -> Iterator[JSONObject]:
    """Yield the rows of a file of results, ours or K2VV's.

    Raises:
        RequestError: It cannot be read, or a line is not a row; says which.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _read_row(path, number, line)
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"Cannot read {str(path)!r}: {error}", field="--baseline") from None


def compare_rows(rows: Iterable[JSONObject], official: Iterable[JSONObject], source: str) -> PairedRecord:
    """Return the paired figures; of an official row's number that comes twice, the last counts."""
    theirs = {int(str(row["data_index"])): _marks(row) for row in official}
    pairs = _Pairs(theirs)
    for row in rows:
        pairs.add(int(str(row["data_index"])), _marks(row))
    table = both, here, there, _ = _table(pairs.cells)
    return PairedRecord(
        source=source,
        n_compared=sum(table),
        n_skipped=pairs.skipped + sum(index not in pairs.seen for index in theirs),
        failures=pairs.failures,
        official_failures=sum(not one.is_success for one in theirs.values()),
        requests_differ=pairs.differ,
        tp=table[0],
        fp=table[1],
        fn=table[2],
        tn=table[3],
        precision=bounded(bootstrap(table, lambda c: _share(c[0], c[0] + c[1])), both, both + here),
        recall=bounded(bootstrap(table, lambda c: _share(c[0], c[0] + c[2])), both, both + there),
        tool_call_f1=bounded(bootstrap(table, _f1), both, both + here + there, lambda share: 2 * share / (1 + share)),
        differences={name: paired_difference(*_table(counts)) for name, counts in pairs.better.items()},
    )


class _Pairs:
    """Rows of one side, each joined with its partner."""

    def __init__(self, theirs: Mapping[int, _Marked]) -> None:
        self.theirs = theirs
        self.cells: Counter[tuple[bool, bool]] = Counter()
        self.better: dict[str, Counter[tuple[bool, bool]]] = {name: Counter() for name in _MARKS}
        self.failures = self.skipped = self.differ = 0
        self.seen: set[int] = set()

    def add(self, index: int, ours: _Marked) -> None:
        """Count one row, if both sides have an answer."""
        other = self.theirs.get(index)
        self.seen.add(index)
        self.failures += not ours.is_success
        if other is None or not other.is_success or not ours.is_success:
            self.skipped += 1
            return
        self.differ += None not in (ours.hash, other.hash) and ours.hash != other.hash
        self.cells[ours.has_calls, other.has_calls] += 1
        for name, counts in self.better.items():
            mine, its = ours.marks[name], other.marks[name]
            if mine is not None and its is not None:
                counts[mine, its] += 1


class _Marked(NamedTuple):
    """What a row says; of `marks` by the names of `_MARKS`, `None` where it does not."""

    is_success: bool
    has_calls: bool
    hash: JSON
    marks: Mapping[str, bool | None]


def _marks(row: JSONObject) -> _Marked:
    return _Marked(
        row.get("status") == "success",
        row.get("finish_reason") == "tool_calls",
        row.get("hash"),
        {name: mark(row) for name, mark in _MARKS.items()},
    )


def _count_above_zero(name: str) -> _Mark:
    def mark(row: JSONObject) -> bool | None:
        own = row.get("debugger")
        value = own.get(name) if isinstance(own, dict) else None
        return None if not isinstance(value, int) else value > 0

    return mark


def _has_fault(row: JSONObject) -> bool | None:
    own = row.get("debugger")
    if not isinstance(own, dict) or own.get("error") is not None:
        return None
    return own.get("stage") is not None


def _has_valid_calls(row: JSONObject) -> bool | None:
    return row.get("tool_calls_valid") is True


_MARKS: Mapping[str, _Mark] = {
    "tool_call_rows": lambda row: row.get("finish_reason") == "tool_calls",
    "valid_call_rows": _has_valid_calls,
    "dropped_rows": _count_above_zero("dropped"),
    "altered_rows": _count_above_zero("altered"),
    "leaked_rows": _count_above_zero("leaked"),
    "fault_rows": _has_fault,
}


def _table(counts: Counter[tuple[bool, bool]]) -> tuple[int, int, int, int]:
    return counts[True, True], counts[True, False], counts[False, True], counts[False, False]


def _f1(cells: Sequence[int]) -> float | None:
    """Return the harmonic mean of precision and recall; 0 if both are, `None` if either cannot be said."""
    both, here, there, _ = cells
    if both + here == 0 or both + there == 0:
        return None
    return 2 * both / (2 * both + here + there)


def _share(count: int, n: int) -> float | None:
    return None if n == 0 else count / n


def _read_row(path: Path, number: int, line: str) -> JSONObject:
    row = decode_json(line)
    index = row.get("data_index") if isinstance(row, dict) else None
    if isinstance(row, dict) and index is None and isinstance(row.get("messages"), list):
        raise RequestError(
            f"This looks like a dataset, not like results: line {number} of {str(path)!r} contains `messages` and no "
            "`data_index`.",
            f"Run it with `prompt-debugger verify {path.name} --endpoint URL`, then open the results that this writes.",
            field="--baseline",
        )
    if not isinstance(row, dict) or not isinstance(index, int):
        raise RequestError(
            f"Line {number} of {str(path)!r} is not a row of results: it has no `data_index`.", field="--baseline"
        )
    return row
