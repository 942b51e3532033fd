"""What Spring AI says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError

MAKER = "Spring AI"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "No ToolCallback found for tool name: {name}",
        Stage.CONTRACT,
        "The model called a tool that this call of the `ChatClient` does not have: it is not registered for it, or the "
        "model made the name up or altered it.",
        "Compare the name with the tools of the request. If it is one of yours, give the tool to the very client that "
        "runs the call (`tools`, `toolCallbacks`, or a bean whose name is in `toolNames`); if it is the name of a "
        "skill or of an agent, describe in the prompt how that is called.",
        "https://github.com/spring-projects/spring-ai/issues/4734",
        example="java.lang.IllegalStateException: No ToolCallback found for tool name: finish",
    ),
)
