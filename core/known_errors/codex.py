"""What OpenAI's Codex says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Codex"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "stream disconnected before completion: {why}",
        Stage.COMPLETE,
        "The stream of the answer broke off before its last event.",
        "Check the server, and any proxy in front of it, at that time: a timeout, a crash, a limit of the "
        "provider. What arrived before is not the whole answer.",
        "https://github.com/openai/codex/issues/8309",
        example="stream disconnected before completion: Transport error: network error: error decoding response body",
        cause=Cause.SERVER,
    ),
    KnownError(
        "stream disconnected before completion: stream closed before response.complete",
        Stage.COMPLETE,
        "The stream ended without the event `response.completed`, which must be the last one of the Responses API.",
        "Check the server's log at that time: it failed in the middle, or its stream of the Responses API is not "
        "complete; record the stream (`capture`) to see its last event.",
        "https://github.com/ollama/ollama/issues/14600",
        example="stream error: stream disconnected before completion: stream closed before response.completed",
        cause=Cause.SERVER,
    ),
)
