"""A dataset by several APIs of one server: rates of each, what differs between them in the same requests, and why.

Each row is run by all of them, one after the other, and compared as `run --api all` does. Rates are those of any
verification; their differences from the first API are paired, row by row.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.base.types import Api, ChatResult, JSONObject, Trace
from prompt_debugger.core.report.wire import dump_document
from prompt_debugger.core.report.wire.verification import RowAccount
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.apis.side_by_side import ApiRuns, run_by_all
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.core.tools.verify.answer import Answer, row_of_failure
from prompt_debugger.core.tools.verify.dataset import Row, read_rows
from prompt_debugger.core.tools.verify.intervals import wilson
from prompt_debugger.core.tools.verify.judge import row_of_run
from prompt_debugger.core.tools.verify.pairs import compare_rows
from prompt_debugger.core.tools.verify.results import About, summary_of
from prompt_debugger.core.tools.verify.session import Plan, Stop
from prompt_debugger.core.tools.verify.tally import Tally

SCHEMA_VERSION = 1
NOT_EXPLAINED = "not explained"
_AT_ONCE = 4


@dataclass(slots=True)
class Seen:
    """A kind of difference, over all rows.

    Attributes:
        rows: Numbers of the rows that have it.
        example: One of them, in words.
    """

    rows: set[int] = field(default_factory=set)
    example: str = ""


@dataclass(slots=True)
class ByApi:
    """What came of a dataset by several APIs.

    Attributes:
        rows: The rows of the results, by API.
        differences: Kinds of differences: the API that is compared with the first, what differs, and the cause.
        endpoint: The server.
        stopped: Why it ended early; `None` if it did not.
    """

    rows: dict[Api, dict[int, JSONObject]]
    differences: dict[tuple[Api, str, str], Seen] = field(default_factory=dict)
    endpoint: str = ""
    stopped: str | None = None

    def of(self, api: Api) -> list[JSONObject]:
        """Return the rows of an API by their number."""
        return [row for _, row in sorted(self.rows[api].items())]

    def document(self, dataset: str, n_rows: int) -> JSONObject:
        """Return rates of each API, paired differences, and what differs."""
        first, *others = self.rows
        summaries: dict[str, JSONObject] = {}
        for api, rows in self.rows.items():
            paired = None if api is first else compare_rows(self.of(api), self.of(first), first.label)
            about = About(dataset, self.endpoint, "1/1", n_rows, n_rows - len(rows), self.stopped, _now(), 0)
            summaries[api] = summary_of(Tally().add_all(self.of(api)), about, baseline=paired)
        both = {api: self.rows[api].keys() & self.rows[first].keys() for api in others}
        return {
            "schema_version": SCHEMA_VERSION,
            "apis": dict(summaries),
            "rows_that_differ": {
                api.value: dump_document(wilson(len(self._differing(api) & both[api]), len(both[api])))
                for api in others
            },
            "differences": [
                {
                    "between": [first.value, api.value],
                    "where": where,
                    "cause": None if cause == NOT_EXPLAINED else cause,
                    "rows": len(seen.rows),
                    "first_row": min(seen.rows),
                    "example": seen.example,
                }
                for (api, where, cause), seen in self._ranked()
            ],
        }

    def add(self, row: Row, runs: ApiRuns) -> None:
        """Count what differs in a row."""
        for one in runs.differences:
            cause = (one.cause or NOT_EXPLAINED).partition(":")[0]
            seen = self.differences.setdefault((one.between[1], one.where, cause), Seen())
            if not seen.rows:
                seen.example = one.detail if one.cause in (None, cause) else f"{one.detail} Cause: {one.cause}"
            seen.rows.add(row.index)

    def _differing(self, api: Api) -> set[int]:
        return {row for (other, _, _), seen in self.differences.items() if other is api for row in seen.rows}

    def _ranked(self) -> list[tuple[tuple[Api, str, str], Seen]]:
        return sorted(self.differences.items(), key=lambda item: (item[0][0], -len(item[1].rows), item[0][1:]))


async def verify_by_api(
    plan: Plan,
    apis: Sequence[Api],
    labs: LabPool | None,
    stop: Stop,
    on_row: Callable[[int], None] = lambda _: None,
) -> ByApi:
    """Run every row of a dataset by several APIs.

    Args:
        plan: What is to be verified; its first target is asked.
        apis: By which; the others are compared with the first.
        labs: Labs that may be booted.
        stop: Ends it early; what is under way is finished.
        on_row: Told how many rows are done.

    Raises:
        DebuggerError: The server cannot be reached, or the dataset cannot be read.
    """
    found = ByApi({api: {} for api in apis}, endpoint=plan.targets[0].base_url or "the lab")
    rows = read_rows(plan.dataset, plan.preparation, shard=plan.shard, limit=plan.limit)
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(plan.concurrency or _AT_ONCE):
                group.create_task(_work(rows, plan, labs, stop, found, on_row))
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    if stop.asking.is_set():
        found.stopped = "interrupted"
    return found


async def _work(
    rows: Iterator[Row],
    plan: Plan,
    labs: LabPool | None,
    stop: Stop,
    found: ByApi,
    on_row: Callable[[int], None],
) -> None:
    apis = tuple(found.rows)
    for row in rows:
        if stop.asking.is_set():
            return
        began = _now()
        runs, problem = ApiRuns({}, (), {}), row.problem
        if not problem:
            try:
                request = read_request(json.dumps({**row.body, **plan.preparation.extra_body}, ensure_ascii=False))
                runs = await run_by_all(request, plan.targets[0], labs, None, apis)
            except DebuggerError as error:
                if getattr(error, "kind", "") == "unreachable":
                    raise
                problem = error.message
        for api in apis:
            trace = runs.runs.get(api)
            said = problem or (runs.problems[api].message if api in runs.problems else "")
            found.rows[api][row.index] = await _row(row, plan.preparation.extra_body, trace, said, began)
        found.add(row, runs)
        on_row(len(found.rows[apis[0]]))


async def _row(row: Row, extra: Mapping[str, object], trace: Trace | None, problem: str, at: str) -> JSONObject:
    extra_body: JSONObject = {**extra}  # type: ignore[dict-item]  # what `Preparation` holds is JSON
    if trace is None:
        return row_of_failure(row, extra_body, problem, at=at, account=RowAccount(attempts=1))
    chat = trace.chat or ChatResult({}, None)
    return await row_of_run(Answer(row, extra_body, chat, at, round(1000 * (chat.elapsed_s or 0))), trace)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
