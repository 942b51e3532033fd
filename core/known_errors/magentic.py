"""What magentic says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "magentic"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Unknown tool call: {call}",
        Stage.CONTRACT,
        "The call names a tool that the program did not declare; the error shows the call. The model made the name up "
        "or changed it, as models do where the tools are only described in a prompt.",
        "Compare the name in the error with the declared one. Ask a server that returns `tool_calls` itself and keeps "
        "to the declared names by a grammar, or use a model that is trained for tools.",
        "https://github.com/jackmpcollins/magentic/issues/207",
        example='Unknown tool call: {"id":"a","function":{"arguments":"{}","name":"return_ hero"},"type":"function"}',
        cause=Cause.OUTPUT,
    ),
)
