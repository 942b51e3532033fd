"""What Groq's API says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError, Look

MAKER = "Groq"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
        Stage.PARSE,
        "The model wrote a call that the API could not read; `failed_generation` in the answer's body shows what it "
        "wrote, or says what was wrong with it.",
        "Ask again, with a lower temperature if it happens again; where `failed_generation` shows the call, it can "
        "often be read from there.",
        "https://github.com/groq/groq-typescript/issues/28",
    ),
    *(
        KnownError(
            says,
            Stage.PARSE,
            "The arguments that the model wrote for a call are not JSON, and the API answers with an error in place of "
            "the answer.",
            "Ask again, with a lower temperature if it happens again, and allow more tokens where the call ends early; "
            "`failed_generation` in the answer's body shows what it wrote.",
            "https://github.com/aaif-goose/goose/issues/4017",
        )
        for says in (
            "tool_use_failed: Failed to parse tool call arguments as JSON",
            "Failed to parse tool call arguments as JSON (code: tool_use_failed",
        )
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
    KnownError(
        "Tool choice is required, but model did not call a tool",
        Stage.CONTRACT,
        "`tool_choice` demands that a tool is used, and the model answered with text, so no call was lost: Groq checks "
        "the finished answer, and refuses it.",
        'Ask again; say in the prompt that the answer has to be given by a tool. Or send `tool_choice: "auto"` and '
        "accept text; it is in `failed_generation`.",
        "https://console.groq.com/docs/tool-use",
        field="tool_choice",
    ),
    KnownError(
        "Tool choice is none, but model called a tool",
        Stage.CONTRACT,
        'The request lets the model use no tool (`tool_choice: "none"`, or no `tools`), and the model wrote a call.',
        'Send `tools` with `tool_choice: "auto"` also in turns that need none, such as the one after the last result; '
        "or ask again. What the model wrote is in `failed_generation`.",
        "https://github.com/OpenHands/OpenHands/issues/11725",
        field="tool_choice",
    ),
    KnownError(
        "parameters for tool {name} did not match schema: errors: [{errors}]",
        Stage.CONTRACT,
        "The model's call does not fit the parameters that the request declares for that tool; the list says where.",
        "Ask again. If it happens again, describe the parameters, make optional (or nullable) what the model leaves "
        "out, or choose a model that follows schemas more closely. The call is in `failed_generation`.",
        "https://github.com/HolmesGPT/holmesgpt/issues/2217",
        example="Tool call validation failed: tool call validation failed: parameters for tool look_up did not match "
        "schema: errors: [missing properties: 'key']",
        field="tools",
    ),
    KnownError(
        "invalid JSON schema for tool {name}, {path:word}: {why}",
        Stage.REQUEST,
        "Groq checks the schema of each tool before it asks the model, and does not accept this one.",
        "Correct the schema at that place: `required` may list only names that `properties` has.",
        "https://github.com/usestrix/strix/issues/1088",
        example="invalid JSON schema for tool look_up, tools[2].function.parameters: 'required' present but "
        "'properties' is missing",
        field="{path}",
    ),
)
