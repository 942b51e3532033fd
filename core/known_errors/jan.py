"""What Jan says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Jan"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Unhandled method/path for dynamic routing: {method:word} {path:word}",
        Stage.REQUEST,
        "A client asked Jan's server for a path that it does not have.",
        "Set the client's base URL to the address with `/v1` at its end (`http://127.0.0.1:1337/v1`): chat completions "
        "are at `/v1/chat/completions`. A client of another API (Ollama's, Responses) needs another provider setting.",
        "https://github.com/aaif-goose/goose/issues/5244",
        example="Unhandled method/path for dynamic routing: POST /",
        cause=Cause.ADDRESS,
    ),
)
