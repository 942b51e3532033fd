"""What AutoGen says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "AutoGen"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "model_info is required when model name is not a valid OpenAI model",
        Stage.REQUEST,
        "The client does not know what this model is able to do, so nothing was sent.",
        "Give `model_info` with `function_calling`, `json_output`, `vision`, `structured_output` and `family`.",
        "https://github.com/microsoft/autogen/issues/6189",
        cause=Cause.CLIENT,
    ),
)
