"""What Unsloth says of chat templates when it loads a tokenizer, as users report it."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Unsloth"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "does not have a {% if add_generation_prompt %} for generation purposes",
        Stage.RENDER,
        "The chat template never opens the assistant's turn: Unsloth looks for a block for `add_generation_prompt` in "
        "it, and there is none.",
        "Give the tokenizer a template that has one (`get_chat_template` of Unsloth, or the template of the family's "
        "chat model); if its own template has one, update Unsloth, some releases of which broke it.",
        "https://github.com/unslothai/unsloth/issues/1284",
        example="RuntimeError: Unsloth: The tokenizer `a/b` does not have a {% if add_generation_prompt %} for "
        "generation purposes.",
        cause=Cause.TEMPLATE,
    ),
)
