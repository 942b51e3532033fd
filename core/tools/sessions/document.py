"""Sessions as the document of `sessions --json`."""

from __future__ import annotations

from collections.abc import Iterable

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.report import redact_json
from prompt_debugger.core.tools.sessions.turns import Session, Turn

SCHEMA_VERSION = 1


def sessions_to_json(sessions: Iterable[Session], price: float | None = None) -> JSONObject:
    """Return the document.

    Args:
        sessions: The sessions.
        price: Of a million prompt tokens.
    """
    made: list[JSON] = [_session(number, session, price) for number, session in enumerate(sessions, 1)]
    return {"schema_version": SCHEMA_VERSION, "sessions": made, "error": None}


def _session(number: int, session: Session, price: float | None) -> JSONObject:
    tokens = [_tokens(session, turn, turn.recomputed) for turn in session.turns]
    known = [count for count in tokens if count is not None]
    cost = sum(known) * price / 1_000_000 if price is not None and len(known) == len(tokens) else None
    return {
        "id": str(number),
        "unit": session.unit,
        "model": session.turns[0].exchange.body.get("model"),
        "turns": [_turn(turn) for turn in session.turns],
        "recomputed_tokens": session.recomputed,
        "cost": cost,
        "is_cost_estimated": cost is not None and session.unit != "token",
    }


def _tokens(session: Session, turn: Turn, count: int) -> int | None:
    """Return a count in tokens; characters are converted by the server's own count of the prompt."""
    if session.unit == "token" or not count:
        return count
    reported = turn.exchange.prompt_tokens
    return None if reported is None or not turn.count else round(count * reported / turn.count)


def _turn(turn: Turn) -> JSONObject:
    broken = turn.broken
    shown: JSON = None
    if broken is not None:
        shown = redact_json(
            {
                "token": broken.first,
                "field": broken.field,
                "template_line": broken.template_line,
                "cause": broken.cause,
                "cure": broken.cure or None,
                "before": broken.before,
                "after": broken.after,
                "certainty": "inferred" if broken.is_inferred else "observed",
            }
        )
    return {
        "place": turn.exchange.place,
        "at": turn.exchange.at or None,
        "prompt_tokens": turn.count,
        "kept_tokens": turn.kept,
        "recomputed_tokens": turn.recomputed,
        "server_prompt_tokens": turn.exchange.prompt_tokens,
        "cached_tokens": turn.exchange.cached_tokens,
        "break": shown,
        "problem": turn.problem or None,
    }
