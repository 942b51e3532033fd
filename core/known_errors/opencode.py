"""What OpenCode says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError

MAKER = "OpenCode"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "tool was called with invalid arguments: {why}",
        Stage.CONTRACT,
        "The arguments that the model wrote do not match the tool's schema; in OpenCode the reasons follow, each "
        "with its path.",
        "Check the paths: describe a required parameter that is missing better, or make it optional; weaker models "
        "leave out what seems unnecessary to them.",
        "https://github.com/anomalyco/opencode/issues/10824",
        example='The bash tool was called with invalid arguments: [ { "path": [ "description" ] } ].',
    ),
)
