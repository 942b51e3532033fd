"""What AnythingLLM says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "AnythingLLM"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Invalid function tool call: Missing name or arguments in function call",
        Stage.CONTRACT,
        "The agent asks this model in a prompt to write its call as JSON, and the answer had no tool name or no "
        "arguments: it was prose, or JSON of another shape. The agent goes on as if there were no call.",
        "Use a model and provider whose tool calls AnythingLLM takes from the API itself, or a larger model; look at "
        "the answer in the server's log to see what the model wrote.",
        "https://github.com/Mintplex-Labs/anything-llm/issues/1657",
        cause=Cause.OUTPUT,
    ),
)
