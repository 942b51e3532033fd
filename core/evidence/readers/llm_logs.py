"""What Simon Willison's `llm logs --json` prints: a list of what was asked and answered, the newest last.

    [{"id": "01j…", "model": "m", "prompt": "Hi", "response": "…", "response_json": {"finish_reason": "stop", …},
      "conversation_id": "01j…", "duration_ms": 900, "tools": […], "tool_calls": [{"name": "f", "arguments": {}}]}]

Earlier turns of a conversation are in other entries, and limits may be the plugin's: the request is not read.

Source: https://llm.datasette.io/en/stable/logging.html and simonw/llm, llm/cli.py: logs_list, as of 2026-11.
"""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.json_values import as_object, as_text, objects_in
from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject
from prompt_debugger.core.complete.answers import usage_of
from prompt_debugger.core.evidence.evidence import UNKNOWN_ID, Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader, read_newest
from prompt_debugger.core.evidence.values.chat_messages import assistant_of, call_of

_FIELDS = frozenset({"id", "model", "prompt", "response", "conversation_id", "duration_ms", "datetime_utc"})


def _finds(paste: Paste) -> float:
    entries = _entries(paste.value)
    return 0.96 if entries and all(entry.keys() >= _FIELDS for entry in entries[:20]) else 0.0


def _entries(value: JSON) -> list[JSONObject]:
    values = value if isinstance(value, list) else [value]
    entries = [as_object(one) for one in values]
    return [] if any("response" not in entry for entry in entries) else entries


def _read(paste: Paste) -> Evidence:
    newest = _entries(paste.value)[::-1]
    return read_newest(paste, len(newest), lambda row: _read_one(newest, row))


def _read_one(newest: Sequence[JSONObject], row: int) -> Evidence:
    """Read an entry by its number, counted from the newest."""
    entry = newest[row - 1]
    raw = as_object(entry.get("response_json"))
    calls = [
        call_of(call.get("name"), call.get("arguments"), as_text(call.get("tool_call_id")) or UNKNOWN_ID)
        for call in objects_in(entry.get("tool_calls"))
    ]
    reason = as_text(raw.get("finish_reason")) or None
    message = assistant_of(as_text(entry.get("response")) or None, calls)
    chat = ChatResult(message, reason, usage=usage_of(raw.get("usage")))
    words = f"an answer in the log of `llm`, {len(newest) - row + 1} of {len(newest):,}"
    return Evidence(Form.LINES, words, chat=chat, finish_reason=reason, row=row, rows=len(newest))


READER = Reader(Form.LINES, _finds, _read)
