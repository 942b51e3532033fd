"""What oMLX says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "oMLX"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "{where} arguments must be a JSON object, got str",
        Stage.REQUEST,
        "A call in the history has its arguments as a string, as OpenAI's protocol asks for, and this server, or this "
        "release of it, takes an object.",
        "Update the server: the request is right. Until then a gateway in between can decode `arguments` into an "
        "object.",
        "https://github.com/jundot/omlx/issues/3093",
        example="body -> messages -> 3 -> tool_calls -> 0 -> function -> arguments: Value error, arguments must be a "
        "JSON object, got str",
        field="messages",
    ),
    KnownError(
        "arguments must be valid JSON, got parse error: {why}. This usually means the client echoed",
        Stage.PARSE,
        "The arguments of a call are not JSON. Where the server says it while it streams, the model wrote this call; "
        "where it answers a request with it, a call in the history has them.",
        "While it streams: ask again, raise the limit where the output was cut, and update the server, which need not "
        "end a stream for it. For a request: leave that turn out, or send its arguments as JSON.",
        "https://github.com/jundot/omlx/issues/2012",
        example="arguments must be valid JSON, got parse error: Expecting ':' delimiter: line 1 column 213 (char 212). "
        "This usually means the client echoed a previous tool call",
        cause=Cause.OUTPUT,
    ),
)
