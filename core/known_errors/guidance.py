"""What the library guidance says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "guidance"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Chat template {name} was unable to be loaded directly into guidance",
        Stage.RENDER,
        "The library has one class for each chat template that it knows, and recognizes a template by its complete "
        "text. It does not know this one and writes ChatML instead, which the model may not have learned.",
        "Give `chat_template` a class (a subclass of `guidance.chat.ChatTemplate` that writes the beginning and end of "
        "each role as the model's template does), not a name.",
        "https://github.com/guidance-ai/guidance/issues/976",
        example="Chat template ChatML was unable to be loaded directly into guidance.",
        cause=Cause.SETTING,
    ),
)
