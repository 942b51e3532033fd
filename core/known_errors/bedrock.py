"""What Amazon Bedrock says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError

MAKER = "Amazon Bedrock"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "The model returned the following errors: Invalid parameter combination.",
        Stage.REQUEST,
        "Each field may be right, but this model does not take some of them together, and Bedrock does not say which.",
        "Take tools, system prompt and sampling fields out, one after the other, until it is answered; not every model "
        "of Bedrock takes tools together with the rest through Converse, so try one that is listed for tool use.",
        "https://github.com/langchain-ai/langchain-aws/issues/566",
        example="The model returned the following errors: Invalid parameter combination. Please check and try again.",
    ),
)
