"""What Groq's API says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError, Look

MAKER = "Groq"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
        Stage.PARSE,
        "The model wrote a call that the API could not read; what it wrote is in `failed_generation`.",
        (
            "Ask again, with a lower temperature if it happens again; the call can often be read from "
            "`failed_generation`."
        ),
        "https://github.com/groq/groq-typescript/issues/28",
    ),
    KnownError(
        "attempted to call tool '{name}' which was not in request.tools",
        Stage.CONTRACT,
        "The model called a tool that the request does not declare.",
        "Declare the tool, name the tools in the prompt as they are declared, or ask again.",
        "https://github.com/mastra-ai/mastra/issues/9688",
        example="Tool call validation failed: tool call validation failed: attempted to call tool 'search' which was "
        "not in request.tools",
        field="tools",
        look=Look.UNDECLARED_TOOL,
    ),
    KnownError(
        "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details.",
        Stage.PARSE,
        "JSON was requested, but the model did not write JSON; its output is in `failed_generation`.",
        "Ask again, send a schema, or allow more tokens if the text ends early.",
        "https://github.com/thepersonalaicompany/amurex-backend/issues/38",
    ),
    KnownError(
        "for 'role:tool' the following must be satisfied[('messages.{index:int}.tool_call_id'",
        Stage.REQUEST,
        "A tool message lacks the id of its call.",
        "Send `tool_call_id` with every tool message; a proxy may remove it.",
        "https://github.com/hackclub/ai/issues/22",
        example="'messages.2' : for 'role:tool' the following must be satisfied[('messages.2.tool_call_id' : property "
        "'tool_call_id' is missing)]",
        field="messages[{index}]",
    ),
    KnownError(
        "for 'role:assistant' the following must be satisfied[('messages.{index:int}.content' : value must be a "
        "string)]",
        Stage.REQUEST,
        "The content of an earlier answer, such as one with calls, is null, absent or a list, but this API accepts "
        "only a string.",
        'Send `"content": ""` with messages that contain only calls.',
        "https://github.com/tidyverse/ellmer/issues/162",
        example="'messages.4' : for 'role:assistant' the following must be satisfied[('messages.4.content' : value "
        "must be a string)]",
        field="messages[{index}].content",
        look=Look.CONTENT_ABSENT,
    ),
)
