"""What SGLang's gateway says when it cannot hand a request on; errors of its workers pass through as they are."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "SGLang's gateway (smg)"

_SOURCE = "smg 1.13.0, launched before vLLM 0.32"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "No worker available for model '{name:word}'",
        Stage.REQUEST,
        "None of the servers after the gateway serves a model with that name.",
        "Set `model` to one that the server serves (`/v1/models` lists them).",
        _SOURCE,
        example="No worker available for model 'gpt-4o'",
        cause=Cause.MODEL_NAME,
    ),
    KnownError(
        "All workers are unavailable (circuit breaker open or unhealthy)",
        Stage.COMPLETE,
        "The gateway runs, and each server that it forwards to failed its health check or several requests in a row.",
        "Check whether those servers run, and their logs; the gateway asks them again by itself once they answer.",
        _SOURCE,
        cause=Cause.SERVER,
    ),
)
