"""What Gemini CLI and the programs made from it say of a model's stream."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Gemini CLI"

_AGAIN = (
    "Send the request again, as the program does by itself in newer releases; if it persists, begin a new session or "
    "compress this one, switch off tools and MCP servers that are not needed, or take another model. Another server "
    "than Google's must end its stream with a finish reason."
)

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Model stream was invalid or completed without valid content.",
        Stage.COMPLETE,
        "The stream ended without a text or a call that the program takes: it was empty, had only thoughts, or had no "
        "finish reason.",
        _AGAIN,
        "https://github.com/google-gemini/gemini-cli/issues/7747",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Model stream ended with an invalid chunk or missing finish reason.",
        Stage.COMPLETE,
        "The stream ended with an event that the program cannot use, or without the one that says why it ended: the "
        "answer was empty, or the connection was lost.",
        _AGAIN,
        "https://github.com/google-gemini/gemini-cli/issues/7851",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Model stream ended without a finish reason.",
        Stage.COMPLETE,
        "The stream ended without the event that says why: the connection was lost, or a gateway leaves it out.",
        _AGAIN,
        "packages/core/src/core/geminiChat.ts",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Model stream ended with empty response text.",
        Stage.COMPLETE,
        "The stream has a finish reason, but neither a text nor a call: the answer was empty or had only thoughts.",
        _AGAIN,
        "packages/core/src/core/geminiChat.ts",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Model stream ended with malformed function call.",
        Stage.COMPLETE,
        "The model wrote a call that the API could not read, and the API dropped it (`MALFORMED_FUNCTION_CALL`).",
        "Send the request again; if it persists, declare fewer tools with simpler parameters, ask for shorter texts in "
        "arguments, or take another model.",
        "packages/core/src/core/geminiChat.ts",
        cause=Cause.OUTPUT,
    ),
)
