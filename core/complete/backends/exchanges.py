"""What goes over the wire, written down for anyone who listens: bodies, headers, and when each piece came.

No one listens unless asked: `EXCHANGES` belongs to a context, and a task hands it to the tasks that it starts. Keys are
masked where they are written down; the log is bounded, as it stays in memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field

import httpx

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.complete.backends.failures import Call

MAX_EXCHANGES = 100
MAX_KEPT_BYTES = 400_000  # of one answer; the rest is counted
MAX_PIECES = 2_000  # that each keep their time of arrival; later ones are joined
MASK = "[masked]"

_JOINED_BYTES = 4_096
_SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "x-auth-token"}
)
Headers = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Exchange:
    """One request and its answer, as far as it has come; times are seconds since the log began.

    Attributes:
        url: Whole address.
        sent_headers: As sent, keys masked.
        body: What was sent; "" if nothing.
        started_s: When it was sent.
        scrub: Takes the key out of a text.
        status: HTTP status; `None` before the answer's head.
        headers: Of the answer, keys masked.
        first_s: When the head of the answer came.
        ended_s: When it was over; `None` while it is under way.
        error: Why it ended before its end; "" if it did not.
        pieces: When what came, up to `MAX_KEPT_BYTES`.
        size: Bytes of the answer.
    """

    method: str
    url: str
    sent_headers: Headers
    body: str
    started_s: float
    scrub: Callable[[str], str]
    status: int | None = None
    headers: Headers = ()
    first_s: float | None = None
    ended_s: float | None = None
    error: str = ""
    pieces: list[tuple[float, bytes]] = field(default_factory=list)
    size: int = 0


class ExchangeLog:
    """The exchanges of one run, in the order in which they began."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self._start_s = time.monotonic()

    def now_s(self) -> float:
        """Return the seconds since the log began."""
        return time.monotonic() - self._start_s

    def waiting(self) -> Exchange | None:
        """Return the exchange that has been under way longest, if any."""
        return next((one for one in self.exchanges if one.ended_s is None), None)

    def answer(self, exchange: Exchange, response: httpx.Response) -> None:
        """Note the head of an answer."""
        exchange.status = response.status_code
        exchange.headers = _masked(response.headers, exchange.scrub)
        exchange.first_s = self.now_s()

    def take(self, exchange: Exchange, piece: bytes) -> None:
        """Note a piece of an answer."""
        if exchange.size < MAX_KEPT_BYTES:
            kept = piece[: MAX_KEPT_BYTES - exchange.size]
            last_s, last = exchange.pieces[-1] if exchange.pieces else (0.0, b"")
            if len(exchange.pieces) >= MAX_PIECES and len(last) < _JOINED_BYTES:
                exchange.pieces[-1] = (last_s, last + kept)
            else:
                exchange.pieces.append((self.now_s(), kept))
        exchange.size += len(piece)


EXCHANGES: ContextVar[ExchangeLog | None] = ContextVar("exchanges", default=None)


def listening(log: ExchangeLog) -> Context:
    """Return a context for a task, in which whatever it sends is written down."""
    context = copy_context()
    context.run(EXCHANGES.set, log)
    return context


class Note:
    """One exchange as the connection sees it; does nothing where no one listens."""

    def __init__(self, log: ExchangeLog | None = None, exchange: Exchange | None = None) -> None:
        self._log = log
        self._exchange = exchange

    def answer(self, response: httpx.Response) -> None:
        """Note the head of the answer."""
        if self._log is not None and self._exchange is not None:
            self._log.answer(self._exchange, response)

    def take(self, piece: bytes) -> None:
        """Note a piece of the answer."""
        if self._log is not None and self._exchange is not None:
            self._log.take(self._exchange, piece)


@contextmanager
def noted(call: Call, request: httpx.Request, content: bytes | None) -> Iterator[Note]:
    """Write down an exchange; it ends with the block."""
    log = EXCHANGES.get()
    if log is None or len(log.exchanges) >= MAX_EXCHANGES:
        yield Note()
        return
    exchange = Exchange(
        call.method,
        call.scrub(call.url),
        _masked(request.headers, call.scrub),
        "" if content is None else call.scrub(content.decode("ascii")),
        log.now_s(),
        call.scrub,
    )
    log.exchanges.append(exchange)
    try:
        yield Note(log, exchange)
    except BackendError as error:
        exchange.error = error.message
        raise
    except BaseException:
        exchange.error = "left before its end"
        raise
    finally:
        exchange.ended_s = log.now_s()


def _masked(headers: httpx.Headers, scrub: Callable[[str], str]) -> Headers:
    return tuple(
        (name, MASK if name.lower() in _SECRET_HEADERS else scrub(value)) for name, value in headers.multi_items()
    )
