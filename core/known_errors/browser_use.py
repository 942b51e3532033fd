"""What browser-use says of answers that it cannot read."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError

MAKER = "browser-use"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Result failed {count:int}/{most:int} times: Could not parse response",
        Stage.CONTRACT,
        "The agent found no action in the model's answer, in the form that it asks for; the answer is not shown.",
        "Look at the answer in the server's log, or record it with `capture`. Small models rarely keep to a form this "
        "large: use a stronger one, enforce the schema on the server, choose another `tool_calling_method`, and give "
        "Ollama a `num_ctx` that holds the whole prompt.",
        "https://github.com/browser-use/browser-use/issues/442",
        example="Result failed 1/3 times: Could not parse response.",
    ),
)
