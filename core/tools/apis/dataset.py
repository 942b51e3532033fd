"""What differs between the runs of a dataset that was verified by several APIs: rows, kinds, causes.

Each row was asked by all of them; its runs are those that `verify` kept, compared as `run --api all` does.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import Api, JSONObject, Trace
from prompt_debugger.core.pipeline.api_choice import says_missing
from prompt_debugger.core.report.wire import trace_from_json
from prompt_debugger.core.report.wire.verification import Rate
from prompt_debugger.core.tools.apis.side_by_side import compare_apis, no_endpoint
from prompt_debugger.core.tools.experiments.api_difference import ApiDifference
from prompt_debugger.core.tools.verify.intervals import wilson
from prompt_debugger.core.tools.verify.results import Kept

NOT_EXPLAINED = "not explained"


@dataclass(slots=True)
class Seen:
    """A kind of difference, over all rows."""

    rows: set[int] = field(default_factory=set)
    example: str = ""


@dataclass(slots=True)
class Differences:
    """What differs from the first API: rows read of both, and the kinds of differences, each by API."""

    apis: Sequence[Api]
    both: dict[Api, int] = field(default_factory=dict)
    kinds: dict[tuple[Api, str, str], Seen] = field(default_factory=dict)

    def rate_of(self, api: Api) -> Rate:
        """Return the share of rows that differ by an API from the first."""
        rows = {row for (other, _, _), seen in self.kinds.items() if other is api for row in seen.rows}
        return wilson(len(rows), self.both.get(api, 0))

    def document(self) -> list[JSONObject]:
        """Return the kinds of differences, the most frequent of each API first."""
        ranked = sorted(self.kinds.items(), key=lambda item: (item[0][0], -len(item[1].rows), item[0][1:]))
        return [
            {
                "between": [self.apis[0].value, api.value],
                "where": where,
                "cause": None if cause == NOT_EXPLAINED else cause,
                "rows": len(seen.rows),
                "first_row": min(seen.rows),
                "example": seen.example,
            }
            for (api, where, cause), seen in ranked
        ]

    def add(self, row: int, found: Iterable[ApiDifference]) -> None:
        """Count what differs in a row."""
        for one in found:
            cause = (one.cause or NOT_EXPLAINED).partition(":")[0]
            seen = self.kinds.setdefault((one.between[1], one.where, cause), Seen())
            if not seen.rows:
                seen.example = one.detail if one.cause in (None, cause) else f"{one.detail} Cause: {one.cause}"
            seen.rows.add(row)


def differences_of(kept: Kept, apis: Sequence[Api]) -> Differences:
    """Compare every row of the other APIs with that of the first; a row without both results says nothing.

    Side N of what was kept is the N-th API.
    """
    found = Differences(apis)
    for index, rows in _group_by_number(kept, len(apis)):
        left = _trace(kept, 0, index) if 0 in rows else None
        for side, row in rows.items():
            if side == 0 or 0 not in rows:
                continue
            api = apis[side]
            found.both[api] = found.both.get(api, 0) + 1
            right = _trace(kept, side, index)
            if left is not None and right is not None:
                found.add(index, compare_apis(left, right))
            elif left is not None or right is not None:
                lacking, failed = (api, row) if right is None else (apis[0], rows[0])
                error = str(as_object(failed.get("response")).get("error"))
                reason = f"There is no run by {lacking.label}: {error}"
                cause = no_endpoint(lacking) if says_missing(error) else None
                found.add(index, [ApiDifference((apis[0], api), "status", cause, reason)])
    return found


def _group_by_number(kept: Kept, count: int) -> Iterator[tuple[int, dict[int, JSONObject]]]:
    """Yield the rows of all sides that have the same number."""

    def of(side: int) -> Iterator[tuple[int, int, JSONObject]]:
        return ((int(str(row["data_index"])), side, row) for row in kept.rows(side))

    merged = heapq.merge(*(of(side) for side in range(count)), key=lambda item: item[:2])
    for index, rows in groupby(merged, key=lambda item: item[0]):
        yield index, {side: row for _, side, row in rows}


def _trace(kept: Kept, side: int, index: int) -> Trace | None:
    document = kept.trace(side, index)
    return None if document is None else trace_from_json(document)
