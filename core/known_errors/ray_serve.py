"""What Ray Serve says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Ray Serve"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Message: {words} (Request ID: {request}), Internal exception: {inner}, original exception:",
        Stage.COMPLETE,
        "Ray Serve passes on what failed in the replica that runs the model; the reason is what follows `Message:`.",
        "Look at the log of the replica for that request id (`logs/serve/replica_*` of the Ray session): its traceback "
        "shows whether the request or the server is to blame. If only later turns fail, send the history by halves.",
        "https://github.com/ray-project/ray/issues/60291",
        example="Message: 'list' object is not an iterator None (Request ID: 4cc82a4a), Internal exception: "
        "ray.llm.OpenAIHTTPException (Request ID: 4cc82a4a), original exception:",
        cause=Cause.UNCLEAR,
        is_general=True,
    ),
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
