"""Asking a server for every row of a dataset: tried again where that may help, within bounds, and never after success.

A failure that may pass (load, time, a connection that broke) is tried again after a pause that doubles, or as long
as the server asks. A server that cannot be reached at all is waited for, and that counts against no row.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from prompt_debugger.core.base.errors import BackendError, RequestError
from prompt_debugger.core.base.types import Api, ChatResult, JSONObject, Server
from prompt_debugger.core.complete import ServerClient, ask_once, is_passing, refusal_of
from prompt_debugger.core.known_errors import Cause, recognise_error
from prompt_debugger.core.pipeline.api_choice import asked_by, is_missing, missing_endpoint
from prompt_debugger.core.report.wire.verification import RowAccount
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.verify.answer import Answer, answer_to_json, row_of_failure
from prompt_debugger.core.tools.verify.dataset import Row
from prompt_debugger.core.tools.verify.flow import Flow
from prompt_debugger.core.tools.verify.journal import Journal

_LONGEST_PAUSE_S = 60.0
_LONGEST_WISH_S = 600.0
_LOOK_AGAIN_S = 2.0
_ROWS_AT_ONCE = 200
# Keys, payment, a wrong address: no row will fare better.
_ABOUT_US = frozenset({401, 402, 403, 405})


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long to try: the pause doubles with each retry, and a server that is away is waited for."""

    retries: int = 3
    pause_s: float = 2.0
    outage_s: float = 300.0


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be used: questions, tokens by the server's count, seconds; `None` for as much as it takes."""

    requests: int | None = None
    tokens: int | None = None
    seconds: float | None = None


@dataclass(slots=True)
class Spent:
    """What was used in this session."""

    began: float
    requests: int = 0
    tokens: int = 0

    def exhausts(self, budget: Budget, now: float) -> str | None:
        """Return what ran out; `None` while nothing has."""
        if budget.requests is not None and self.requests >= budget.requests:
            return f"the budget of {budget.requests} requests is used"
        if budget.tokens is not None and self.tokens >= budget.tokens:
            return f"the budget of {budget.tokens} tokens is used"
        if budget.seconds is not None and now - self.began >= budget.seconds:
            return f"the budget of {budget.seconds:g} s is used"
        return None


@dataclass(slots=True)
class Asker:
    """Asks one server.

    Attributes:
        client: The server.
        journal: Where answers go.
        side: Which of the compared servers it is.
        extra_body: Further fields of every request.
        flow: How many questions are under way.
        patience: How often to try.
        budget: What may be used.
        spent: What was used.
        clock: Seconds that only grow.
        on_end: Called when a row has ended, with whether there is an answer.
        check: Refuses a body that the server must not be asked; may take a while. `None` where it is asked anything.
        api: By which API it is asked.
        server: What is known of the server.
        may_lack_api: Whether a server without that API is reason to give up its rows, and none to end.
        stopped: Why no more is asked, once that is so.
    """

    client: ServerClient
    journal: Journal
    side: int
    extra_body: JSONObject
    flow: Flow
    patience: Patience
    budget: Budget
    spent: Spent
    clock: Callable[[], float]
    on_end: Callable[[bool], None]
    check: Callable[[JSONObject], None] | None = None
    api: Api = Api.CHAT
    server: Server | None = None
    may_lack_api: bool = False
    stopped: str | None = None
    _out_since: float | None = None
    _lacks_api: str = ""
    _chance: random.Random = field(default_factory=random.Random)

    async def ask_all(self, rows: Iterable[Row]) -> None:
        """Ask for every row that has no answer yet; cancelling leaves the rest for the next time.

        Raises:
            BackendError: The server would not serve us at all, or could not be reached for too long.
        """
        try:
            async with asyncio.TaskGroup() as group:
                await self._ask_rows(rows, group)
        except ExceptionGroup as errors:
            first: BaseException = errors
            while isinstance(first, BaseExceptionGroup):
                first = first.exceptions[0]
            raise first from None

    async def _ask_rows(self, rows: Iterable[Row], group: asyncio.TaskGroup) -> None:
        for count, row in enumerate(rows):
            if count % _ROWS_AT_ONCE == 0:
                await asyncio.sleep(0)  # a million answered rows are skipped without holding up anyone
            if not self.journal.must_ask(self.side, row.index, row.hash):
                continue
            if problem := row.problem or self._lacks_api:
                self._give_up(row, problem)
                continue
            await self.flow.take()
            self.stopped = self.spent.exhausts(self.budget, self.clock())
            if self.stopped is not None:
                await self.flow.give_back()
                return
            group.create_task(self._ask(row))

    async def _ask(self, row: Row) -> None:
        """Ask for one row until there is an answer, or reason to give it up."""
        try:
            if self.check is not None:
                await in_thread(self.check, {**row.body, **self.extra_body})
            failures = 0
            while True:
                failure = await self._try(row)
                if failure is None:
                    return
                if failure.kind == "unreachable":
                    await self._wait_for_server(failure)
                    continue
                if missing := missing_endpoint(failure, self.api, is_one_of_several=self.may_lack_api):
                    self._note_missing(row, missing)
                    return
                if failure.status in _ABOUT_US or (failure.status == 404 and is_missing(failure)):
                    raise failure
                self.journal.note_attempt(self.side, row.index)
                if not is_passing(failure) or failures >= self.patience.retries:
                    self._note_end(row, failure)
                    return
                await self._pause(failure, failures)
                failures += 1
        except RequestError as refusal:
            self._give_up(row, refusal.message)
        finally:
            await self.flow.give_back()

    async def _try(self, row: Row) -> BackendError | None:
        """Ask once; returns why there is no answer, `None` if there is one and it is in the journal."""
        began = self.clock()
        model = row.body.get("model")
        named = model if isinstance(model, str) else None
        asked = asked_by(row.request(self.extra_body), self.api, named, self.server)
        try:
            chat = await ask_once(asked.client_of(self.client), asked.body)
        except BackendError as error:
            self._note_trouble(error, began)
            return error
        self.spent.requests += 1
        if chat.error is not None:
            broken = BackendError(chat.error, kind="broken-answer")
            self._note_trouble(broken, began)
            return broken
        took_s = self.clock() - began
        answer = Answer(row, self.extra_body, chat, _now(), round(took_s * 1000), self.api)
        self.journal.note_answer(self.side, row.index, answer_to_json(answer))
        self._out_since = None
        self.spent.tokens += _tokens_of(chat)
        self.flow.note_answer(took_s)
        self.on_end(True)  # noqa: FBT003  # its only argument
        return None

    def _note_missing(self, row: Row, failure: BackendError) -> None:
        """Give up all rows of an API that the server does not have, if others are asked besides; else end.

        Raises:
            BackendError: This is the only API.
        """
        if not self.may_lack_api:
            raise failure
        self._lacks_api = failure.message
        self._give_up(row, failure.message)

    def _note_trouble(self, error: BackendError, began: float) -> None:
        if error.kind == "unreachable":
            return
        self._out_since = None
        self.spent.requests += 1
        if is_passing(error):
            self.flow.note_failure(began)

    async def _pause(self, failure: BackendError, failures: int) -> None:
        pause_s = min(_LONGEST_PAUSE_S, self.patience.pause_s * 2**failures)
        pause_s *= 1 + self._chance.random() / 4
        wish_s = failure.retry_after_s
        if wish_s is not None:
            wish_s = min(wish_s, _LONGEST_WISH_S)
            self.flow.pause(wish_s)  # it is meant for all of us
            pause_s = max(pause_s, wish_s) if wish_s > 0 else 0.0
        await asyncio.sleep(pause_s)
        await self.flow.rest()

    async def _wait_for_server(self, failure: BackendError) -> None:
        now = self.clock()
        self._out_since = now if self._out_since is None else self._out_since
        if now - self._out_since > self.patience.outage_s:
            raise failure
        await asyncio.sleep(min(_LOOK_AGAIN_S, self.patience.pause_s))

    def _note_end(self, row: Row, failure: BackendError) -> None:
        """Keep that there is no answer; what the server has against the request is read as an answer is."""
        refusal = refusal_of(failure) if not is_passing(failure) or _is_explained(failure) else None
        if refusal is None:
            self._give_up(row, failure.message)
            return
        nothing = Answer(row, self.extra_body, ChatResult(message={}, finish_reason=None), _now(), 0, self.api)
        self.journal.note_refusal(self.side, row.index, answer_to_json(nothing, refusal))
        self.on_end(False)  # noqa: FBT003  # its only argument

    def _give_up(self, row: Row, reason: str) -> None:
        account = RowAccount(attempts=self.journal.attempts(self.side, row.index), labels=row.labels or None)
        failed = row_of_failure(row, self.extra_body, reason, at=_now(), account=account)
        self.journal.note_failure(self.side, row.index, failed)
        self.on_end(False)  # noqa: FBT003  # its only argument


def _tokens_of(chat: ChatResult) -> int:
    return 0 if chat.usage is None else chat.usage.total_tokens or 0


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _is_explained(failure: BackendError) -> bool:
    """Return whether a failure's message is known to be about the output or the template, and so not about the load."""
    known = recognise_error(failure.server_message)
    return known is not None and known.error.is_about in (Cause.OUTPUT, Cause.TEMPLATE)
