"""What xAI's API says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError, Look

MAKER = "xAI"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "The arguments to a tool_call with ID '{id:word}' are not a valid JSON string.",
        Stage.REQUEST,
        "The arguments of a call in the history are empty or broken.",
        "Send back valid JSON as the arguments of every call; a call without arguments has `{}`.",
        "https://github.com/spiceai/spiceai/issues/4734",
        example="The arguments to a tool_call with ID 'call_7' are not a valid JSON string. Parsing error: EOF",
        field="messages",
        look=Look.BROKEN_ARGUMENTS,
    ),
)
