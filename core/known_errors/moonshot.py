"""What Moonshot's API says, of the Kimi models."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError, Look

MAKER = "Moonshot (Kimi)"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index {index:int}",
        Stage.REQUEST,
        "Thinking is on, and the message at that index, which calls a tool, was sent back without its reasoning.",
        "Keep `reasoning_content` of each answer and send it back with the message.",
        "https://github.com/continuedev/continue/issues/11600",
        example="thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
        field="messages[{index}].reasoning_content",
        look=Look.REASONING_ABSENT,
    ),
    KnownError(
        "cannot specify both 'thinking' and 'reasoning_effort'",
        Stage.REQUEST,
        "Two switches for thinking were sent, but only one is allowed.",
        "Leave one of `thinking` and `reasoning_effort` out.",
        "https://github.com/HKUDS/nanobot/issues/3939",
        field="reasoning_effort",
    ),
    KnownError(
        "when using anyOf, type should be defined in anyOf items instead of the parent schema",
        Stage.REQUEST,
        "A schema of the request has `type` beside `anyOf`, and this API wants it within each alternative.",
        "Move `type` from beside `anyOf` into every entry of the list, at the path that the message names; leave it "
        "out outside. Clients that pass on schemas of MCP servers have to convert them.",
        "https://github.com/MoonshotAI/kimi-cli/issues/2531",
    ),
)
