"""What Cerebras' API says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError

MAKER = "Cerebras"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Tools with mixed values for 'strict' are not allowed.",
        Stage.REQUEST,
        "Some tools of the request have `strict: true`, and others `false` or nothing.",
        "Give all tools the same `strict`, or leave it out everywhere; a client that adds its own tools, or those "
        "of MCP servers, mixes them.",
        "https://github.com/RooCodeInc/Roo-Code/issues/10334",
        field="tools",
    ),
    KnownError(
        "Tools with strict=True are not supported by this model",
        Stage.REQUEST,
        "This model does not support tools whose arguments are enforced.",
        "Leave `strict` out of the tools, or choose a model that supports it.",
        "https://github.com/livekit/agents/pull/3134",
        field="tools",
    ),
)
