"""Known requests, sent alongside the traffic: when the class of an answer changes, something changed on the server.

The class of an answer is what matters of it whatever its words are: whether it came, how it finished, which tools it
calls, what became of calls, which rules found an error. The first answer to a request sets its class; it is kept.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.errors import BackendError, DebuggerError, RequestError
from prompt_debugger.core.base.files import write_named
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.junit import JUNIT_HEAD, JUnitCase, suite_lines
from prompt_debugger.core.base.types import JSON, JSONObject, Trace
from prompt_debugger.core.diagnose.fields import returned_calls
from prompt_debugger.core.pipeline.target import Target
from prompt_debugger.core.report.wire.form import dump_document
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.verify.dataset import Preparation, Row, Shard, read_rows
from prompt_debugger.core.tools.verify.journal import Journal
from prompt_debugger.core.tools.verify.judge import account_of_run

SCHEMA_VERSION = 1
_FACT = "canary"
_OUTCOMES = ("dropped", "altered", "cut", "invented", "leaked")
_MAX_REQUESTS = 200  # requests: each is asked every time
_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryResult:
    """What came of one request.

    Attributes:
        schema_version: Of this form.
        canary: Number of its line.
        before: The class that its answers had; `None` if it was never asked.
        after: The class of this answer.
        changed: Whether it is another than before.
    """

    schema_version: int = SCHEMA_VERSION
    canary: int
    before: JSONObject | None
    after: JSONObject
    changed: bool

    @property
    def line(self) -> str:
        """The change in one line."""
        before = self.before or {}
        changed = [name for name in {**before, **self.after} if before.get(name) != self.after.get(name)]
        words = ", ".join(
            f"`{name}` was {_shown(before.get(name))}, is {_shown(self.after.get(name))}" for name in changed
        )
        return f"Canary {self.canary}: the class of the answer has changed: {words}."

    def to_json(self) -> JSONObject:
        """Return what a webhook gets, and `watch --json` prints."""
        return dump_document(self)


class Canary:
    """Asks known requests, directly and not as traffic, and remembers the classes of their answers in the journal.

    Raises:
        RequestError: The file cannot be read, contains no request, or too many.
    """

    def __init__(self, file: Path, target: Target, journal: Journal) -> None:
        self._rows = [*read_rows(file, Preparation(), shard=Shard(), limit=_MAX_REQUESTS + 1)]
        self._target = target
        self._journal = journal
        problem = next((row.problem for row in self._rows if row.problem), "")
        if not self._rows or problem or len(self._rows) > _MAX_REQUESTS:
            complaint = "it contains no request" if not self._rows else f"it has more than {_MAX_REQUESTS} requests"
            raise RequestError(
                f"{str(file)!r} cannot be used as a canary: {problem or complaint}.",
                f"Give a file with one chat request per line, {_MAX_REQUESTS} at most.",
                field="--canary",
            )

    async def ask(self) -> list[CanaryResult]:
        """Ask every request once, in turn; a class that is new, or another, is remembered."""
        known: JSONObject = {**as_object(self._journal.fact(_FACT, {}))}
        results = []
        for row in self._rows:
            before = known.get(row.hash)
            after = await _class_of_answer(row, self._target)
            earlier = before if isinstance(before, dict) else None
            changed = earlier is not None and earlier != after
            results.append(CanaryResult(canary=row.index, before=earlier, after=after, changed=changed))
            known[row.hash] = after
        self._journal.note_fact(_FACT, known)
        return results

    async def keep_asking(self, every_s: float, on_change: Callable[[CanaryResult], None]) -> None:
        """Ask every so often, forever, and tell of each change."""
        while True:
            for result in await self.ask():
                if result.changed:
                    on_change(result)
            await asyncio.sleep(every_s)


def write_canary_junit(path: Path, results: Sequence[CanaryResult]) -> None:
    """Write the results as JUnit XML: a class that changed is a failure.

    Raises:
        RequestError: It cannot be written.
    """
    cases = [
        JUnitCase("canary", f"request {one.canary}", *((one.line, one.line) if one.changed else ())) for one in results
    ]
    failed = sum(one.changed for one in results)
    parts = (JUNIT_HEAD, *suite_lines("canary", cases, counts=(len(cases), failed)), "\n")
    write_named(path, parts, field="--junit")


async def _class_of_answer(row: Row, target: Target) -> JSONObject:
    try:
        trace = await pipeline.run(read_request(json.dumps(row.body, ensure_ascii=False)), target)
    except DebuggerError as error:
        return {"answer": "failed", "kind": error.kind if isinstance(error, BackendError) else type(error).__name__}
    return class_of(trace)


def class_of(trace: Trace) -> JSONObject:
    """Return the class of a run's answer."""
    account = account_of_run(trace, attempts=1)
    errors: list[JSON] = list(account.errors)
    if trace.refusal is not None or trace.chat is None:
        return {
            "answer": "refused",
            "status": None if trace.refusal is None else trace.refusal.status,
            "errors": errors,
        }
    calls: list[JSON] = [call.name for call in returned_calls(trace)]
    outcomes: JSONObject = {name: count for name in _OUTCOMES if (count := getattr(account, name))}
    return {
        "answer": "answered",
        "finish_reason": trace.chat.finish_reason,
        "calls": calls,
        "errors": errors,
        **outcomes,
    }


def _shown(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)[:_SHOWN]
