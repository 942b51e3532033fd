"""What LibreChat and its agents package say."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "LibreChat"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Invalid tool call structure: No preceding AIMessage with tool_call_ids",
        Stage.REQUEST,
        "A stored turn has a tool result without the call that it answers, so the history cannot be sent.",
        "Delete that turn, or continue from an earlier message; update LibreChat, which stored the result without its "
        "call.",
        "https://github.com/danny-avila/LibreChat/issues/6514",
        field="messages",
        cause=Cause.CLIENT,
        look=Look.ORPHAN_RESULTS,
    ),
)
