"""What Anthropic's Python client itself says. Read in release 2.11.0."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Anthropic's Python client"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Unable to parse tool parameter JSON from model.",
        Stage.PARSE,
        "The streamed pieces of a tool's input do not make JSON.",
        "Ask again; if the text ends early, raise `max_tokens`.",
        "anthropic/lib/streaming/_beta_messages.py: accumulate_event",
        example='Unable to parse tool parameter JSON from model. Please retry your request. Error: EOF JSON: {"a":',
    ),
    KnownError(
        'Unexpected event order, got {kind:word} before "message_start"',
        Stage.PARSE,
        "The stream does not begin like a stream of the Messages API, for example because a proxy is in between.",
        "Record what comes over the wire (`capture`), and check what is in between.",
        "anthropic/lib/streaming/_messages.py: accumulate_event",
        example='Unexpected event order, got content_block_delta before "message_start"',
        cause=Cause.SERVER,
        tried="anthropic 2.11.0",
    ),
)
