"""What OpenCode says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError

MAKER = "OpenCode"

_ENCODED_TWICE = (
    "Look at the call as the server returned it (record it with `capture`, and paste it): if the value is a string in "
    "the model's own text, too, describe the parameter with an example; if only the server's answer has it so, update "
    "the server, whose tool parser did not follow the schema."
)

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "reasoning `encrypted_content` was not issued to this caller",
        Stage.REQUEST,
        "The history brings back encrypted reasoning that another account, key or provider was given, and only its "
        "receiver may send it.",
        "Begin a new session, or send the history without its `reasoning` items: this is needed after each change of "
        "provider, key or account.",
        "https://github.com/anomalyco/opencode/issues/48864",
    ),
    KnownError(
        "tool was called with invalid arguments: {why}Invalid input: expected array, received string",
        Stage.CONTRACT,
        "A list that the tool needs arrived as a string: where the string is JSON, it was encoded once too often, by "
        "the model or by the server's tool parser.",
        _ENCODED_TWICE,
        "https://github.com/anomalyco/opencode/issues/8249",
        example='The ask tool was called with invalid arguments: [ { "expected": "array", "code": "invalid_type", '
        '"path": [ "topics" ], "message": "Invalid input: expected array, received string" } ].',
    ),
    KnownError(
        "tool was called with invalid arguments: {why}Invalid input: expected object, received string",
        Stage.CONTRACT,
        "An object that the tool needs arrived as a string: the model wrote its text alone, or, where the string is "
        "JSON, it was encoded once too often, by the model or by the server's tool parser.",
        _ENCODED_TWICE,
        "https://github.com/anomalyco/opencode/issues/19175",
        example='The ask tool was called with invalid arguments: [ { "expected": "object", "code": "invalid_type", '
        '"path": [ "topics", 0 ], "message": "Invalid input: expected object, received string" } ].',
    ),
    KnownError(
        "tool was called with invalid arguments: {why}",
        Stage.CONTRACT,
        "The arguments that the model wrote do not match the tool's schema; in OpenCode the reasons follow, each "
        "with its path.",
        "Check the paths: describe a required parameter that is missing better, or make it optional; weaker models "
        "leave out what seems unnecessary to them.",
        "https://github.com/anomalyco/opencode/issues/10824",
        example='The bash tool was called with invalid arguments: [ { "path": [ "description" ] } ].',
    ),
)
