"""What a pasted text looks like, in words, under the editor."""

from __future__ import annotations

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence import Evidence, Form
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.words import count_of


def intake_payload(intake: Evidence) -> str:
    """Return the payload of the lines under the editor for what is more, or something else, than a request."""
    items: list[JSON] = [_item(note) for note in intake.notes]
    if intake.request is not None:
        items += [_item(notice.message, notice.field) for notice in intake.request.notices]
    if intake.rows > 1:
        held = "exchanges" if "HAR" in intake.words else "lines"
        items.insert(0, _item(f"It holds {intake.rows:,} {held}: choose one by its number beside *Read as*."))
    return pack_payload(
        {"state": "ok", "summary": f"Looks like {intake.words}. {_next(intake)}", "items": items, "rows": intake.rows}
    )


def _next(intake: Evidence) -> str:
    """Return what Run will do with it."""
    if not intake.is_evidence:
        messages = count_of(len(intake.request.messages), "message") if intake.request else "nothing to run"
        return f"Run sends its request: {messages}."
    if intake.form is Form.RUN:
        return "Run shows it; no server is asked."
    if intake.request is not None and intake.request.messages:
        return "Run reads it; no server is asked. Read it as a request to send it again."
    return "Run reads it; no server is asked."


def _item(message: str, field: str = "") -> JSON:
    return {"message": message.replace("*", ""), "field": field, "line": None, "column": None}
