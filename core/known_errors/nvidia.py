"""What NVIDIA's API of hosted models says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError

MAKER = "NVIDIA"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Function '{function:word}': Not found for account '{account:word}'",
        Stage.REQUEST,
        "The model that the request names is not offered to this account: each model runs as a function, and the list "
        "of models shows more of them than an account may call.",
        "Name a model that the account can call, or ask for access to this one on its page.",
        "https://github.com/Alishahryar1/free-claude-code/issues/956",
        example="Function 'ab12': Not found for account 'cd34'",
        field="model",
    ),
)
