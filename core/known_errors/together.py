"""What Together's API says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Together"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Unable to access non-serverless model {model:word}.",
        Stage.REQUEST,
        "Together has this model, but serves it only on an endpoint that an account rents for itself.",
        "Name a model that its list marks as serverless, or start an endpoint of this one on the page that the message "
        "links to. The rest of the request needs no change.",
        "https://github.com/truefoundry/models/pull/919",
        example="Unable to access non-serverless model vendor/m. Please visit https://api.together.ai/models/vendor/m "
        "to create and start a new dedicated endpoint for the model.",
        field="model",
        cause=Cause.MODEL_NAME,
    ),
)
