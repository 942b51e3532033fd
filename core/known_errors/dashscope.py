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
    KnownError(
        "Role must be user or assistant and Content length must be greater than 0",
        Stage.REQUEST,
        "A message has a role that DashScope's own API does not accept at its place, or an empty content.",
        "Look for an empty `content` (a turn that was cut, or one that has only calls) and take it out or fill it; "
        "keep `system` for the first message. Results of tools need a model and an address that know the role `tool` "
        "(`/compatible-mode/v1`).",
        "https://github.com/ikechan8370/chatgpt-plugin/issues/696",
        field="messages",
        look=Look.EMPTY_TEXT,
    ),
    KnownError(
        "Tool names are not allowed to be [{name:word}]",
        Stage.REQUEST,
        "A tool of the request has a name that DashScope keeps for itself.",
        "Rename the tool, for instance with a prefix, and map the name back when a call comes.",
        "https://github.com/ikechan8370/chatgpt-plugin/issues/696",
        example="Tool names are not allowed to be [search]",
        field="tools",
    ),
)
