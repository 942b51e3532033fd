"""What NVIDIA Dynamo says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "NVIDIA Dynamo"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Failed to generate completions",
        Stage.COMPLETE,
        "The frontend failed on the request and does not say at what. Older releases answer so, too, where the chat "
        "template refuses the messages, and leave its words out.",
        "Check the log of Dynamo's frontend: it has the reason. If there is none, render the messages with the model's "
        "template (`render REQUEST --chat-template FILE`), or update Dynamo: newer releases answer 400 with the "
        "template's own words.",
        "https://github.com/ai-dynamo/dynamo/pull/12404",
        cause=Cause.UNCLEAR,
        look=Look.NO_USER,
    ),
)
