"""What Ray Serve says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Ray Serve"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Request dropped due to backpressure (num_queued_requests={queued:int}, max_queued_requests={most:int}).",
        Stage.COMPLETE,
        "More requests wait for a replica than the deployment lets wait, so this one was refused without being run.",
        "Send fewer at a time, or try again later. In the deployment raise `max_queued_requests`, or add replicas.",
        "https://docs.ray.io/en/latest/serve/configure-serve-deployment.html",
        example="Request dropped due to backpressure (num_queued_requests=4, max_queued_requests=4).",
        cause=Cause.BUSY,
    ),
)
