"""What every engine's helper does around a parser: its time, its log, its message, its streaming. No engine here."""

from __future__ import annotations

import contextlib
import difflib
import logging
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from prompt_debugger.core.parse.engines.vllm_worker.errors import plain_error
from prompt_debugger.core.parse.engines.vllm_worker.message import Message, trimmed
from prompt_debugger.core.parse.engines.vllm_worker.piece import Piece
from prompt_debugger.core.parse.engines.vllm_worker.splits import Stream, TrimmedStream, compare

MAX_OUTCOME_CHARS = 8_000_000
_MAX_LOG_LINES = 10


class TimeUp(BaseException):
    """A parser took too long. No `Exception`, so that no parser swallows it."""


class Lines(logging.Handler):
    """Keeps what is logged while a parser runs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record, with the exception it tells of."""
        if len(self.lines) < _MAX_LOG_LINES:
            cause = record.exc_info[1] if record.exc_info else None
            reported = f" ({plain_error(cause)})" if cause is not None else ""
            self.lines.append(f"{record.levelname.lower()}: {record.getMessage()[:400]}{reported}")


def outcome_of(parse: Callable[[dict[str, Any]], None], order: dict[str, Any], lines: Lines) -> dict[str, Any]:
    """Return the outcome of one parser; whatever it raises is in it.

    Args:
        parse: Fills in the outcome.
        order: What was asked, with its limits.
        lines: Where the engine logs.
    """
    lines.lines = []
    outcome: dict[str, Any] = {"error": None, "stand_in": None}
    try:
        with time_limit(order["limit_s"]):
            parse(outcome)
    except TimeUp:
        outcome["error"] = f"took longer than {order['limit_s']:g} s and was stopped"
    except Exception as error:  # noqa: BLE001 - a parser may raise anything; that is an outcome
        outcome["error"] = plain_error(error)
    outcome["log"] = lines.lines
    return outcome


def compare_outcome(
    whole: Message, pieces: Sequence[Piece], stream: Stream, order: dict[str, Any], outcome: dict[str, Any]
) -> None:
    """Fill in what a whole parse gave and, if asked, how streaming compares with it."""
    if whole.size > MAX_OUTCOME_CHARS:
        outcome["error"] = f"returned {whole.size:,} characters, which is more than {MAX_OUTCOME_CHARS:,}"
        return
    outcome.update(_shown(whole))
    if order.get("streaming"):
        outcome.update(_compare_streaming(whole, pieces, stream, order))


def unknown(engine: str, kind: str, name: str | None, known: list[str]) -> str | None:
    """Say that an engine has no parser of this name, `None` if it has."""
    if name is None or name in known:
        return None
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    hint = f"; did you mean `{close[0]}`?" if close else f"; it has {', '.join(known) or 'none'}"
    return f"{engine} has no {kind} parser `{name[:60]}`{hint}"


def arm_time_limit() -> None:
    """Install the handler by which the timer of `time_limit` raises `TimeUp`; once for each process."""
    signal.signal(signal.SIGVTALRM, _time_is_up)


@contextlib.contextmanager
def time_limit(limit_s: float) -> Iterator[None]:
    """Raise `TimeUp` in what runs within, when its time is up."""
    # Processor time, so that a busy machine makes nothing too slow. Repeated, as a callback may swallow the first.
    signal.setitimer(signal.ITIMER_VIRTUAL, limit_s, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _time_is_up(*_: object) -> None:
    raise TimeUp


def _compare_streaming(
    whole: Message, pieces: Sequence[Piece], stream: Stream, order: dict[str, Any]
) -> dict[str, Any]:
    if order.get("is_space_free"):
        whole = trimmed(whole)
        stream = TrimmedStream(stream, whole)
    try:
        with time_limit(order["limit_s"]):
            found = compare(
                whole,
                pieces,
                stream,
                seed=order.get("seed", 0),
                budget_s=order["limit_s"] / 2,
                thorough=bool(order.get("thorough")),
            )
    except TimeUp:
        reported = f"streaming took longer than {order['limit_s']:g} s and was stopped"
        return {"stream_equal": False, "splits_tried": 1, "first_unequal": reported}
    return {
        "stream_equal": found.equal,
        "splits_tried": found.tried,
        "first_unequal": found.first_unequal,
        "usual_equal": found.usual_equal,
        "smallest_split": found.smallest_split,
        "parts_at": found.parts_at,
        "usual_unequal": found.usual_unequal,
        "trials": found.trials,
        "parting": None if found.parting is None else [part and _shown(part) for part in found.parting],
    }


def _shown(message: Message) -> dict[str, Any]:
    calls: Sequence[dict[str, Any]] = [
        {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
        for call in message.calls
    ]
    return {"reasoning": message.reasoning, "content": message.content, "tool_calls": calls}
