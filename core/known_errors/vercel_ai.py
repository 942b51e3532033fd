"""What Vercel's AI SDK says by itself."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "Vercel's AI SDK"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Model tried to call unavailable tool '{name}'.",
        Stage.CONTRACT,
        "The model called a tool that the program does not have.",
        "Declare the tool, or name the tools in the prompt as they are declared.",
        "https://github.com/vercel/ai/issues/1922",
        example="Model tried to call unavailable tool 'search'. Available tools: read, write.",
        field="tools",
        look=Look.UNDECLARED_TOOL,
    ),
    KnownError(
        "Tool results are missing for tool calls: {ids}",
        Stage.REQUEST,
        "A new turn was sent while calls have no result.",
        "Add the results, or the answer to a request for approval.",
        "https://ai-sdk.dev/docs/troubleshooting/missing-tool-results-error",
        example="Tool results are missing for tool calls: call_7, call_8",
        field="messages",
        cause=Cause.CLIENT,
        look=Look.OPEN_CALLS,
    ),
    KnownError(
        "Invalid input for tool {name:word}: Type validation failed: Value: {value}",
        Stage.CONTRACT,
        "The arguments of a call do not fit the tool's schema.",
        "Compare the value with the schema. Where a list or an object came as a text, the server's tool parser did "
        "not follow the schema: update it, or choose another parser.",
        "https://github.com/anomalyco/opencode/issues/1809",
        example='Invalid input for tool todo: Type validation failed: Value: {"todos":"[]"}.',
    ),
)
