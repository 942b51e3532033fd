"""An agent's sessions → what their view draws: a bar per request, and where the prefix cache breaks."""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.json_values import as_count, as_object, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.words import count_of, shortened

MAX_TURNS = 400
_MAX_QUOTE = 200
_MAX_NOTES = 5


def sessions_payload(document: JSONObject, source: str, unread: Sequence[str] = (), *, is_running: bool = False) -> str:
    """Return the payload of the sessions."""
    sessions = objects_in(document["sessions"])
    turns = sum(len(objects_in(one["turns"])) for one in sessions)
    again = sum(as_count(one["recomputed_tokens"]) or 0 for one in sessions)
    unit = str(sessions[0]["unit"]) if sessions else "token"
    summary = f"{count_of(again, unit)} computed again" if again else f"no {unit} is computed again"
    drawn: list[JSON] = [_session(one) for one in sessions]
    notes: list[JSON] = [f"Left out: {shortened(one, _MAX_QUOTE)}" for one in unread[:_MAX_NOTES]]
    return pack_payload(
        {
            "state": "running" if is_running else "done",
            "source": source,
            "sentence": f"{count_of(len(sessions), 'session')}, {count_of(turns, 'request')}: {summary}.",
            "sessions": drawn,
            "notes": notes,
        }
    )


def _session(session: JSONObject) -> JSONObject:
    turns = objects_in(session["turns"])
    unit = str(session["unit"])
    title = f"Session {session['id']}" + (f", {session['model']}" if session["model"] else "")
    again = as_count(session["recomputed_tokens"]) or 0
    longest = max((as_count(turn["prompt_tokens"]) or 0 for turn in turns), default=0)
    drawn: list[JSON] = [_turn(number, turn, unit, longest) for number, turn in enumerate(turns[:MAX_TURNS], 1)]
    return {
        "title": f"{title}: {count_of(len(turns), 'request')}, {count_of(again, unit)} computed again",
        "turns": drawn,
        "more": max(0, len(turns) - MAX_TURNS),
    }


def _turn(number: int, turn: JSONObject, unit: str, longest: int) -> JSONObject:
    count, kept, again = (as_count(turn[name]) or 0 for name in ("prompt_tokens", "kept_tokens", "recomputed_tokens"))
    parts: list[JSON] = [
        [name, size / max(1, longest)]
        for name, size in (("kept", kept), ("again", again), ("new", max(0, count - kept - again)))
    ]
    words = f"{kept:,} kept, {again:,} computed again, of {count_of(count, unit)}"
    reported = as_count(turn["cached_tokens"])
    server = "" if reported is None else f"the server reused {count_of(reported, 'token')}"
    problem = str(turn["problem"] or "")
    return {
        "number": number,
        "parts": [] if problem else parts,
        "words": problem or words,
        "server": server,
        "break": None if problem else _break(as_object(turn["break"]), unit),
    }


def _break(broken: JSONObject, unit: str) -> JSON:
    if not broken:
        return None
    line = "" if broken["template_line"] is None else f", template line {broken['template_line']}"
    return {
        "at": f"{unit} {broken['token']:,}, {broken['field'] or 'no field'}{line}",
        "cause": f"{broken['cause']}" + (" (inferred)" if broken["certainty"] == "inferred" else ""),
        "cure": broken["cure"] or "",
        "before": shortened(str(broken["before"]), _MAX_QUOTE),
        "after": shortened(str(broken["after"]), _MAX_QUOTE),
    }
