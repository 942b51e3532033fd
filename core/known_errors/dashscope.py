"""What DashScope says, the API of Qwen."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError, Look

MAKER = "DashScope (Qwen)"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "The tool_choice parameter does not support being set to required or object in thinking mode",
        Stage.REQUEST,
        "A call is required while the model thinks.",
        "Send `tool_choice` as `auto`, or switch thinking off (`enable_thinking: false`).",
        "https://github.com/cloudwego/eino/issues/994",
        example="<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to "
        "required or object in thinking mode",
        field="tool_choice",
    ),
    KnownError(
        'messages with role "tool" must be a response to a preceeding message with "tool_calls".',
        Stage.REQUEST,
        "A tool result has no call before it.",
        "Keep the message that made the call, or drop the result.",
        "https://github.com/philschmid/mcp-openai-gemini-llama-example/pull/5",
        field="messages",
        look=Look.ORPHAN_RESULTS,
    ),
)
