"""Every call of a run in Markdown: what the model wrote, what the server returned, and what became of it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from prompt_debugger.core.base.types import JSON, CallMatch, ChatResult, Parse
from prompt_debugger.core.report.markup import code_cell

_LONGEST = 400  # characters of one call's arguments
_MOST_CALLS = 20
_NONE = "–"


def call_table(parse: Parse, chat: ChatResult | None) -> Iterator[str]:
    """Yield the lines of the table; none without a message, or where neither side holds a call."""
    matches = parse.ledger.matches
    if not matches or chat is None:
        return
    returned = chat.message.get("tool_calls")
    calls = returned if isinstance(returned, list) else []
    yield "| call | written by the model | returned by the server | outcome |"
    yield "|---|---|---|---|"
    for number, match in enumerate(matches[:_MOST_CALLS], start=1):
        yield f"| {number} | {_written(parse, match)} | {_returned(calls, match)} | {match.outcome.value} |"
    if len(matches) > _MOST_CALLS:
        yield f"| … | {len(matches) - _MOST_CALLS} more calls | | |"
    yield ""


def _written(parse: Parse, match: CallMatch) -> str:
    if match.raw_index is None:
        return _NONE
    call = parse.parsed.calls[match.raw_index]
    return _shown(call.name or "", call.arguments)


def _returned(calls: list[JSON], match: CallMatch) -> str:
    if match.message_index is None or match.message_index >= len(calls):
        return _NONE
    call = calls[match.message_index]
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return _shown("", json.dumps(call, ensure_ascii=False))
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return _shown(str(function.get("name") or ""), text)


def _shown(name: str, arguments: str) -> str:
    """Return name and arguments as code; arguments that are empty or blank are shown as none."""
    parts = (part for part in (name, arguments) if part.strip())
    return " ".join(code_cell(part, _LONGEST) for part in parts) or "no name, no arguments"
