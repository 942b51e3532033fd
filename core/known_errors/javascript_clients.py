"""What clients in JavaScript say where an answer is not built as they expect."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError

MAKER = "JavaScript clients"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Cannot read properties of undefined (reading 'finish_reason')",
        Stage.PARSE,
        "The client takes `choices[0]` of every event, and one came that has no choices, such as the last one "
        "with the usage, or an error.",
        "Skip events without choices, in the client; or leave `stream_options.include_usage` out.",
        "https://github.com/Mintplex-Labs/anything-llm/issues/5112",
    ),
)
