"""What DeepSeek's API says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError, Look

MAKER = "DeepSeek"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        Stage.REQUEST,
        "Thinking is on, and an assistant message was sent back without its reasoning.",
        "Keep `reasoning_content` of each answer and send it back with the message.",
        "https://github.com/mnfst/modelparams.dev/issues/29",
        field="messages",
        look=Look.REASONING_ABSENT,
    ),
    KnownError(
        "Missing `reasoning_content` field in the assistant message at message index {index:int}",
        Stage.REQUEST,
        "Thinking is on, and the message at that index was sent back without its reasoning.",
        "Keep `reasoning_content` of each answer and send it back with the message.",
        "https://github.com/anomalyco/opencode/issues/5027",
        example="Missing `reasoning_content` field in the assistant message at message index 5.",
        field="messages[{index}].reasoning_content",
        look=Look.REASONING_ABSENT,
    ),
    KnownError(
        "Thinking mode does not support this tool_choice",
        Stage.REQUEST,
        "A call is required while the model thinks, which it does unless switched off.",
        "Send `tool_choice` as `auto`, or switch thinking off.",
        "https://github.com/deepseek-ai/DeepSeek-V3/issues/1376",
        field="tool_choice",
    ),
)
