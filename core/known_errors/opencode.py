"""What OpenCode says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError

MAKER = "OpenCode"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "reasoning `encrypted_content` was not issued to this caller",
        Stage.REQUEST,
        "The history brings back encrypted reasoning that another account, key or provider was given, and only its "
        "receiver may send it.",
        "Begin a new session, or send the history without its `reasoning` items: this is needed after each change of "
        "provider, key or account.",
        "https://github.com/anomalyco/opencode/issues/48864",
    ),
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
