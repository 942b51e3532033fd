"""What Cohere's API says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError

MAKER = "Cohere"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "cannot specify both message and tool_results in multistep mode",
        Stage.REQUEST,
        "The request sends the results of calls and a new message of the user at once; Cohere's first API (`/v1/chat`) "
        "takes only one of them per step.",
        "Send the results with an empty `message`, or set `force_single_step: true`; a client for the second API "
        "(`/v2/chat`) sends results as messages with the role `tool` instead.",
        "https://github.com/cohere-ai/cohere-python/issues/525",
        example="invalid request: cannot specify both message and tool_results in multistep mode",
        field="tool_results",
    ),
    KnownError(
        "message must be at least 1 token long or tool results must be specified",
        Stage.REQUEST,
        "The last message is empty, and there are no results of calls in its place.",
        "Send a text as the last message of the user: some clients put all of the conversation into the history, or "
        "end it with a message of another role, and leave `message` empty.",
        "https://github.com/kwaroran/Risuai/issues/504",
        example="invalid request: message must be at least 1 token long or tool results must be specified.",
        field="message",
    ),
)
