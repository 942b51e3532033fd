"""What xAI's API says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError, Look

MAKER = "xAI"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "The arguments to a tool_call with ID '{id:word}' are not a valid JSON string.",
        Stage.REQUEST,
        "The arguments of a call in the history are empty or broken.",
        "Send back valid JSON as the arguments of every call; a call without arguments has `{}`.",
        "https://github.com/spiceai/spiceai/issues/4734",
        example="The arguments to a tool_call with ID 'call_7' are not a valid JSON string. Parsing error: EOF",
        field="messages",
        look=Look.BROKEN_ARGUMENTS,
    ),
    KnownError(
        "Each message must have at least one content element.",
        Stage.REQUEST,
        "A message has no content: an empty string, an empty list, or none at all.",
        "Leave out the message that is empty, such as a system prompt or an expression that gave nothing, or write a "
        "word into it; the API takes no assistant message without content either, unless it has calls.",
        "https://github.com/n8n-io/n8n/issues/14797",
        field="messages",
        look=Look.EMPTY_TEXT,
    ),
    KnownError(
        "data did not match any variant of untagged enum ModelInput",
        Stage.REQUEST,
        "An entry of `input` has none of the forms that this API reads; the error does not say which entry. Items of "
        'type `reasoning` that are sent back with `"content": null` are known to cause it.',
        "Leave out fields that are `null` in the items of `input`, and items of types that only another vendor has; "
        "remove one item at a time to find which it is.",
        "https://github.com/Wei-Shaw/sub2api/issues/4237",
        field="input",
    ),
)
