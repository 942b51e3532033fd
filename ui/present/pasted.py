"""What a pasted text looks like, in words, under the editor."""

from __future__ import annotations

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence import Evidence, Form
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.words import count_of


def pasted_payload(pasted: Evidence) -> str:
    """Return the payload of the lines under the editor for what is more, or something else, than a request."""
    items: list[JSON] = [_item(note) for note in pasted.notes]
    if pasted.request is not None:
        items += [_item(notice.message, notice.field) for notice in pasted.request.notices]
    if pasted.rows > 1:
        held = "exchanges" if "HAR" in pasted.words else "lines"
        items.insert(0, _item(f"It contains {pasted.rows:,} {held}: choose one by its number next to *Read as*."))
    return pack_payload(
        {"state": "ok", "summary": f"Looks like {pasted.words}. {_next(pasted)}", "items": items, "rows": pasted.rows}
    )


def _next(pasted: Evidence) -> str:
    """Return what Run will do with it."""
    if not pasted.is_evidence:
        messages = count_of(len(pasted.request.messages), "message") if pasted.request else "nothing to run"
        return f"Run sends its request: {messages}."
    if pasted.form is Form.RUN:
        return "Run shows it; no server is asked."
    if pasted.request is not None and pasted.request.messages:
        return "Run reads it; no server is asked. Read it as a request to send it again."
    return "Run reads it; no server is asked."


def _item(message: str, field: str = "") -> JSON:
    return {"message": message.replace("*", ""), "field": field, "line": None, "column": None}
