"""What the model endpoints of Databricks say."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError

MAKER = "Databricks"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Model response did not respect the required format",
        Stage.PARSE,
        "What the model wrote could not be read as the calls or the form that the request asks for, and the endpoint "
        "answers with an error in place of it.",
        "Ask again with fewer or simpler tools, a lower temperature or another model; the output itself is not "
        "returned.",
        "https://github.com/aaif-goose/goose/issues/1574",
    ),
)
