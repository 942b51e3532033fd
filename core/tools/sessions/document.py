"""Sessions as the document of `sessions --json`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.report import redact_text
from prompt_debugger.core.report.wire.form import dump_document
from prompt_debugger.core.tools.sessions.turns import Break, Session, Turn

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """One request of a session.

    Attributes:
        place: Where the exchange is.
        at: When it was sent.
        prompt_tokens: Length of its prompt.
        kept_tokens: What of it the prompt before begins with, too.
        recomputed_tokens: What of the prompt before is lost.
        server_prompt_tokens: Length by the server's word.
        cached_tokens: Tokens that the server says it had cached.
        break: Where it breaks; `null` if it continues from the prompt before.
        problem: Why there is no prompt.
    """

    place: str
    at: str | None
    prompt_tokens: int
    kept_tokens: int
    recomputed_tokens: int
    server_prompt_tokens: int | None
    cached_tokens: int | None
    break_: Break | None = field(metadata={"alias": "break"})
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """The requests of one conversation.

    Attributes:
        id: Its number, as text.
        unit: What is counted: tokens, or characters where no tokenizer is known.
        model: Model that was asked for.
        turns: Its requests.
        recomputed_tokens: Their sum.
        cost: What that costs at `--price`.
        is_cost_estimated: Whether tokens were estimated from characters.
        view: Server whose view of a request gives prompts as long as the server counted; `null` for as written.
    """

    id: str
    unit: str
    model: JSON
    turns: tuple[TurnRecord, ...]
    recomputed_tokens: int
    cost: float | None
    is_cost_estimated: bool
    view: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsDocument:
    """What `sessions --json` prints.

    Attributes:
        schema_version: Of this form.
        sessions: One for each conversation.
        error: Always `null`; a command that cannot run prints it alone.
    """

    schema_version: int = SCHEMA_VERSION
    sessions: tuple[SessionRecord, ...]
    error: None = None


def sessions_to_json(sessions: Iterable[Session], price: float | None = None) -> JSONObject:
    """Return the document; `price` is that of a million prompt tokens."""
    made = tuple(_session(number, session, price) for number, session in enumerate(sessions, 1))
    return dump_document(SessionsDocument(sessions=made))


def _session(number: int, session: Session, price: float | None) -> SessionRecord:
    tokens = [_tokens(session, turn, turn.recomputed) for turn in session.turns]
    known = [count for count in tokens if count is not None]
    cost = sum(known) * price / 1_000_000 if price is not None and len(known) == len(tokens) else None
    return SessionRecord(
        id=str(number),
        unit=session.unit,
        model=session.turns[0].exchange.body.get("model"),
        turns=tuple(_turn(turn) for turn in session.turns),
        recomputed_tokens=session.recomputed,
        cost=cost,
        is_cost_estimated=cost is not None and session.unit != "token",
        view=session.view,
    )


def _tokens(session: Session, turn: Turn, count: int) -> int | None:
    """Return a count in tokens; characters are converted by the server's own count of the prompt."""
    if session.unit == "token" or not count:
        return count
    reported = turn.exchange.prompt_tokens
    return None if reported is None or not turn.count else round(count * reported / turn.count)


def _turn(turn: Turn) -> TurnRecord:
    asked = turn.exchange
    return TurnRecord(
        place=asked.place,
        at=asked.at or None,
        prompt_tokens=turn.count,
        kept_tokens=turn.kept,
        recomputed_tokens=turn.recomputed,
        server_prompt_tokens=asked.prompt_tokens,
        cached_tokens=asked.cached_tokens,
        break_=None if turn.broken is None else _break(turn.broken),
        problem=turn.problem or None,
    )


def _break(broken: Break) -> Break:
    """Return what may be shown of it, secrets out."""
    return replace(
        broken,
        cause=redact_text(broken.cause),
        cure=redact_text(broken.cure or "") or None,
        before=redact_text(broken.before),
        after=redact_text(broken.after),
    )
