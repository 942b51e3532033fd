"""What Haystack itself says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "Haystack"

_EMPTY = (
    "Update Haystack first: older releases lost pieces of streamed calls, and took the empty string of a call without "
    "arguments for broken JSON. If the error persists, record the stream with `capture` and paste it: it shows whether "
    "the server sent the whole arguments."
)

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Skipping malformed tool call due to invalid JSON.",
        Stage.PARSE,
        "The client dropped a call because the arguments that it assembled are not JSON; they follow `Arguments:`. If "
        "nothing or a single bracket follows, that is a piece of a streamed call, not what the model wrote.",
        _EMPTY,
        "https://github.com/deepset-ai/haystack/issues/8876",
    ),
    KnownError(
        "returned a malformed JSON string for tool call arguments. This tool call will be skipped.",
        Stage.PARSE,
        "The client dropped a call because its arguments are not JSON; they follow `Arguments:`. If nothing "
        "follows there, the call has no arguments and was sent with an empty string.",
        _EMPTY,
        "https://github.com/deepset-ai/haystack/issues/9408",
    ),
    KnownError(
        "Skipping malformed tool call; tool name: {name}",
        Stage.PARSE,
        "The client dropped a call because its arguments are not JSON.",
        "Look at the arguments: a cut end means that the token limit came first, so raise it; otherwise compare what "
        "the model wrote with the notation that the server's tool parser expects.",
        "haystack/components/generators/utils.py",
        example='Skipping malformed tool call; tool name: search, arguments: {"q": "a',
    ),
    KnownError(
        "The completion for index {index:int} has been truncated before reaching a natural stopping point",
        Stage.COMPLETE,
        "The token limit cut the answer.",
        "Raise `max_completion_tokens` (`max_tokens`), or ask for less; thinking counts as output, too.",
        "haystack/components/generators/utils.py",
        example="The completion for index 0 has been truncated before reaching a natural stopping point.",
        cause=Cause.OUTPUT,
        look=Look.SMALL_LIMIT,
    ),
)
