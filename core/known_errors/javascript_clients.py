"""What clients in JavaScript say where an answer is not built as they expect."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "JavaScript clients"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Failed to parse URL from [object Request]",
        Stage.REQUEST,
        "The client gave a whole request to a function that takes an address, so nothing was sent: a fault of the "
        "client or of its replacement for `fetch`, not of the request.",
        "Update the client, or go back to the release before; the request, the key and the model need no change.",
        "https://github.com/n8n-io/n8n/issues/25445",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "Failed to parse URL from {url:word}",
        Stage.REQUEST,
        "The address is not a whole URL, so nothing was sent.",
        "Write the address with its scheme and host, such as `http://localhost:8000/v1`; with an empty setting, only "
        "a path is left.",
        "https://developer.mozilla.org/docs/Web/API/Window/fetch",
        example="TypeError: Failed to parse URL from /v1/chat/completions",
        cause=Cause.ADDRESS,
    ),
    KnownError(
        "Cannot read properties of undefined (reading 'finish_reason')",
        Stage.PARSE,
        "The client reads `choices[0]` of every event, but one of them has no choices, such as the last one "
        "with the usage, or an error.",
        "Skip events without choices, in the client; or leave `stream_options.include_usage` out.",
        "https://github.com/Mintplex-Labs/anything-llm/issues/5112",
    ),
    KnownError(
        "404 status code (no body)",
        Stage.REQUEST,
        "The server has nothing at that address.",
        "Check the address: it must go up to and including `/v1`, and the path must be one that the server "
        "has (`/v1/models` shows whether it answers).",
        "openai (JavaScript), core/error.ts: APIError.makeMessage",
        cause=Cause.ADDRESS,
    ),
    KnownError(
        "{status:int} status code (no body)",
        Stage.REQUEST,
        "The server answered with an error status and no message, so the error does not contain the reason.",
        "Check the server's log for this request, or that of the proxy in between; record the exchange "
        "with `capture` to see what was sent.",
        "openai (JavaScript), core/error.ts: APIError.makeMessage",
        example="400 status code (no body)",
        cause=Cause.UNCLEAR,
    ),
)
