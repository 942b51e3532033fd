"""Open the results of `verify`: one verification, or two side by side, and any row as a run of the page.

Reads files of this machine that the person named; a public page has no such field, and refuses.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import replace
from typing import NamedTuple

from prompt_debugger.core.base.errors import DebuggerError, RequestError
from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject, Request, Trace
from prompt_debugger.core.pipeline.diagnosis import read_trace
from prompt_debugger.core.report.wire import dump_document, trace_from_json
from prompt_debugger.core.sandbox import in_thread, sandbox_of
from prompt_debugger.core.tools.verify import Stored, compare_rows, open_stored
from prompt_debugger.ui.present.tool_state import tool_error_payload
from prompt_debugger.ui.present.verification import Changed, Pair, verification_payload
from prompt_debugger.ui.web.failures import shown_as
from prompt_debugger.ui.web.handlers import Payloads
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.live_watch import LiveWatch
from prompt_debugger.ui.web.redraw_rate import RedrawRate
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields, choose_target
from prompt_debugger.ui.web.verify_run import Asked, SideSoFar, Step, VerifyRun
from prompt_debugger.ui.web.work import shown_row

_MAX_CHANGED = 2_000

_log = logging.getLogger(__name__)

Opened = tuple[Stored, ...]


class OpenedRow(NamedTuple):
    """A row as a run of the page: its trace, the text for the editor, the views."""

    trace: Trace
    text: str
    payloads: Payloads


class Verifications:
    """What the events of the verify panel do; keeps only how the page is served."""

    def __init__(
        self, settings: PageSettings, labs: PageLabs | None = None, redraw_rate: RedrawRate | None = None
    ) -> None:
        self._settings = settings
        self._labs = labs
        self._redraw_rate = redraw_rate or RedrawRate()
        self._live = None if labs is None else LiveWatch(labs, self._redraw_rate)

    @shown_as(lambda error: (tool_error_payload(error), ()))
    async def open(self, first: str, second: str) -> tuple[str, Opened]:
        """Return the payload of one verification or several, and what rows are opened from."""
        self._check_own()
        return await in_thread(_read, first, second)

    @shown_as(lambda error: Step(tool_error_payload(error)))
    async def verify(self, asked: Asked, fields: TargetFields, key: str) -> AsyncGenerator[Step, None]:
        """Ask the page's target for every row of a dataset; yield the progress, and at the end what was found."""
        self._check_own()
        if self._labs is None:
            raise RequestError("There is no server to ask.", "Name one under Target.")
        target = choose_target(self._settings, self._labs, fields, key)
        run = VerifyRun(self._settings, self._labs, self._redraw_rate, _drawn)
        async with aclosing(run.steps(asked, target)) as steps:
            async for step in steps:
                yield step

    @shown_as(lambda error: Step(tool_error_payload(error)))
    async def watch(
        self, fields: TargetFields, key: str, session: str, *, asks_for_ids: bool
    ) -> AsyncGenerator[Step | None, None]:
        """Watch the page's target until `stop_watching`; yield what passed so far, `None` without news."""
        self._check_own()
        if self._labs is None or self._live is None:
            raise RequestError("There is no server to watch.", "Name one under Target.")
        target = choose_target(self._settings, self._labs, fields, key)
        async with aclosing(self._live.steps(target, session, asks_for_ids=asks_for_ids)) as steps:
            async for step in steps:
                yield step

    def stop_watching(self, session: str) -> None:
        """Ask the watch of a session to end."""
        if self._live is not None:
            self._live.stop(session)

    async def open_row(self, opened: Opened, side: int, index: int) -> OpenedRow | None:
        """Return one row as a run that the whole page shows; `None` if it cannot be."""
        try:
            self._check_own()
            if not 0 <= side < len(opened):
                raise RequestError("This verification does not exist.", "Open it again.")
            stored = opened[side]
            trace = await in_thread(_trace_of, stored, index)
            if trace.verdict is None:
                trace = await read_trace(trace)
            origin = f"Row {index} of `{stored.name}`. No server was asked."
            return OpenedRow(trace, _text_of(trace), await in_thread(sandbox_of().call, shown_row, trace, origin))
        except DebuggerError as error:
            _log.info("a row could not be opened: %s", error)
            return None

    def _check_own(self) -> None:
        if self._settings.public:
            raise RequestError(
                "A public page does not open files on its machine.", "Run the program on your own machine to do that."
            )


def _read(first: str, second: str) -> tuple[str, Opened]:
    if not first.strip():
        raise RequestError(
            "No verification was given.", "Give the results.sqlite or results.jsonl that `verify` wrote."
        )
    opened = open_stored(first.strip())
    if second.strip():
        opened = (opened[0], open_stored(second.strip())[0])
    return _drawn(opened), opened


def _drawn(opened: Opened) -> str:
    first = opened[0]
    pairs = [
        Pair(dump_document(compare_rows(first.rows(), other.rows(), other.name)), _changed(first.rows(), other.rows()))
        for other in opened[1:]
    ]
    return verification_payload([SideSoFar().add_all(stored.rows()).side(stored) for stored in opened], pairs)


def _changed(rows: Iterable[JSONObject], others: Iterable[JSONObject]) -> list[Changed]:
    """Return the rows that are at fault on one side alone, the new faults first."""
    there = {_index(row): _fault(row) for row in others if row.get("status") == "success"}
    found: list[Changed] = []
    for row in rows:
        index, here = _index(row), _fault(row)
        if index not in there or row.get("status") != "success" or (here is None) == (there[index] is None):
            continue
        found.append(Changed(index, here is not None, _question(row), here or there[index] or ""))
    return sorted(found, key=lambda one: (not one.is_worse, one.row))[:_MAX_CHANGED]


def _fault(row: JSONObject) -> str | None:
    """Return what happened in a row that is at fault; `None` for one that is not."""
    own = row.get("debugger")
    if not isinstance(own, dict) or own.get("stage") is None:
        return None
    return str(own.get("verdict") or own.get("stage"))


def _trace_of(stored: Stored, index: int) -> Trace:
    """Return the run of a row: whole from a journal, else its request and answer."""
    document = stored.trace(index)
    if document is not None:
        trace = trace_from_json(document)
        # A journal may be someone else's: no folder that it names is loaded here.
        return trace if trace.server is None else replace(trace, server=replace(trace.server, model_root=None))
    row = stored.row(index)
    request = None if row is None else row.get("request")
    if row is None or not isinstance(request, dict):
        raise RequestError(f"There is no row {index}.", "Open the verification again.")
    text = json.dumps(request, ensure_ascii=False, indent=1)
    return Trace(Request(request, text), sent=request, chat=_answer(row.get("response")))


def _text_of(trace: Trace) -> str:
    """Return the request for the editor; a lone surrogate cannot be sent, in JSON its escape is the same character."""
    text = json.dumps(trace.request.body, ensure_ascii=False, indent=2)
    return text.encode("utf-8", "backslashreplace").decode()


def _answer(response: JSON) -> ChatResult | None:
    choices = response.get("choices") if isinstance(response, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return None
    reason = choice.get("finish_reason")
    return ChatResult(message, reason if isinstance(reason, str) else None)


def _question(row: JSONObject) -> str:
    request = row.get("request")
    messages = request.get("messages") if isinstance(request, dict) else None
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, dict) and message.get("role") == "user":
            return str(message.get("content"))
    return ""


def _index(row: JSONObject) -> int:
    return int(str(row["data_index"]))
