"""What is to be said about the pasted request: repairs, fields a server ignores, or why it cannot be read."""

from __future__ import annotations

from typing import NamedTuple

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON, JSONObject, Notice, Request
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.words import as_sentence, count_of


class Going(NamedTuple):
    """What Run does about the server that a pasted call names.

    Attributes:
        offer: The button next to it: `choose` makes it the target, `key` opens the field for its key; "" for none.
    """

    words: str = "Run sends the request there."
    offer: str = "key"


def notices_payload(
    outcome: Request | RequestError,
    *,
    is_public: bool = False,
    going: Going = Going(),  # noqa: B008  # a constant
) -> str:
    """Return the payload of the lines under the editor."""
    if isinstance(outcome, RequestError):
        return pack_payload({"state": "error", "summary": "", "items": [_error(outcome)]})
    items: list[JSON] = [_notice(notice) for notice in outcome.notices]
    summary = count_of(len(outcome.messages), "message")
    if outcome.tools:
        summary += ", " + count_of(len(outcome.tools), "tool")
    if outcome.source != "json":
        summary += ", read from a Python call" if outcome.source == "python" else ", read from a curl command"
    if outcome.base_url is not None:  # first: with many lines below it, the button would be out of sight
        items.insert(0, _named_server(outcome.base_url, outcome.body.get("model"), None if is_public else going))
    return pack_payload({"state": "ok", "summary": summary, "items": items})


def _named_server(url: str, model: JSON, going: Going | None) -> JSONObject:
    """Return the line about the server of a pasted call, which a press takes over where it is not the target yet."""
    if going is None:
        return _item(f"It names the server {url}: this public page does not send requests there.", "", None, None)
    server: JSONObject = {"url": url, "model": model if isinstance(model, str) else ""}
    return {
        **_item(f"It names the server {url}: {going.words}", "", None, None),
        "server": server if going.offer == "choose" else None,
        "wants_key": going.offer == "key",
    }


def _error(error: RequestError) -> JSONObject:
    hint = f" {error.hint}" if error.hint else ""
    return _item(as_sentence(error.message) + hint, error.field or "", error.line, error.column)


def _notice(notice: Notice) -> JSONObject:
    return _item(notice.message, notice.field, notice.line, notice.column)


def _item(message: str, field: str, line: int | None, column: int | None) -> JSONObject:
    return {"message": message, "field": field, "line": line, "column": column}


def too_long_payload(count: int) -> str:
    """Return the line for a text that is too long to be read while typing."""
    return pack_payload({"state": "ok", "summary": f"{count:,} characters: read when you press Run", "items": []})
