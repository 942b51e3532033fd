"""What the editor Zed itself says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Zed"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        'Schema cannot be made compatible because it contains "{key:word}"',
        Stage.REQUEST,
        "Models of Google take only a part of JSON Schema, and Zed rewrites the schemas of tools for them; it cannot "
        "do that with `if`, `then`, `else` and `$ref`.",
        "Find the tool, most often of an MCP server, whose parameters have this key; switch it off, or write its "
        "schema without the key. Models that take all of JSON Schema get the tool unchanged.",
        "https://github.com/zed-industries/zed/issues/42584",
        example='Schema cannot be made compatible because it contains "if"',
        field="tools",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "Failed to receive tool input: missing field {name}",
        Stage.CONTRACT,
        "The call that the model wrote lacks a parameter that Zed's tool requires.",
        "Ask again, or use a model that keeps to the tool's schema; if it happens with each call, compare the call in "
        "the thread with the tool's parameters, and update Zed.",
        "https://github.com/zed-industries/zed/issues/56408",
        example="Failed to receive tool input: missing field `path`",
    ),
)
