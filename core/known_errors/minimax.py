"""What MiniMax's API says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError, Look

MAKER = "MiniMax"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "tool result's tool id({id:word}) not found",
        Stage.REQUEST,
        "A tool result names a call that the history does not contain.",
        "Keep the message that made the call, or drop the result: where a history is shortened, both go together. "
        "A new session also helps.",
        "https://github.com/MiniMax-AI/MiniMax-M2/issues/76",
        example="invalid params, tool result's tool id(call_7) not found (2013)",
        field="messages",
        look=Look.ORPHAN_RESULTS,
    ),
)
