"""What DeepSeek's API says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "DeepSeek"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "ThinkingMode: {mode:word}, invalid message without {fields:word} `{message}` after last user message",
        Stage.RENDER,
        "DeepSeek's own code writes the prompt (vLLM and SGLang contain it). With thinking on, each assistant message "
        "after the last user message must have its reasoning or a call, and one has neither.",
        "Send `reasoning_content` of each answer back with the message, or switch thinking off in "
        "`chat_template_kwargs`.",
        "vllm/tokenizers/deepseek_v32_encoding.py: render_message",
        example="ThinkingMode: thinking, invalid message without reasoning/tool_calls `{'role': 'assistant'}` after "
        "last "
        "user message",
        field="messages",
        cause=Cause.REQUEST,
        look=Look.REASONING_ABSENT,
    ),
    KnownError(
        "No tool calls but found tool output",
        Stage.RENDER,
        "DeepSeek's own code writes the prompt (vLLM and SGLang contain it), and found a tool result with no call "
        "before it.",
        "Send the message with the calls right before its results; when history is cut, cut both together.",
        "vllm/tokenizers/deepseek_v32_encoding.py: render_message",
        field="messages",
        cause=Cause.REQUEST,
        look=Look.ORPHAN_RESULTS,
    ),
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
